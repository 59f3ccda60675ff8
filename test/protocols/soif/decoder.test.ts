// Tests the decoder of SOIF objects in both modes: well-formed input, the tolerance table, errors, limits,
// dialects.
import t from 'tap';
import { ProtocolError, StateError } from '../../../protocols/errors.js';
import { decodeSoif, encodeSoif, SoifDecoder, SoifObject } from '../../../protocols/soif/index.js';
import { bytes, itemLines, singleBytes } from './item-lines.js';

/** Well-formed objects. `shown` is the expected line, or empty if it is too long. */
const WELL_FORMED: {
  name: string;
  wire: string;
  object: SoifObject;
  shown: string;
}[] = [
  {
    name: 'SOIF-2.2: the exact layout',
    wire: '@FILE { http://a.test/x\nTitle{5}:\tHello\nType{4}:\tHTML\n}\n',
    object: SoifObject.of('FILE', 'http://a.test/x', [
      ['Title', 'Hello'],
      ['Type', 'HTML'],
    ]),
    shown: 'FILE "http://a.test/x" ["Title"="Hello" "Type"="HTML"] @0+56',
  },
  {
    name: 'SOIF-2.3: the LF after a value is not counted; SOIF-2.4: one that ends the value is',
    wire: '@FILE { u\nTitle{13}:\tMy Home Page\n\n}\n',
    object: SoifObject.of('FILE', 'u', [['Title', 'My Home Page\n']]),
    shown: 'FILE "u" ["Title"="My Home Page\\n"] @0+37',
  },
  {
    name: 'SOIF-1.2: nothing in a value is special: braces, @, NUL, line ends, look-alikes',
    wire: '@FILE { u\nBody{33}:\t}\n@FILE { v\nx{1}:\ty\n}\n\0\r{@}\n499 -\n}\n',
    object: SoifObject.of('FILE', 'u', [['Body', bytes('}\n@FILE { v\nx{1}:\ty\n}\n\0\r{@}\n499 -')]]),
    shown: '',
  },
  {
    name: 'SOIF-2.7: an object without attributes',
    wire: '@FILE { u\n}\n',
    object: SoifObject.of('FILE', 'u', []),
    shown: 'FILE "u" [] @0+12',
  },
  {
    name: 'SOIF-2.8: names with angle brackets, digits and minus; SOIF-2.10: the URL "-"',
    wire: '@DOMAIN { -\nEmbed<1>-Type{3}:\tGIF\na_b.c{1}:\t1\n}\n',
    object: SoifObject.of('DOMAIN', '-', [
      ['Embed<1>-Type', 'GIF'],
      ['a_b.c', '1'],
    ]),
    shown: 'DOMAIN "-" ["Embed<1>-Type"="GIF" "a_b.c"="1"] @0+48',
  },
  {
    name: 'SOIF-7.1: sizes count bytes, not characters',
    wire: '@FILE { u\nTitle{5}:\tcaf\xc3\xa9\n}\n',
    object: SoifObject.of('FILE', 'u', [['Title', 'café']]),
    shown: 'FILE "u" ["Title"="caf\xc3\xa9"] @0+28',
  },
];

t.test('SOIF-2.2: well-formed objects are read in any pieces, and written', async (t) => {
  for (const { name, wire, object, shown } of WELL_FORMED) {
    t.test(name, async (t) => {
      const input = bytes(wire);
      for (const mode of ['strict', 'lenient'] as const) {
        const whole = itemLines([input], { mode });
        if (shown !== '') t.strictSame(whole, [shown], `${mode}, whole`);
        t.equal(whole.length, 1, `${mode}: one item`);
        t.strictSame(itemLines(singleBytes(input), { mode }), whole, `${mode}, byte by byte`);
        t.strictSame(
          itemLines([Buffer.concat([input, bytes('@FILE {')])], { mode }).slice(0, 1),
          whole,
          `${mode}, with trailing bytes`,
        );
        const decoded = decodeSoif(input, { mode });
        t.strictSame(
          decoded.attributes.map(({ name, value }) => [name, Buffer.from(value).toString('latin1')]),
          object.attributes.map(({ name, value }) => [name, Buffer.from(value).toString('latin1')]),
          `${mode}: the attributes`,
        );
      }
      t.strictSame(Buffer.from(encodeSoif(object)), Buffer.from(input), 'the encoder writes the input');
    });
  }
});

