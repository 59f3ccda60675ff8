// Tests the rules of soif.md that no other test covers, and that every rule has a test.
import { readdir, readFile } from 'node:fs/promises';
import t from 'tap';
import { ProtocolError } from '../../../protocols/errors.js';
import {
  DEFAULT_TYPE,
  decodeAttributes,
  decodeSoif,
  decodeText,
  embedSoif,
  encodeAttributes,
  encodeSoif,
  encodeVerbatim,
  hrefOfUrl,
  identityOf,
  isSameObject,
  isValid,
  problemOf,
  SECTION_CLOSE,
  SECTION_OPEN,
  SoifObject,
  sortAttributes,
  textOfUrl,
  timesOf,
  truncateKeywords,
  urlFields,
  urlOfText,
  withoutBinary,
} from '../../../protocols/soif/index.js';
import { assemble } from '../../../protocols/soif/object.js';
import { MONTH, WEEK, YEAR } from '../../../protocols/time.js';
import { bytes, itemLines, sectionLines } from './item-lines.js';

const text = (value: Uint8Array | undefined): string => Buffer.from(value ?? bytes('')).toString('latin1');
const names = (object: SoifObject): string[] => object.attributes.map(({ name }) => name);
const fileOf = (...attributes: [string, string | Uint8Array][]): SoifObject =>
  SoifObject.of('FILE', 'u', attributes);
/** The items and errors of strict mode. */
const strictLines = (wire: string): string[] => itemLines([bytes(wire)], { mode: 'strict' });

t.test('SOIF-1.1: an object is a type, one URL and attributes in order', async (t) => {
  const object = decodeSoif(bytes('@NOTE { http://a/\nB{1}:\t2\nA{1}:\t1\n}\n'));
  t.strictSame([object.type, object.url], ['NOTE', 'http://a/']);
  t.strictSame(
    object.attributes.map(({ name, value }) => `${name}=${text(value)}`),
    ['B=2', 'A=1'],
  );
});

t.test('SOIF-1.4: values are bytes; text is decoded on demand', async (t) => {
  const object = decodeSoif(bytes('@FILE { u\nA{3}:\t\xff\0\xe9\n}\n'));
  t.strictSame([...(object.get('A') ?? [])], [0xff, 0x00, 0xe9]);
  t.equal(object.text('A'), 'ÿ\0é');
  t.strictSame(Buffer.from(encodeSoif(object)), Buffer.from(bytes('@FILE { u\nA{3}:\t\xff\0\xe9\n}\n')));
});

t.test('SOIF-2.1: the published grammar has one or more objects with one or more attributes', async (t) => {
  t.strictSame(strictLines('@FILE { u\nA{1}:\tx\n}\n@NOTE { v\nB{1}:\ty\nC{1}:\tz\n}\n'), [
    'FILE "u" ["A"="x"] @0+20',
    'NOTE "v" ["B"="y" "C"="z"] @20+28',
  ]);
});

t.test('SOIF-2.5: an attribute begins with name{size}: and one tab, with nothing between them', async (t) => {
  t.equal(text(encodeSoif(fileOf(['Title', 'x']))), '@FILE { u\nTitle{1}:\tx\n}\n');
  for (const line of ['A {1}:\tx', 'A{1} :\tx', 'A{1}: \tx', 'A{1}:x', 'A{1}:\t\tx']) {
    t.match(strictLines(`@FILE { u\n${line}\n}\n`), [/^error SOIF-4\.[34] @/], line);
  }
});

t.test('SOIF-2.6: lines end with LF only', async (t) => {
  t.notMatch(text(encodeSoif(fileOf(['A', 'x'], ['B', 'y']))), /\r/);
  for (const wire of ['@FILE { u\r\n}\n', '@FILE { u\nA{1}:\tx\r\n}\n', '@FILE { u\n}\r\n']) {
    t.match(strictLines(wire), [/^error SOIF-4\.4 @/], JSON.stringify(wire));
  }
});

