// Magic files: parsing, descriptions of bytes, and a user's magic file in the pipeline.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { ConfigError } from '../../../protocols/errors.js';
import { createEssenceContext } from '../../../servers/essence/index.js';
import { parseMagic } from '../../../servers/essence/recognition/magic-file.js';
import { summarizeDocument } from '../../../servers/essence/summarize.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { IDENTITY, inputOf } from './helpers.js';
import { latin1 } from './unnest-fixtures.js';

/** Describes bytes by the lines of a magic file; undefined if none matches. */
const describe = (magic: string, bytes: string) => parseMagic(magic, 'magic').describe(latin1(bytes));

t.test('E-16 magic: numbers have types, byte orders, masks and tests', async (t) => {
  t.equal(describe('0 belong 0xcafebabe Java class', '\xca\xfe\xba\xbe'), 'Java class');
  t.equal(describe('0\tlelong\t0xcafebabe\tswapped', '\xbe\xba\xfe\xca'), 'swapped');
  t.equal(describe('2 beshort 0407 old executable', '..\x01\x07'), 'old executable', 'octal');
  t.equal(describe('0 leshort 0x0107 x', '\x07\x01'), 'x');
  t.equal(describe('0 byte <0 negative', '\xff'), 'negative');
  t.equal(describe('0 ubyte >200 large', '\xff'), 'large');
  t.equal(describe('0 byte&0x0f 5 five', '\x75'), 'five');
  t.equal(describe('0 byte &0x06 both bits', '\x07'), 'both bits');
  t.equal(describe('0 byte &0x06 both bits', '\x04'), undefined);
  t.equal(describe('0 byte ^0x02 a bit missing', '\x04'), 'a bit missing');
  t.equal(describe('0 byte !7 not seven', '\x08'), 'not seven');
  t.equal(describe('0 short x %d', '\x01\x02'), '513');
  t.equal(describe('4 belong 1 beyond the end', '\0\0\0\0\0\0\0'), undefined);
});

t.test('E-16 magic: strings have escapes, blanks and comparisons', async (t) => {
  t.equal(describe('0 string MZ\\ \\x00\\101 odd', 'MZ \0A'), 'odd');
  t.equal(describe('0 string =abc same', 'abcd'), 'same');
  t.equal(describe('0 string >\\0 named %s', 'kit\nmore'), 'named kit');
  t.equal(describe('0 string !abc other', 'abc'), undefined);
  t.equal(describe('0 string <b before', 'abc'), 'before');
});

t.test('E-16 magic: continuation lines extend the message of the first matching entry', async (t) => {
  const magic = [
    '# a comment',
    '0 string LASF LIDAR point data',
    '!:mime application/x-las',
    '>4 byte 1 \\b, version %d',
    '>>5 byte >0 with %x notes',
    '>4 byte 2 \\b, new',
    '>>5 byte >0 never',
    '0 string LA anything else',
  ].join('\n');
  t.equal(describe(magic, 'LASF\x01\x0b'), 'LIDAR point data, version 1 with b notes');
  t.equal(describe(magic, 'LASF\x03\x0b'), 'LIDAR point data');
  t.equal(describe(magic, 'LAX'), 'anything else');
  t.equal(describe(magic, 'none'), undefined);
  t.equal(describe('', 'none'), undefined);
});

t.test('E-16 magic: errors name file and line', async (t) => {
  const malformed: readonly (readonly [line: string, message: RegExp])[] = [
    ['0 string', /offset, type, test and message/],
    ['(4.l) byte 1 x', /the offset \(4\.l\) is not a number/],
    ['0 regex a.b x', /the type regex is not known/],
    ['0 byte&9z 1 x', /the mask 9z/],
    ['0 byte 1z x', /1z is not a number/],
    ['>>0 byte 1 x', /no line of level 1 above it/],
  ];
  for (const [line, message] of malformed) {
    try {
      parseMagic(`0 byte 1 fine\n${line}`, '/lib/magic');
      t.fail(line);
    } catch (error) {
      t.ok(error instanceof ConfigError);
      t.match(String(error), message);
      t.match(String(error), '/lib/magic:2');
    }
  }
});

t.test("E-16, G-21 a user's magic and bycontent.cf define a new type", async (t) => {
  const libDirectory = await temporaryDirectory(t);
  await writeFile(join(libDirectory, 'magic'), '0 string LASF LIDAR point data\n');
  await writeFile(join(libDirectory, 'bycontent.cf'), 'Lidar LIDAR\nText text\n');
  const context = await createEssenceContext({ ...IDENTITY, libDirectory });
  const typeOf = async (body: string) =>
    (await summarizeDocument(inputOf('ftp://a.test/it', body), context)).type;
  t.equal(await typeOf('LASF\x01'), 'Lidar');
  t.equal(await typeOf('some words\n'), 'Text', 'the built-in tests follow those of the file');
});