/** Expected items, or the only one. */
type Lines = string | readonly string[];

/** SOIF-4.4, row by row. `@` is the offset; `inexact` marks bytes that must not be passed on unchanged. */
const TOLERANCE: Readonly<Record<string, readonly [wire: string, strict: Lines, lenient: Lines]>> = {
  'blank lines': ['@FILE { u\n\nA{1}:\tx\n\n}\n', 'error SOIF-4.4 @10', 'FILE "u" ["A"="x"] @0+22 inexact'],
  'indentation before a name and the closing brace': [
    '@FILE { u\n  A{1}:\tx\n }\n',
    'error SOIF-4.4 @10',
    'FILE "u" ["A"="x"] @0+23 inexact',
  ],
  'CR LF line ends': [
    '@FILE { u\r\nA{1}:\tx\r\nB{1}:\ty\r\n}\r\n@FILE { v\n}\n',
    ['error SOIF-4.4 @9', 'FILE "v" [] @32+12'],
    ['FILE "u" ["A"="x" "B"="y"] @0+32 inexact', 'FILE "v" [] @32+12'],
  ],
  'no LF between the value and the closing brace': [
    '@FILE { u\nA{1}:\tx}\n',
    'error SOIF-4.4 @17',
    'FILE "u" ["A"="x"] @0+19 inexact',
  ],
  'no LF between the value and the next name': [
    '@FILE { u\nA{1}:\txB{1}:\ty\n}\n',
    'error SOIF-4.4 @17',
    ['! SOIF-4.4 @17', 'FILE "u" ["A"="x" "B"="y"] @0+27 inexact'],
  ],
  'a space instead of the tab, the size lands on LF': [
    '@FILE { u\nA{1}: x\n}\n',
    'error SOIF-4.3 @15',
    ['! SOIF-4.4 @15', 'FILE "u" ["A"="x"] @0+20 inexact'],
  ],
  'a space instead of the tab, the size lands elsewhere': [
    '@FILE { u\nA{1}: xy\n}\n',
    'error SOIF-4.3 @15',
    ['! SOIF-4.4 @15', '! SOIF-4.5 @0'],
  ],
  'two tabs: the second is the first byte of the value': [
    '@FILE { u\nA{2}:\t\txy\nB{1}:\tz\n}\n',
    'error SOIF-4.4 @18',
    ['! SOIF-4.4 @18', 'FILE "u" ["A"="\\tx" "y\\nB"="z"] @0+30 inexact'],
  ],
  'a space between the name and its brace': [
    '@FILE { u\nA {1}:\tx\n}\n',
    'error SOIF-4.4 @11',
    'FILE "u" ["A"="x"] @0+21 inexact',
  ],
  'a space between the closing brace and the colon': [
    '@FILE { u\nA{1} :\tx\n}\n',
    'error SOIF-4.3 @14',
    ['! SOIF-4.3 @14', '! SOIF-4.5 @0'],
  ],
  'blanks around the digits, leading zeros': [
    '@FILE { u\nA{ 1 }:\tx\nB{01}:\ty\n}\n',
    'error SOIF-4.4 @12',
    'FILE "u" ["A"="x" "B"="y"] @0+31 inexact',
  ],
  ...Object.fromEntries(
    ['+1', '1x', 'x', '', '-1', '1 1', '99999999999999999999', ' '.repeat(40)].map(
      (size) =>
        [
          `the size ${JSON.stringify(size)}`,
          [`@FILE { u\nA{${size}}:\tx\n}\n`, 'error SOIF-4.4 @12', ['! SOIF-4.4 @12', '! SOIF-4.5 @0']],
        ] as const,
    ),
  ),
  'size 0 (SOIF-3.2)': ['@FILE { u\nA{0}:\t\n}\n', 'FILE "u" ["A"=""] @0+19', 'FILE "u" ["A"=""] @0+19'],
  'a size smaller than the value': [
    '@FILE { u\nA{2}:\tabc\nB{1}:\ty\n}\n',
    'error SOIF-4.4 @18',
    ['! SOIF-4.4 @18', 'FILE "u" ["A"="ab" "c\\nB"="y"] @0+30 inexact'],
  ],
  'a size smaller than the last value': [
    '@FILE { u\nA{2}:\tabc\n}\n',
    'error SOIF-4.4 @18',
    ['! SOIF-4.4 @18', '! SOIF-4.3 @18', 'FILE "u" ["A"="ab"] @0+22 inexact'],
  ],
  'a size larger than the value': [
    '@FILE { u\nA{4}:\tab\nB{1}:\ty\n}\n',
    'error SOIF-4.4 @20',
    ['! SOIF-4.4 @20', '! SOIF-4.4 @20', 'FILE "u" ["A"="ab\\nB" ""="y"] @0+29 inexact'],
  ],
  'a size larger than the rest: the object is lost, the one it swallowed is not (SOIF-4.5)': [
    '@FILE { u\nA{99}:\tab\n}\n@FILE { v\n}\n',
    ['error SOIF-4.4 @34', 'FILE "v" [] @22+12'],
    ['! SOIF-4.4 @34', '! SOIF-4.5 @0', 'FILE "v" [] @22+12'],
  ],
  'the input ends inside a value': [
    '@FILE { u\nA{4}:\tab',
    'error SOIF-4.4 @18',
    ['! SOIF-4.4 @18', '! SOIF-4.5 @0'],
  ],
  'the input ends before the closing brace': [
    '@FILE { u\nA{2}:\tab\n',
    'error SOIF-4.4 @19',
    ['! SOIF-4.4 @19', 'FILE "u" ["A"="ab"] @0+19 inexact'],
  ],
  'white space inside the URL': [
    '@FILE { http://a b\tc \nA{1}:\tx\n}\n',
    'error SOIF-4.4 @16',
    ['! SOIF-4.4 @16', 'FILE "http://a b\\tc" ["A"="x"] @0+32 inexact'],
  ],
  'braces inside and at the end of the URL': [
    '@FILE { a{b}c}\n}\n',
    'FILE "a{b}c}" [] @0+17',
    'FILE "a{b}c}" [] @0+17',
  ],
  'a URL beginning with a brace': ['@FILE { {u}\n}\n', 'error SOIF-4.4 @8', 'FILE "{u}" [] @0+14 inexact'],
  'a missing URL': [
    '@FILE {\nA{1}:\tx\n}\n@FILE { v\n}\n',
    ['error SOIF-4.4 @7', 'FILE "v" [] @18+12'],
    ['! SOIF-4.4 @7', '! SOIF-4.5 @0', 'FILE "v" [] @18+12'],
  ],
  'an object on one line': ['@FILE { u }\n', 'error SOIF-4.4 @9', 'FILE "u" [] @0+12 inexact'],
  'byte 0xFF in the type and in the URL': [
    '@FI\xff { u\n}\n@FILE { \xff\n}\n',
    ['error SOIF-4.4 @3', 'error SOIF-4.4 @19'],
    ['FIÿ "u" [] @0+11 inexact', 'FILE "ÿ" [] @11+12 inexact'],
  ],
  'an "@" in text before the object': [
    'mail joe@example.org\n@FILE { u\n}\n',
    ['error SOIF-2.2 @0', 'FILE "u" [] @21+12'],
    ['! SOIF-4.2 @21', '! SOIF-4.5 @8', 'FILE "u" [] @21+12'],
  ],
  'text around objects (SOIF-4.1)': [
    'a\n@FILE { u\n}\nb\n@FILE { v\n}\nc\n',
    [
      'error SOIF-2.2 @0',
      'FILE "u" [] @2+12',
      'error SOIF-2.2 @14',
      'FILE "v" [] @16+12',
      'error SOIF-2.2 @28',
    ],
    ['FILE "u" [] @2+12', 'FILE "v" [] @16+12'],
  ],
  'an empty attribute name': [
    '@FILE { u\n{1}:\tx\n}\n',
    'error SOIF-4.4 @10',
    ['! SOIF-4.4 @10', 'FILE "u" [""="x"] @0+19 inexact'],
  ],
  'objects without LF between them': [
    '@FILE { u\n}@FILE { v\n}\n',
    'error SOIF-4.4 @11',
    ['FILE "u" [] @0+11 inexact', 'FILE "v" [] @11+12'],
  ],
  'no blank before or after the opening brace (SOIF-4.2)': [
    '@FILE{u\nA{1}:\tx\n}\n',
    'error SOIF-2.2 @5',
    'FILE "u" ["A"="x"] @0+18 inexact',
  ],
};

