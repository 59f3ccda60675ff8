// Tests SoifObject and the functions on objects: names, numbers, text, writing, merging, embedding, order,
// identity, times.
import t from 'tap';
import { ProtocolError } from '../../../protocols/errors.js';
import {
  arrangeAttributes,
  BOOKKEEPING_NAMES,
  cleanName,
  decodeAttributes,
  decodeSoif,
  decodeText,
  embedSoif,
  encodeAttributes,
  encodeSoif,
  identityOf,
  isExpired,
  isSameObject,
  mergeSoif,
  SoifBodyDecoder,
  SoifObject,
  sortAttributes,
  timesOf,
} from '../../../protocols/soif/index.js';
import { bytes, singleBytes } from './item-lines.js';

const text = (value: Uint8Array): string => Buffer.from(value).toString('latin1');
const names = (object: SoifObject): string[] => object.attributes.map(({ name }) => name);
const fileOf = (...attributes: [string, string][]): SoifObject => SoifObject.of('FILE', 'u', attributes);

t.test('SOIF-2.11, 5.2: names are compared without case; the last duplicate counts', async (t) => {
  const object = decodeSoif(bytes('@File { u\nTITLE{1}:\ta\nx{1}:\tb\nTitle{1}:\tc\n}\n'));
  t.equal(object.type, 'File');
  t.equal(object.size, 3, 'all occurrences are kept');
  t.strictSame(names(object), ['TITLE', 'x', 'Title']);
  t.equal(object.text('title'), 'c');
  t.equal(text(object.get('X') ?? bytes('')), 'b');
  t.equal(object.get('y'), undefined);
  t.equal(object.has('tItLe'), true);
  t.strictSame([object.nameAt(1), text(object.valueAt(1)), object.valueLengthAt(1)], ['x', 'b', 1]);
  t.equal(object.memory[object.valueStartAt(2)], 0x63);
  t.equal(object.valueEndAt(2) - object.valueStartAt(2), 1);
  t.throws(() => object.nameAt(3), RangeError);
  t.throws(() => object.valueAt(-1), RangeError);
});

t.test('SOIF-7.4: text is UTF-8, else windows-1252', async (t) => {
  t.equal(decodeText(bytes('plain')), 'plain');
  t.equal(decodeText(bytes('caf\xc3\xa9')), 'café');
  t.equal(decodeText(bytes('caf\xe9 \x80 \x93x\x94 \x9f')), 'café € “x” Ÿ');
  t.equal(decodeText(bytes('\x81\xff')), '\u0081ÿ');
  t.equal(decodeText(bytes('\xef\xbb\xbfx')), '\ufeffx');
  const object = decodeSoif(bytes('@FILE { http://a/\xe9\nT{1}:\t\xe9\n}\n'));
  t.equal(object.url, 'http://a/é');
  t.equal(object.text('t'), 'é');
  t.equal(text(object.get('t') ?? bytes('')), '\xe9', 'bytes stay unchanged');
});

t.test(
  'SOIF-6.1, 6.10: numbers are unsigned decimal; blanks and newlines around them are ignored',
  async (t) => {
    for (const [value, number] of [
      ['0', 0],
      ['812694072\n', 812_694_072],
      [' \t42 ', 42],
      ['007', 7],
      ['9007199254740991', Number.MAX_SAFE_INTEGER],
      ['9007199254740992', undefined],
      ['', undefined],
      ['-1', undefined],
      ['+1', undefined],
      ['1.5', undefined],
      ['1 2', undefined],
      ['0x1', undefined],
    ] as const) {
      t.equal(SoifObject.of('FILE', 'u', [['N', value]]).number('n'), number, JSON.stringify(value));
    }
    t.equal(fileOf().number('n'), undefined);
  },
);

t.test('SOIF-2.8, 2.9: types, names and URLs that must not be written are ProtocolErrors', async (t) => {
  for (const name of ['', 'a b', 'a{', 'dc:title', 'é', 'a\n']) {
    t.throws(() => fileOf([name, 'x']), ProtocolError, JSON.stringify(name));
    t.throws(() => encodeAttributes([[name, 'x']]), ProtocolError, JSON.stringify(name));
    t.throws(() => fileOf().with([[name, 'x']]), ProtocolError, JSON.stringify(name));
  }
  t.throws(() => SoifObject.of('A B', 'u', []), ProtocolError);
  t.throws(() => SoifObject.of('FILE', 'a b', []), ProtocolError);
  t.throws(() => encodeSoif(SoifObject.of('FILE', '', [])), ProtocolError);
  t.equal(cleanName('dc:title'), 'dc-title');
  t.equal(cleanName(''), '-');
});

t.test('SOIF-3.2, 5.2, 2.9: empty values and duplicates are not written', async (t) => {
  const object = SoifObject.of('FILE', 'http://a/\xe9{}', [
    ['A', 'x'],
    ['Empty', ''],
    ['a', 'y'],
  ]);
  t.equal(text(encodeSoif(object)), '@FILE { http://a/\xe9{}\na{1}:\ty\n}\n');
});

