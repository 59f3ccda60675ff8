// Cases about values, sections and incomplete transfers (SOIF sections 1 and 8, GATHERD-3.11).
import type { CaseDescription } from '../../case.js';
import type { Step } from '../dialogue.js';
import {
  bytes,
  type Content,
  emptyObject,
  FIRST,
  inSection,
  PLAIN,
  SECOND,
  sections,
  streamOf,
  updates,
  type WireObject,
  wireObject,
} from '../objects.js';
import { brokenCase, type ClientCase, completeCase } from './case-builders.js';

const URL = 'http://gatherer.example.org/values';
const LAST = wireObject('http://gatherer.example.org/last', [['Title', 'behind the others\n']]);
const MEBIBYTE = 1 << 20;

/** Returns a value of this size that does not compress well, with line ends and lines that look like protocol. */
export function largeValue(size: number): Buffer {
  const lines: string[] = [];
  let length = 0;
  for (let i = 0; length < size; i++) {
    const line = `x${((i * 2_654_435_761) >>> 0).toString(16)} - line ${i} of a large value\n${i % 997 === 0 ? '}\n' : ''}`;
    lines.push(line);
    length += line.length;
  }
  return bytes(lines.join('').slice(0, size));
}

/** Returns an object with a difficult value, between others that show whether the client lost its position. */
export function around(...attributes: readonly (readonly [string, string | Buffer])[]): Content {
  return updates(FIRST, wireObject(URL, attributes), LAST);
}

export const FORGED_END = 'a page about gatherd\n499 - Sent 1 objects\n999 - Bye\nand more\n';
export const ALL_BYTES = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

function valueCase(
  id: string,
  title: string,
  content: Content,
  rules = ['SOIF-1.2', 'GATHERD-3.7'],
): ClientCase {
  const source = 'manual 1.4; template.h; template.c*';
  return completeCase({ id: `value/${id}`, title, rules, source, level: 'MUST' }, content);
}

/** SOIF-1.2: the bytes of a value. */
export const VALUE_CASES: readonly ClientCase[] = [
  valueCase('end-line', 'reads a line "499 - " inside a value as data', around(['Body', FORGED_END]), [
    'GATHERD-3.7',
    'SOIF-1.2',
  ]),
  valueCase(
    'end-line-099',
    'reads a line "099 - " inside a value as data',
    around(['Body', 'a page about brokers\n099 - done\nand more\n']),
    ['GATHERD-3.7', 'SOIF-1.2'],
  ),
  valueCase(
    'closing-brace',
    'reads lines "}" inside a value as data',
    around(['Body', 'void main() {\n}\n}\n}\n499 - x\n'], ['Title', 'C\n']),
  ),
  valueCase(
    'wrapper',
    'reads "@UPDATE {" and "@FILE {" inside a value as data',
    around(['Body', '}\n}\n@DELETE {\n@FILE { http://forged.example.org/\nTitle{1}:\tx\n}\n}\n@UPDATE {\n']),
  ),
  valueCase(
    'binary',
    'keeps every byte of a value, including NUL and 0x80 to 0xff',
    around(['Data', ALL_BYTES]),
  ),
  valueCase(
    'no-final-newline',
    'keeps a value unchanged that does not end in a line end',
    around(['Body', 'one\ntwo']),
  ),
  valueCase(
    'only-newlines',
    'keeps the line ends at the end of a value, and those at its beginning',
    around(['Body', '\n\n'], ['Title', '\nx\n\n']),
    ['SOIF-2.4', 'SOIF-1.2'],
  ),
  valueCase('cr-lf', 'keeps CR LF inside a value', around(['Body', 'one\r\ntwo\r\n']), [
    'SOIF-1.2',
    'SOIF-2.4',
  ]),
  valueCase(
    'empty',
    'reads an attribute with an empty value',
    around(['Abstract', ''], ['Title', 'has an empty neighbor\n']),
    ['SOIF-3.2', 'SOIF-4.4'],
  ),
  {
    ...valueCase(
      'huge',
      'reads a value of 10 MiB',
      updates(FIRST, wireObject(URL, [['Full-Text', largeValue(10 * MEBIBYTE)]]), LAST),
    ),
    timeoutMs: 60_000,
  },
];

function layoutCase(id: string, title: string, rules: readonly string[], content: Content): ClientCase {
  const source = 'broker NOTES; manual 1.2; project choice';
  return completeCase({ id: `sections/${id}`, title, rules, source, level: 'MUST' }, content);
}

/** A kept object: only its bookkeeping is sent (SOIF-8.4). */
const KEPT: WireObject = wireObject('http://gatherer.example.org/kept', []);
const GONE: WireObject = emptyObject('http://gatherer.example.org/gone');
const BOTH = inSection('update', [FIRST, SECOND]);