t.test('SOIF-4.4: the tolerance table, in both modes', async (t) => {
  for (const [name, [wire, ...expected]] of Object.entries(TOLERANCE)) {
    const [strict, lenient] = expected.map((lines) => [lines].flat());
    t.test(`SOIF-4.4: ${name}`, async (t) => {
      t.strictSame(itemLines([bytes(wire)], { mode: 'strict' }), strict, 'strict');
      t.strictSame(itemLines([bytes(wire)]), lenient, 'lenient');
      t.strictSame(itemLines(singleBytes(bytes(wire)), { mode: 'strict' }), strict, 'strict, byte by byte');
      t.strictSame(itemLines(singleBytes(bytes(wire))), lenient, 'lenient, byte by byte');
    });
  }
});

t.test('SOIF-4.5: both modes continue at the next plausible start, strict mode after resume()', async (t) => {
  const wire = bytes('@FILE { a\n}\n@FILE { b\nA:\n}\n@FILE { c\n}\n');
  const decoder = new SoifDecoder({ mode: 'strict' });
  const first = decoder.push(wire);
  t.match(first, [{ kind: 'object', offset: 0 }], 'the objects before the error are not lost');
  t.ok(decoder.failed);
  t.throws(() => decoder.push(bytes('')), ProtocolError, 'the next call throws the error');
  t.throws(() => decoder.push(bytes('')), ProtocolError, 'every call throws it until resume()');
  t.match(decoder.resume(), [{ kind: 'object', offset: 27 }]);
  t.throws(() => decoder.resume(), StateError);
  t.strictSame(decoder.end(), []);
  t.throws(() => decoder.end(), StateError);
  t.throws(() => decoder.push(wire), StateError);
});