t.test('SOIF-2.9: a URL is written byte for byte if readers would read the same one', async (t) => {
  const url = 'http://a/{x}?%7b\x01\x7f\xe9\xc3\xa9\xff}';
  const written = encodeSoif(SoifObject.of('FILE', url, []));
  t.equal(Buffer.from(written).toString('latin1'), `@FILE { ${url}\n}\n`);
  t.equal(decodeSoif(written).url, url, 'and read back');
  for (const wrong of ['', '{u', '}u', 'a b', 'a\tb', 'a\nb', 'a\vb', 'a\fb', 'a\rb', 'a\0b']) {
    const object = assemble('FILE', bytes(wrong), []);
    const isRight = { name: 'ProtocolError', rule: 'SOIF-2.9' };
    t.throws(() => encodeSoif(object), isRight, JSON.stringify(wrong));
    t.throws(() => encodeVerbatim({ type: 'FILE', url: bytes(wrong), attributes: [] }), isRight);
  }
  t.throws(
    () => encodeSoif(assemble('Update', bytes('@u'), [])),
    { name: 'ProtocolError', rule: 'SOIF-2.9' },
    'SOIF-8.10',
  );
  t.equal(text(encodeSoif(assemble('FILE', bytes('@u'), []))), '@FILE { @u\n}\n');
  t.throws(
    () => SoifObject.of('FILE', 'http://a/\u20ac', []),
    { name: 'ProtocolError', rule: 'SOIF-2.9' },
    'text, not bytes',
  );
  t.equal(text(SoifObject.of('FILE', urlOfText('http://a/\u20ac'), []).urlBytes), 'http://a/\xe2\x82\xac');
  t.match(strictLines('@FILE { {u\n}\n'), [/^error/]);
});

t.test('SOIF-7.4: a URL has text for people, a form for links, and fields for JSON', async (t) => {
  t.equal(textOfUrl('http://a/\xc3\xa9'), 'http://a/\u00e9', 'UTF-8');
  t.equal(textOfUrl('http://a/\xe9\x80'), 'http://a/\u00e9\u20ac', 'windows-1252');
  t.equal(hrefOfUrl('http://a/{\xe9}'), 'http://a/{%E9}');
  t.same(urlFields('http://a/\xc3\xa9'), { url: 'http://a/\u00e9' });
  t.same(urlFields('http://a/\xe9'), { url: 'http://a/\u00e9', urlBase64: 'aHR0cDovL2Ev6Q==' });
});

t.test('SOIF-3.6: the default type of an object is FILE', async (t) => {
  t.equal(DEFAULT_TYPE, 'FILE');
  const untyped = decodeSoif(bytes('@ { u\n}\n@X { v\n}\n'), { dialect: 'starts' });
  t.equal(untyped.url, 'v', 'text without a type is not an object');
});

t.test('SOIF-4.3: a name and its size are followed by exactly a colon and a tab', async (t) => {
  for (const [wire, offset] of [
    ['@FILE { u\nA{1}\tx\n}\n', 14],
    ['@FILE { u\nA{1}:x\n}\n', 15],
    ['@FILE { u\nA\n}\n', 11],
  ] as const) {
    t.match(strictLines(wire), [new RegExp(`^error SOIF-4\\.[34] @${offset}$`)], JSON.stringify(wire));
    t.match(itemLines([bytes(wire)])[0], /^! SOIF-4\.3 @/, JSON.stringify(wire));
  }
});

t.test('SOIF-4.6: strict mode requires LF after each value and a tab before it, like Isearch', async (t) => {
  t.strictSame(strictLines('@FILE { u\nA{1}:\txy\n}\n'), ['error SOIF-4.4 @17']);
  t.strictSame(strictLines('@FILE { u\nA{1}: x\n}\n'), ['error SOIF-4.3 @15']);
});

/**
 * The values as the Perl library reads them (SOIF-4.4, 4.7): whole lines until the size is reached, then one
 * byte less.
 */
function perlValues(wire: string): string[] {
  const values: string[] = [];
  const lines = wire.split('\n').slice(1, -2);
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
    const [, size = '0', first = ''] = /^[^{]+\{(\d+)\}:\t(.*)$/s.exec(line) ?? [];
    let value = first;
    let more = false;
    while (value.length < Number(size)) {
      more = true;
      value += `\n${lines.shift() ?? ''}`;
    }
    values.push(more ? value.slice(0, Number(size) - 1) : value);
  }
  return values;
}

t.test('SOIF-4.7: values that end with LF lose only that LF in Perl readers', async (t) => {
  const wire = text(encodeSoif(fileOf(['Body', 'one\ntwo\n'], ['Title', 'three'])));
  t.strictSame(perlValues(wire), ['one\ntwo', 'three']);
});