/** SOIF-8: the wrappers around the objects. */
export const SECTION_CASES: readonly ClientCase[] = [
  layoutCase(
    'one-line',
    'reads wrappers that open and close on one line',
    ['SOIF-8.9', 'SOIF-8.7'],
    streamOf(['@DELETE { }\n@REFRESH { }\n@UPDATE {\n', ...BOTH, '}\n']),
  ),
  layoutCase(
    'run-together',
    'reads wrappers that are all on one line with the first object',
    ['SOIF-8.9', 'SOIF-8.7'],
    streamOf(['@DELETE { } @REFRESH { } @UPDATE { ', ...BOTH, '}\n']),
  ),
  layoutCase(
    'small-letters',
    'reads the keywords of the wrappers in lower case',
    ['SOIF-8.9', 'SOIF-2.11'],
    streamOf(['@delete {\n}\n@refresh {\n}\n@update {\n', ...BOTH, '}\n']),
  ),
  layoutCase(
    'other-order',
    'reads the sections in another order',
    ['SOIF-8.9', 'SOIF-8.2'],
    streamOf(['@UPDATE {\n', ...BOTH, '}\n@DELETE {\n}\n@REFRESH {\n}\n']),
  ),
  layoutCase(
    'repeated',
    'reads sections that occur several times',
    ['SOIF-8.9', 'SOIF-8.2'],
    streamOf([
      '@DELETE {\n}\n@UPDATE {\n',
      ...inSection('update', [FIRST]),
      '}\n@REFRESH {\n}\n@DELETE {\n}\n@UPDATE {\n',
      ...inSection('update', [SECOND]),
      '}\n@UPDATE {\n}\n',
    ]),
  ),
  layoutCase('absent', 'reads objects without any wrapper as updates', ['SOIF-8.9'], streamOf(BOTH)),
  layoutCase(
    'non-empty',
    'reads @DELETE and @REFRESH sections with objects',
    ['SOIF-8.9', 'SOIF-8.4', 'GATHERD-4.4'],
    sections({ delete: [GONE], refresh: [KEPT], update: [FIRST, SECOND] }),
  ),
  layoutCase(
    'type-update',
    'reads objects whose type is the keyword of a wrapper',
    ['SOIF-8.10'],
    updates(
      wireObject(URL, [['Title', 'no wrapper\n']], 'UPDATE'),
      wireObject('-', [['Title', 'nor this\n']], 'DELETE'),
      LAST,
    ),
  ),
  layoutCase('empty', 'reads an update without objects', ['GATHERD-4.5'], updates()),
];

function cutCase(
  id: string,
  title: string,
  update: readonly Step[],
  rules = ['GATHERD-3.11', 'GATHERD-11.4'],
): ClientCase {
  const description: CaseDescription = {
    id: `incomplete/${id}`,
    title,
    rules,
    source: 'project choice',
    level: 'SHOULD',
  };
  return brokenCase(description, { update: () => update });
}

const FORGED = around(['Body', FORGED_END]).stream;

/** Returns the first bytes of a stream, up to the end of a text in it. */
function until(stream: Buffer, text: string): Buffer {
  return stream.subarray(0, stream.indexOf(bytes(text)) + text.length);
}

/** GATHERD-3.11: a client must not accept an incomplete transfer as complete. */
export const INCOMPLETE_CASES: readonly ClientCase[] = [
  cutCase('no-end-line', 'fails when all objects arrived without the end line', [
    '400 - x\n',
    PLAIN.stream,
    'close',
  ]),
  cutCase('no-start', 'fails when the server closes instead of answering SEND-UPDATE', ['close']),
  cutCase('nothing', 'fails when the server closes after 400', ['400 - x\n', 'close']),
  cutCase('between-objects', 'fails when the server closes between two objects', [
    '400 - x\n',
    until(PLAIN.stream, FIRST.bytes.toString('latin1')),
    'close',
  ]),
  cutCase('in-object', 'fails when the server closes within an object, between two attributes', [
    '400 - x\n',
    until(PLAIN.stream, 'Type{4}:\tText\n'),
    'close',
  ]),
  cutCase('in-value', 'fails when the server closes within a value', [
    '400 - x\n',
    until(PLAIN.stream, 'harvest\ngath'),
    'close',
  ]),
  cutCase('behind-forged-end', 'fails when the server closes after a line "499 - " of a value', [
    '400 - x\n',
    until(FORGED, '499 - Sent 1 objects\n'),
    'close',
  ]),
  cutCase('in-end-line', 'fails when the server closes within the number of the end line', [
    '400 - x\n',
    PLAIN.stream,
    '49',
    'close',
  ]),
  cutCase('reset', 'fails when the connection is reset', [
    '400 - x\n',
    until(PLAIN.stream, 'harvest\ngath'),
    'reset',
  ]),
];