t.test('SOIF-4.4: URLs and types of 65 535 bytes are read in both modes, longer ones are not', async (t) => {
  for (const mode of ['strict', 'lenient'] as const) {
    for (const [length, objects] of [
      [65_535, 1],
      [65_536, 0],
    ] as const) {
      const long = 'x'.repeat(length);
      for (const wire of [`@FILE { ${long}\n}\n`, `@${long} { u\n}\n`]) {
        const shown = itemLines([bytes(wire)], { mode });
        t.equal(shown.filter((line) => !/^(?:!|error)/.test(line)).length, objects);
      }
    }
  }
});

t.test('limits: a size over the limit is refused before its bytes arrive', async (t) => {
  const wire = bytes('@FILE { a\nA{101}:\tx\n}\n@FILE { b\nA{100}:\t');
  const options = { maxValueBytes: 100, maxObjectBytes: 200 };
  t.strictSame(itemLines([wire], options).slice(0, 2), ['! SOIF-4.4 @12', '! SOIF-4.5 @0']);
  const decoder = new SoifDecoder(options);
  t.equal(decoder.push(wire).length, 2, 'the items are returned while the second object waits for its value');
  const many = 'A{10}:\t0123456789\n'.repeat(20);
  t.strictSame(itemLines([bytes(`@FILE { a\n${many}}\n`)], { maxObjectBytes: 200 }), [
    '! SOIF-4.4 @192',
    '! SOIF-4.5 @0',
  ]);
  const names = bytes(`@FILE { a\n${'n'.repeat(11)}{1}:\tx\n}\n`);
  t.strictSame(itemLines([names], { maxNameBytes: 10 }), ['! SOIF-4.4 @10', '! SOIF-4.5 @0']);
  t.equal(itemLines([names], { maxNameBytes: 11 }).length, 1);
  const five = bytes(`@FILE { a\n${[1, 2, 3, 4, 5].map((i) => `n${i}{1}:\tx\n`).join('')}}\n`);
  t.equal(itemLines([five], { maxAttributes: 5 }).length, 1);
  t.strictSame(itemLines([five], { maxAttributes: 4 }), ['! SOIF-4.4 @49', '! SOIF-4.5 @0']);
  t.throws(() => new SoifDecoder({ maxObjectBytes: 0 }), RangeError);
  t.throws(() => new SoifDecoder({ maxNameBytes: 1.5 }), RangeError);
});