t.test('every object that was read can be written if its URL can, and strict mode reads it', async (t) => {
  const odd = decodeSoif(bytes('@FI/LE { http://{a}\n{1}:\tx\nno tab{1}: y\ndc:title{1}:\tz\n}\n'));
  const wire = encodeSoif(odd);
  t.equal(text(wire), '@FI-LE { http://{a}\n-{1}:\tx\nno-tab{1}:\ty\ndc-title{1}:\tz\n}\n');
  t.equal(decodeSoif(wire, { mode: 'strict' }).size, 3);
});

t.test('SOIF-2.8: names that differ in a forbidden character only stay different attributes', async (t) => {
  const written = (...names: string[]) => {
    const lines = names.map((name, i) => `${name}{1}:\t${i}\n`).join('');
    return text(encodeSoif(decodeSoif(bytes(`@FILE { u\n${lines}}\n`)))).replace(/^@FILE \{ u\n|\}\n$/g, '');
  };
  t.equal(written('a:b'), 'a-b{1}:\t0\n');
  t.equal(written('a:b', 'a-b'), 'a_3Ab{1}:\t0\na-b{1}:\t1\n', 'a legal name keeps its own');
  t.equal(written('a-b', 'A:B'), 'a-b{1}:\t0\nA_3AB{1}:\t1\n', 'names are compared without case');
  t.equal(written('a:b', 'a/b', 'a b'), 'a-b{1}:\t0\na_2Fb{1}:\t1\na_20b{1}:\t2\n');
  t.equal(written('a:b', 'a-b', 'a_3Ab'), 'a_3Ab_{1}:\t0\na-b{1}:\t1\na_3Ab{1}:\t2\n');
  t.equal(written('a:b', 'A:b'), 'a-b{1}:\t1\n', 'SOIF-5.2: of a repeated name the last one counts');
  t.equal(written('caf\xe9:', 'caf--'), 'caf_C3_A9_3A{1}:\t0\ncaf--{1}:\t1\n');
});

t.test('SOIF-5.4: with() replaces, adds and removes attributes', async (t) => {
  const object = fileOf(['A', '1'], ['B', '2'], ['a', '3'], ['C', '4']);
  const changed = object.with([
    ['a', 'new'],
    ['b', undefined],
    ['D', bytes('\xff')],
  ]);
  t.strictSame(
    changed.attributes.map(({ name, value }) => `${name}=${text(value)}`),
    ['a=new', 'C=4', 'D=\xff'],
  );
  t.strictSame(names(object), ['A', 'B', 'a', 'C'], 'the original is unchanged');
  const foreign = decodeSoif(bytes('@FILE { u\ndc:title{1}:\tx\n}\n'));
  t.equal(foreign.with([['dc:title', 'y']]).text('dc:title'), 'y', 'an existing foreign name may be set');
});

t.test('SOIF-2.9: withUrl() changes the URL alone', async (t) => {
  const object = decodeSoif(bytes('@FILE { u\ndc:title{1}:\tx\nA{1}:\ty\n}\n'));
  t.equal(object.withUrl('u'), object, 'it has that one');
  const moved = object.withUrl('v');
  t.equal(moved.url, 'v');
  t.strictSame(
    moved.attributes.map(({ name, value }) => `${name}=${text(value)}`),
    ['dc:title=x', 'A=y'],
  );
  t.throws(() => object.withUrl('a b'), ProtocolError);
});

t.test('SOIF-3.7: attribute lists without an object are written and read', async (t) => {
  const wire = bytes('Title{5}:\tHello\nBody{4}:\t}\n\nx\n');
  t.equal(
    text(
      encodeAttributes([
        ['Title', 'Hello'],
        ['Empty', ''],
        ['Body', '}\n\nx'],
      ]),
    ),
    text(wire),
  );
  for (const mode of ['strict', 'lenient'] as const) {
    const decoder = new SoifBodyDecoder({ mode });
    for (const byte of singleBytes(wire)) decoder.push(byte);
    for (const attributes of [decodeAttributes(wire, { mode }), decoder.end()]) {
      t.strictSame(
        attributes.map(({ name, value }) => [name, text(value)]),
        [
          ['Title', 'Hello'],
          ['Body', '}\n\nx'],
        ],
      );
    }
  }
  t.strictSame(decodeAttributes(bytes('')), []);
  t.equal(decodeAttributes(bytes('A{1}:\tx')).length, 1);
  for (const [bad, rule, offset] of [
    ['A{3}:\tx\n', 'SOIF-4.4', 8],
    ['A{1}:\tx\n}\n', 'SOIF-3.7', 8],
    ['A{1}:\tx\nB}\n', 'SOIF-4.3', 8],
    ['A{x}:\tx\n', 'SOIF-4.4', 2],
  ] as const) {
    t.throws(() => decodeAttributes(bytes(bad)), new RegExp(`\\(${rule}, offset ${offset}\\)`), bad);
  }
  t.throws(() => decodeAttributes(bytes('A{1}:\tx'), { mode: 'strict' }), /SOIF-4.4/);
});