/** Names and values as the ROADS client reads an update stream (SOIF-4.8). */
function roadsValues(wire: string): string[] {
  const values: string[] = [];
  for (let rest = wire; rest !== ''; ) {
    const end = rest.indexOf('\n');
    const line = rest.slice(0, end);
    rest = rest.slice(end + 1);
    if (line === '' || line === '}' || /^@(?:FILE|DELETE|REFRESH|UPDATE) ?\{/.test(line)) continue;
    const [, name = '', size = '', first = ''] = /^([^{]+)\{(\d+)\}:\t(.*)$/.exec(line) ?? [];
    const more = Number(size) - first.length;
    values.push(`${name}=${first}${more > 0 ? `\n${rest.slice(0, more - 1)}` : ''}`);
    if (more > 0) rest = rest.slice(more - 1);
  }
  return values;
}

t.test('SOIF-4.8: the ROADS client reads our update stream', async (t) => {
  const object = fileOf(['Body', 'one\n\n}\n@FILE { x\ntwo\n'], ['Title', 'three']);
  const wire = Buffer.concat([SECTION_OPEN.update, encodeSoif(object), SECTION_CLOSE]);
  t.strictSame(roadsValues(text(wire)), ['Body=one\n\n}\n@FILE { x\ntwo\n', 'Title=three']);
});

t.test('SOIF-5.1: several values of a name are joined by LF', async (t) => {
  const wire = bytes('@FILE { u\nkeywords-1{1}:\ta\nkeywords-2{1}:\tb\n}\n');
  t.equal(decodeSoif(wire, { dialect: 'rdm' }).text('keywords'), 'a\nb');
  const references = decodeSoif(bytes('@FILE { u\nURL-References{17}:\thttp://a\nhttp://b\n}\n'));
  t.strictSame(references.text('url-references')?.split('\n'), ['http://a', 'http://b']);
});

t.test('SOIF-3.3, 5.3: an object in the order of the C library is the same object', async (t) => {
  const ours = decodeSoif(bytes('@FILE { u\nA{1}:\t1\nB{1}:\t2\nC{1}:\t3\nD{1}:\t4\n}\n'));
  const theirs = decodeSoif(bytes('@FILE { u\nA{1}:\t1\nD{1}:\t4\nC{1}:\t3\nB{1}:\t2\n}\n'));
  t.not(text(encodeSoif(ours)), text(encodeSoif(theirs)));
  t.equal(text(encodeSoif(sortAttributes(ours))), text(encodeSoif(sortAttributes(theirs))));
});

t.test('SOIF-5.7: type and URL of an embedded object are dropped', async (t) => {
  const wire = text(
    encodeSoif(embedSoif(fileOf(['A', 'x']), SoifObject.of('INNER', 'http://in/', [['B', 'y']]))),
  );
  t.equal(wire, '@FILE { u\nA{1}:\tx\nEmbed<1>-B{1}:\ty\n}\n');
});

t.test('SOIF-6.3: week, month and year in seconds', async (t) => {
  t.strictSame([WEEK, MONTH, YEAR], [604_800, 2_419_200, 29_030_400]);
});

const GATHERED: [string, string][] = [
  ['Gatherer-Name', 'G'],
  ['Gatherer-Host', 'h.test'],
  ['Gatherer-Version', '1'],
  ['Update-Time', '100'],
];

t.test('SOIF-6.4: an MD5 is 32 lower-case hexadecimal digits, in any case of the input', async (t) => {
  const identity = identityOf(fileOf(...GATHERED, ['MD5', 'C3D79DC037EFD538CE50464089AF2FB6']));
  t.equal(identity?.md5, 'c3d79dc037efd538ce50464089af2fb6');
});

t.test('SOIF-6.9: without an MD5, a document under two URLs is two objects', async (t) => {
  const one = identityOf(SoifObject.of('FILE', 'http://a/', GATHERED));
  const two = identityOf(SoifObject.of('FILE', 'http://b/', GATHERED));
  if (one === undefined || two === undefined) throw new Error('no identity');
  t.equal(isSameObject(one, two), false);
  t.equal(timesOf(fileOf()).lastModificationTime, 0);
});

t.test('SOIF-7.2: values are 8-bit transparent', async (t) => {
  const all = Uint8Array.from({ length: 256 }, (_, i) => i);
  const wire = Buffer.concat([bytes('@FILE { u\nA{256}:\t'), all, bytes('\n}\n')]);
  const object = decodeSoif(wire, { mode: 'strict' });
  t.strictSame([...(object.get('A') ?? [])], [...all]);
  t.strictSame(Buffer.from(encodeSoif(object)), wire);
});

t.test('SOIF-7.3: UTF-8 and ASCII are read as UTF-8', async (t) => {
  t.equal(decodeText(bytes('Gr\xc3\xbc\xc3\x9fe')), 'Grüße');
  t.equal(decodeText(bytes('plain')), 'plain');
});

t.test('SOIF-7.5: expanded tabs and converted line ends are detected', async (t) => {
  const wire = '@FILE { u\nA{3}:\ta\nb\n}\n';
  t.equal(strictLines(wire).length, 1);
  t.strictSame(strictLines(wire.replace('\t', '   ')), ['error SOIF-4.3 @15']);
  t.strictSame(strictLines(wire.replaceAll('\n', '\r\n')), ['error SOIF-4.4 @9']);
});

t.test('SOIF-8.1, 8.5: deletions, refreshments and updates in this order, also empty', async (t) => {
  const sections = (['delete', 'refresh', 'update'] as const).flatMap((name) => [
    SECTION_OPEN[name],
    SECTION_CLOSE,
  ]);
  t.equal(text(Buffer.concat(sections)), '@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n}\n');
  t.strictSame(
    sectionLines([bytes('@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n@FILE { u\n}\n}\n')], {
      mode: 'strict',
    }),
    [
      'open delete @0',
      'close delete @10',
      'open refresh @12',
      'close refresh @23',
      'open update @25',
      'update FILE "u" [] @35+12',
      'close update @47',
    ],
  );
});

t.test('SOIF-8.3: all three sections contain objects', async (t) => {
  const wire =
    '@DELETE {\n@FILE { a\n}\n}\n@REFRESH {\n@FILE { b\nUpdate-Time{1}:\t7\n}\n}\n@UPDATE {\n@FILE { c\n}\n}\n';
  const objects = sectionLines([bytes(wire)], { mode: 'strict' }).filter((line) => line.includes('FILE'));
  t.match(objects, [/^delete FILE "a"/, /^refresh FILE "b" \["Update-Time"="7"\]/, /^update FILE "c"/]);
});

t.test('SOIF-9.1: every known template type is read in both modes', async (t) => {
  for (const type of ['FILE', 'GATHERER', 'DOMAIN', 'DELETE', 'DOCUMENT', 'RDMHEADER', 'SMetaAttributes']) {
    for (const mode of ['strict', 'lenient'] as const) {
      t.equal(decodeSoif(bytes(`@${type} { nop:x\n}\n`), { mode }).type, type);
    }
  }
});

t.test('SOIF-9.3: Netscape objects are plain SOIF: `-` as URL, numbered names', async (t) => {
  t.strictSame(strictLines('@DOCUMENT { -\nauthor-1{1}:\ta\nauthor-2{1}:\tb\n}\n'), [
    'DOCUMENT "-" ["author-1"="a" "author-2"="b"] @0+46',
  ]);
});

t.test('SOIF-10.1, 10.2, 10.5: common names, those of the library and others are kept', async (t) => {
  const known =
    'Abstract Author Description File-Size Full-Text Gatherer-Host Gatherer-Name Gatherer-Port Gatherer-Version ' +
    'Keywords Last-Modification-Time MD5 Partial-Text Refresh-Rate Time-to-Live Title Type Update-Time URL ' +
    'URL-References Generation-Time Nested-Filename References Related Print-Time my-own_1.name';
  const object = fileOf(...known.split(' ').map((name): [string, string] => [name, '1']));
  t.strictSame(names(decodeSoif(encodeSoif(object), { mode: 'strict' })), known.split(' '));
});

t.test('SOIF-10.3: values of summaries end with a line end that is counted, as in the manual', async (t) => {
  const written = encodeAttributes([
    ['title', 'My Home Page\n'],
    ['url-references', 'http://harvest.cs.colorado.edu/\n'],
    ['author', 'Joe T. Slacker\n'],
  ]);
  t.equal(
    text(written),
    'title{13}:\tMy Home Page\n\nurl-references{32}:\thttp://harvest.cs.colorado.edu/\n\nauthor{15}:\tJoe T. Slacker\n\n',
  );
});

t.test('SOIF-10.4: a type name of Essence is a value like any other', async (t) => {
  const object = fileOf(['Type', 'GNUCompressedTar']);
  t.equal(decodeSoif(encodeSoif(object)).text('type'), 'GNUCompressedTar');
});

t.test('SOIF-11.3: wrapped text is an attribute list; SOIF-11.4: an exploder prints a stream', async (t) => {
  t.strictSame(
    decodeAttributes(bytes('Abstract{12}:\tline\nline 2\n\n'), { mode: 'strict' }).map(({ name, value }) => [
      name,
      text(value),
    ]),
    [['Abstract', 'line\nline 2\n']],
  );
  t.equal(strictLines('@FILE { a\n}\n@FILE { b\n}\n').length, 2);
});

t.test('SOIF-2.2: encodeVerbatim keeps what encodeSoif cleans', async (t) => {
  const wire = '@FI.LE { http://a/{x}\nEmpty{0}:\t\nA{1}:\tx\na{1}:\ty\ndc:title{1}:\tz\n}\n';
  const object = decodeSoif(bytes(wire), { mode: 'strict' });
  const attributes = object.attributes.map(({ name, value }): [string, Uint8Array] => [name, value]);
  t.equal(text(encodeVerbatim({ type: object.type, url: object.urlBytes, attributes })), wire);
  t.equal(text(encodeSoif(object)), '@FI-LE { http://a/{x}\na{1}:\ty\ndc-title{1}:\tz\n}\n');
  for (const name of ['', 'a b', 'a{', 'a}']) {
    t.throws(
      () => encodeVerbatim({ type: 'FILE', url: bytes('u'), attributes: [[name, 'x']] }),
      ProtocolError,
      name,
    );
  }
  t.throws(() => encodeVerbatim({ type: 'F {', url: bytes('u'), attributes: [] }), ProtocolError);
  const odd = encodeVerbatim({ type: 'FILE', url: bytes('a\xff'), attributes: [] });
  t.throws(() => decodeSoif(odd, { mode: 'strict' }), ProtocolError, 'SOIF-4.4: 0xFF');
  t.equal(decodeSoif(odd, { mode: 'strict', anyUrlByte: true }).url, 'a\xff');
});

t.test('SOIF-11.2, G-133: rmbinary removes bytes and values that are not text', async (t) => {
  const clean = (value: string): string | undefined => {
    const object = fileOf(['A', bytes(value)], ['B', 'stays']);
    const result = withoutBinary(object);
    t.equal(result.text('B'), 'stays');
    t.equal(result === object, text(result.get('A')) === value && result.has('A'), 'nothing changes');
    return result.has('A') ? text(result.get('A')) : undefined;
  };
  for (const kept of [
    'plain\ttext\r\n\f',
    'caf\xc3\xa9',
    'caf\xe9',
    '\x93quoted\x94',
    '\xcb\xcf\xd4',
    '\x1b$B%F\x1b(B',
    '',
  ]) {
    t.equal(clean(kept), kept, JSON.stringify(kept));
  }
  t.equal(clean('ab\0cd\x07ef\x7fgh'), 'abcdefgh', 'controls');
  t.equal(clean('gr\xc3\xbc\xc3\x9fe und \xffmehr'), 'gr\xc3\xbc\xc3\x9fe und mehr', 'not UTF-8 in UTF-8');
  t.equal(clean('long enough text \xc2\x85 with a C1 control'), 'long enough text  with a C1 control');
  t.equal(clean('abcdefg\0\0\0'), 'abcdefg', '30 % exactly');
  t.equal(clean('abcdef\0\0\0'), undefined, 'more than 30 %');
  t.equal(clean('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0\xe2\x91\xff\xd0\x80\x0f'), undefined, 'an image');
  t.equal(
    clean('some words \xe9 \x01 \x02 \x03 \x04 more words'),
    'some words      more words',
    'with many controls, bytes above 0x7f are binary too',
  );
  const object = withoutBinary(SoifObject.of('X', 'http://x/', [['Icon', bytes('\0\0\0')]]));
  t.equal(text(encodeSoif(object)), '@X { http://x/\n}\n');
});

t.test('SOIF-11.2, G-134: cleandb -truncate cuts Keywords at the end of a line or word', async (t) => {
  const cut = (keywords: string, limit?: number): string =>
    text(
      truncateKeywords(fileOf(['keywords', bytes(keywords)], ['Title', 'x'.repeat(9000)]), limit).get(
        'Keywords',
      ),
    );
  t.equal(cut('one\ntwo\nthree\n', 10), 'one\ntwo\n');
  t.equal(cut('one two three', 10), 'one two');
  t.equal(cut('one two  three', 9), 'one two');
  t.equal(cut('a\nlonger words here', 16), 'a\nlonger words', 'a word end, if the line end loses over half');
  t.equal(cut('one two', 7), 'one two');
  t.equal(cut('one two', 3), 'one', 'a word that ends at the limit');
  t.equal(cut('unbroken', 3), 'unb');
  t.equal(cut('\xc3\xa9\xc3\xa9\xc3\xa9', 3), '\xc3\xa9', 'no character is cut');
  t.equal(cut('word\n'.repeat(2000)).length, 8190, '8 kilobytes are 8192 bytes');
  const short = fileOf(['Keywords', 'x']);
  t.equal(truncateKeywords(short), short);
  t.equal(truncateKeywords(fileOf()).size, 0);
});

t.test('SOIF-11.2, G-134: cleandb validates objects', async (t) => {
  const problem = (wire: string): string | undefined =>
    problemOf(decodeSoif(bytes(wire), { dialect: 'starts' }))?.rule;
  t.equal(problem('@FILE { u\nUpdate-Time{4}:\t123\n\n}\n'), undefined);
  t.equal(problem('@FILE { -\n}\n'), undefined, 'a manual record needs no attributes');
  t.equal(problem('@FI_LE { u\n}\n'), 'SOIF-2.8');
  t.equal(problem('@FILE { u\ndc:title{1}:\tx\n}\n'), 'SOIF-2.8');
  t.equal(problem('@FILE {\n}\n'), 'SOIF-2.9');
  t.equal(problem('@FILE { {u\n}\n'), 'SOIF-2.9');
  t.equal(problem('@FILE { a b\n}\n'), 'SOIF-2.9');
  t.equal(problem('@FILE { u\nTime-to-Live{2}:\t-1\n}\n'), 'SOIF-6.1');
  t.equal(isValid(fileOf(['Update-Time', 'soon'])), false);
  t.equal(isValid(fileOf(['Update-Time', '1'])), true);
});

/**
 * Every rule of the specification that a test can check. The others are 9.2 and 9.5 (registration and media
 * type), 11.5 (post-summarizing, part of the Gatherer) and chapter 12 (unknown facts).
 */
const RULES: Readonly<Record<number, readonly number[]>> = {
  1: [1, 2, 3, 4],
  2: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
  3: [1, 2, 3, 4, 5, 6, 7],
  4: [1, 2, 3, 4, 5, 6, 7, 8, 9],
  5: [1, 2, 3, 4, 5, 6, 7, 8],
  6: [1, 2, 3, 4, 5, 6, 7, 8, 9],
  7: [1, 2, 3, 4, 5],
  8: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  9: [1, 3, 4],
  10: [1, 2, 3, 4, 5],
  11: [1, 2, 3, 4],
};

t.test('every rule of SOIF that a test can check is in the title of a test', async (t) => {
  const folder = new URL('test/', import.meta.resolve('#package.json'));
  const named = new Set<string>();
  for (const file of await readdir(folder, { recursive: true })) {
    if (!file.endsWith('.test.ts')) continue;
    const source = await readFile(new URL(file, folder), 'utf8');
    for (const [, , words = ''] of source.matchAll(/(['"`])((?:(?!\1).)*SOIF-\d(?:(?!\1).)*)\1/g)) {
      // Skips expected items such as `! SOIF-4.4 @16`; what remains are titles such as `text around objects (SOIF-4.1)`.
      if (/^(?:error |! |x )?SOIF-[\d.]+(?: (?:@|line ).*)?$/.test(words)) continue;
      for (const [list] of words.matchAll(/SOIF-\d+\.\d+(?:, \d+\.\d+)*/g)) {
        for (const [rule] of list.matchAll(/\d+\.\d+/g)) named.add(rule);
      }
    }
  }
  const missing = Object.entries(RULES).flatMap(([chapter, rules]) =>
    rules.map((rule) => `${chapter}.${rule}`).filter((rule) => !named.has(rule)),
  );
  t.strictSame(missing, []);
});

t.test('SOIF-4.5: errors carry protocol, rule and offset', async (t) => {
  try {
    decodeSoif(bytes('@FILE { u\nA{1}x\n}\n'), { mode: 'strict' });
    t.fail('no error');
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    t.strictSame([error.protocol, error.rule, error.offset], ['soif', 'SOIF-4.3', 14]);
  }
});