t.test('limits: nested malformed objects take linear time', async (t) => {
  const level = 'n{12}:\t\n@FILE { u\n\n';
  const lines = itemLines([bytes(`@FILE { u\n${level.repeat(20_000)}broken{x}\n`)]);
  t.ok(lines.length < 100, `${lines.length} items`);
  const stray = `@FILE { u\n${'a{1}:\txb{1}:\ty\n'.repeat(1000)}}\n`;
  t.equal(itemLines([bytes(stray)]).length, 101, 'an object has at most 100 warnings');
});

t.test('SOIF-1.3: decodeSoif requires exactly one object', async (t) => {
  t.equal(decodeSoif(bytes('text\n@FILE { u\n}\n')).url, 'u');
  for (const [wire, rule, offset] of [
    ['', 'SOIF-1.3', 0],
    ['text', 'SOIF-1.3', 4],
    ['@FILE { u\n}\n@FILE { v\n}\n', 'SOIF-1.3', 12],
    ['@FILE {\n}\n', 'SOIF-4.4', 7],
  ] as const) {
    t.strictSame(
      protocolErrorOf(() => decodeSoif(bytes(wire))),
      [rule, offset],
    );
  }
  t.strictSame(
    protocolErrorOf(() => decodeSoif(bytes('text @FILE { u\n}\n'), { mode: 'strict' })),
    ['SOIF-2.2', 0],
  );
});

/** Rule and offset of the ProtocolError that `action` throws. */
function protocolErrorOf(action: () => void): [rule: string, offset: number] | undefined {
  try {
    action();
  } catch (error) {
    if (error instanceof ProtocolError) return [error.rule, error.offset];
    throw error;
  }
  return undefined;
}

t.test('SOIF-9.4: STARTS objects without URL, with the dialect option only', async (t) => {
  const wire = bytes('@SQuery{\nVersion{10}:\tSTARTS 1.0\n}\n@SResource { u\n}\n');
  const starts = 'SQuery "" ["Version"="STARTS 1.0"] @0+35 inexact';
  for (const chunks of [[wire], singleBytes(wire)]) {
    t.strictSame(itemLines(chunks, { dialect: 'starts' }), [starts, 'SResource "u" [] @35+17']);
    t.strictSame(itemLines(chunks), ['! SOIF-4.4 @8', '! SOIF-4.5 @0', 'SResource "u" [] @35+17']);
  }
  const object = decodeSoif(wire.subarray(0, 35), { dialect: 'starts' });
  t.equal(
    Buffer.from(encodeSoif(object, { dialect: 'starts' })).toString(),
    Buffer.from(wire.subarray(0, 35)).toString(),
  );
  t.throws(() => encodeSoif(object), ProtocolError);
  for (const blank of [' ', '\t', '\r']) {
    const loose = bytes(`@SQuery${blank}{\n}\n`);
    t.equal(decodeSoif(loose, { dialect: 'starts' }).type, 'SQuery');
    t.throws(() => decodeSoif(loose, { dialect: 'starts', mode: 'strict' }), {
      name: 'ProtocolError',
      rule: 'SOIF-9.4',
      offset: 7,
    });
  }
});

t.test('SOIF-5.8, 9.3: the rdm dialect joins numbered values, the default does not', async (t) => {
  const wire = bytes('@DOCUMENT { -\nauthor-2{1}:\tb\ntitle{1}:\tt\nauthor-10{1}:\tc\nAuthor-1{1}:\ta\n}\n');
  t.equal(decodeSoif(wire, { dialect: 'rdm' }).text('author'), 'a\nb\nc');
  t.strictSame(
    decodeSoif(wire, { dialect: 'rdm' }).attributes.map(({ name }) => name),
    ['author', 'title'],
  );
  t.equal(decodeSoif(wire).has('author'), false);
  t.equal(decodeSoif(wire).text('author-10'), 'c');
});