t.test('SOIF-5.5: in a merge the second object wins, type and URL are those of the first', async (t) => {
  const merged = mergeSoif(
    fileOf(['Title', 'auto'], ['Type', 'HTML']),
    SoifObject.of('X', 'v', [
      ['title', 'manual'],
      ['New', 'n'],
    ]),
  );
  t.strictSame([merged.type, merged.url, merged.size], ['FILE', 'u', 3]);
  t.strictSame([merged.text('Title'), merged.text('Type'), merged.text('New')], ['manual', 'HTML', 'n']);
});

t.test('SOIF-5.6, 5.7: an embedded object gets the next number and keeps its names', async (t) => {
  const inner = SoifObject.of('INNER', 'inner', [['Type', 'GIF']]);
  const once = embedSoif(fileOf(['Type', 'Tar']), inner, 'a.gif');
  t.strictSame(names(once), ['Type', 'Embed<1>-Nested-Filename', 'Embed<1>-Type']);
  t.equal(once.text('embed<1>-nested-filename'), 'a.gif');
  t.strictSame(names(embedSoif(fileOf(['embed<7>-Type', 'x']), inner)), ['embed<7>-Type', 'Embed<8>-Type']);
  t.equal(once.url, 'u');
});

t.test('SOIF-3.5: the order of the C library; SOIF-3.4: the recommended one', async (t) => {
  const object = fileOf(
    ['b', '1'],
    ['Embed<10>-A', '2'],
    ['embed<9>-z', '3'],
    ['A', '4'],
    ['Embed<9>-B', '5'],
    ['MD5', '6'],
    ['Update-Time', '7'],
  );
  t.strictSame(names(sortAttributes(object)), [
    'A',
    'b',
    'MD5',
    'Update-Time',
    'Embed<9>-B',
    'embed<9>-z',
    'Embed<10>-A',
  ]);
  t.strictSame(names(arrangeAttributes(object)), [
    'Update-Time',
    'MD5',
    'b',
    'A',
    'embed<9>-z',
    'Embed<9>-B',
    'Embed<10>-A',
  ]);
  t.equal(
    BOOKKEEPING_NAMES.join(' '),
    'Time-to-Live Last-Modification-Time Refresh-Rate Gatherer-Name Gatherer-Host Gatherer-Version Update-Time Type File-Size MD5',
  );
});

t.test('SOIF-6.5, 6.6: the identity of an object', async (t) => {
  const gathered: [string, string][] = [
    ['Gatherer-Name', 'G'],
    ['Gatherer-Host', 'h.test'],
    ['Gatherer-Version', '1'],
    ['Update-Time', '100'],
  ];
  const one = identityOf(fileOf(...gathered, ['MD5', 'ABCDEF\n']));
  t.strictSame(one, {
    url: 'u',
    gathererName: 'G',
    gathererHost: 'h.test',
    gathererVersion: '1',
    updateTime: 100,
    md5: 'abcdef',
  });
  for (const [missing] of gathered)
    t.equal(identityOf(fileOf(...gathered).with([[missing, undefined]])), undefined, missing);
  const moved = identityOf(SoifObject.of('FILE', 'v', [...gathered, ['MD5', 'abcdef']]));
  const plain = identityOf(SoifObject.of('FILE', 'v', gathered));
  const later = identityOf(fileOf(...gathered).with([['Update-Time', '101']]));
  if (!one || !moved || !plain || !later) throw new Error('no identity');
  t.equal(isSameObject(one, moved), true, 'the MD5 is equal');
  t.equal(isSameObject(one, plain), false, 'neither MD5 nor URL is equal');
  t.equal(isSameObject(plain, { ...plain }), true, 'the URL is equal');
  t.equal(isSameObject(one, later), false, 'another Update-Time');
});

t.test('SOIF-6.2, 6.7, 6.8: times have defaults, and decide about expiry', async (t) => {
  t.strictSame(timesOf(fileOf()), {
    updateTime: undefined,
    lastModificationTime: 0,
    refreshRate: 604_800,
    timeToLive: 2_419_200,
  });
  const object = fileOf(['Update-Time', '100'], ['Time-to-Live', '50']);
  t.strictSame(
    [149, 150, 151].map((now) => isExpired(object, now)),
    [false, false, true],
  );
  t.equal(isExpired(fileOf(['Update-Time', '100']), 100 + 2_419_201), true);
  t.equal(isExpired(fileOf(['Update-Time', '100'], ['Time-to-Live', '0']), 1e9), false, 'SOIF-6.7: 0: never');
  t.equal(isExpired(fileOf(['Time-to-Live', '1']), 1e9), false, 'no Update-Time, no expiry');
});
