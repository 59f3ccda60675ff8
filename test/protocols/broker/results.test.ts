// Tests the items of a Broker’s reply: encoder and decoder.
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import {
  encodeResult,
  formatMatchedLine,
  parseMatchedLine,
  REPLY,
  ResultDecoder,
  type ResultDecoderOptions,
  type ResultItem,
} from '../../../protocols/broker/index.js';
import { ProtocolError } from '../../../protocols/errors.js';
import { assertProperty } from '../../helpers/property.js';

const bytes = (text: string) => new TextEncoder().encode(text);
const value = (text: string) => Buffer.from(text, 'latin1');

/** The items, and the rule of the ProtocolError that ended them. */
type Outcome = (ResultItem | { readonly failed: string })[];

function read(pieces: readonly Uint8Array[], options?: ResultDecoderOptions): Outcome {
  const decoder = new ResultDecoder(options);
  const items: Outcome = [];
  try {
    for (const piece of pieces) items.push(...decoder.push(piece));
    items.push(...decoder.end());
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    items.push({ failed: error.rule });
  }
  return plain(items);
}

/** Makes items comparable: values become Buffers, and objects get a prototype. */
function plain(items: Outcome): Outcome {
  return items.map((item) => ('value' in item ? { ...item, value: Buffer.from(item.value) } : { ...item }));
}

function singleBytes(input: Uint8Array): Uint8Array[] {
  return Array.from(input, (_, i) => input.subarray(i, i + 1));
}

function cutAt(input: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const borders = [0, ...cuts.map((cut) => cut % (input.length + 1)).sort((a, b) => a - b), input.length];
  return borders.slice(1).map((end, i) => input.subarray(borders[i], end));
}

const END: ResultItem = { kind: 'object-end' };

t.test('BRK-4.1, BRK-4.2, BRK-4.6, BRK-4.7: each item is encoded and decoded', async (t) => {
  const cases: readonly (readonly [ResultItem, string])[] = [
    [{ kind: 'message', text: 'No objects matched your query.' }, '101 - No objects matched your query.\n'],
    [{ kind: 'error', text: 'ERROR: x' }, '103 - ERROR: x\n'],
    [{ kind: 'fatal', text: 'ERROR: y' }, '111 - ERROR: y\n'],
    [{ kind: 'match', url: 'http://a.test/' }, '120 - http://a.test/\n'],
    [{ kind: 'opaque', text: 'Matched line: title# a' }, '122 - Matched line: title# a\n'],
    [{ kind: 'description', value: value('two\nlines') }, '124 - 9\ntwo\nlines\n'],
    [{ kind: 'description', value: value('') }, '124 - 0\n\n'],
    [{ kind: 'object-url', url: 'http://a.test/OBJ1' }, '125 - http://a.test/OBJ1\n'],
    [{ kind: 'home-page', url: 'http://a.test/q' }, '126 - http://a.test/q\n'],
    [{ kind: 'attribute', name: 'title', value: value('caf\xe9') }, '127 - title 4\ncaf\xe9\n'],
    [{ kind: 'attribute', name: 'my name', value: value('') }, '127 - my name 0\n\n'],
    [END, '130 - object end\n'],
    [{ kind: 'version', text: 'HARVEST Broker 1.0' }, '200 - HARVEST Broker 1.0\n'],
    [{ kind: 'unknown', code: 0, text: 'transfer ok' }, '000 - transfer ok\n'],
  ];
  for (const [item, text] of cases) {
    t.same(Buffer.from(encodeResult(item)), value(text), `encode ${text}`);
    t.same(read([value(text)]), plain([item]), `decode ${text}`);
  }
  const all = value(cases.map(([, text]) => text).join(''));
  const items = plain(cases.map(([item]) => item));
  t.same(read([all]), items, 'whole');
  t.same(read(singleBytes(all)), items, 'byte by byte');
});

t.test('an encoded item is one line', async (t) => {
  t.equal(Buffer.from(encodeResult({ kind: 'message', text: 'a\r\nb\nc' })).toString(), '101 - a b c\n');
  t.same(
    Buffer.from(encodeResult({ kind: 'opaque', text: 'not used', bytes: value('caf\xe9\nb') })),
    value('122 - caf\xe9 b\n'),
    'BRK-1.10',
  );
  t.throws(() => encodeResult({ kind: 'unknown', code: 1000, text: '' }), RangeError);
  t.same(
    REPLY.busy(),
    { kind: 'fatal', text: 'ERROR: Broker is too busy, try again later' },
    'BRK-4.14: a busy Broker',
  );
});

t.test('BRK-4.4: counted bytes may look like items, and a line end may follow them or not', async (t) => {
  const expected = plain([
    { kind: 'match', url: 'http://a.test/' },
    { kind: 'description', value: value('130 - object end\n') },
    { kind: 'attribute', name: 'title', value: value('x') },
    END,
  ]);
  const head = '120 - http://a.test/\n124 - 17\n130 - object end\n';
  for (const [name, text] of [
    ['LF', `${head}\n127 - title 1\nx\n130 - object end\n`],
    ['nothing', `${head}127 - title 1\nx130 - object end\n`],
    ['CR LF everywhere', `${head}\r\n127 - title 1\r\nx\r\n130 - object end\r\n`],
  ] as const) {
    t.same(read([value(text)]), expected, name);
    t.same(read(singleBytes(value(text))), expected, `${name}, byte by byte`);
  }
  t.same(
    read([value('124 - 1\nx\r130 - object end\n130 -\n')]),
    [...plain([{ kind: 'description', value: value('x') }]), END],
    'a CR without LF is part of the next line',
  );
});

t.test('BRK-1.9, BRK-4.17: lines that a tolerant reader ignores', async (t) => {
  const text = [
    'hello',
    '',
    '12 - short',
    '1234 - long',
    '999 - later invention',
    '124 - many',
    '124 - name 5',
    '127 - 5',
    '101 -',
    '130 - x\r',
    '120 - http://last.test/',
  ].join('\n');
  t.same(read([value(text)]), [
    { kind: 'unknown', code: 999, text: 'later invention' },
    { kind: 'unknown', code: 124, text: 'many' },
    { kind: 'unknown', code: 124, text: 'name 5' },
    { kind: 'unknown', code: 127, text: '5' },
    { kind: 'message', text: '' },
    END,
    { kind: 'match', url: 'http://last.test/' },
  ]);
  t.same(read([value('101 - caf\xe9 \x80\n')]), [{ kind: 'message', text: 'café €' }], 'BRK-1.10');
  t.same(read([bytes('101 - café\n')]), [{ kind: 'message', text: 'café' }]);
  for (const [code, kind] of [
    ['120', 'match'],
    ['125', 'object-url'],
    ['126', 'home-page'],
  ] as const) {
    const url = 'http://a.test/\xe9\xc3\xa9\xa0{}';
    t.same(read([value(`${code} - ${url}\r\n`)]), [{ kind, url }], 'BRK-1.10: a URL is its bytes');
    t.equal(Buffer.from(encodeResult({ kind, url })).toString('latin1'), `${code} - ${url}\n`);
  }
});

t.test(
  'BRK-4.20: exceeded limits and incomplete replies are ProtocolErrors, after their items',
  async (t) => {
    const before: ResultItem = { kind: 'message', text: 'a' };
    const cases: readonly (readonly [string, string])[] = [
      ['101 - a\n124 - 5\nabc', 'BRK-4.4'],
      ['101 - a\n124 - 5', 'BRK-4.4'],
      ['101 - a\n127 - t 21\n', 'BRK-4.20'],
      [`101 - a\n124 - ${'9'.repeat(400)}\n`, 'BRK-4.20'],
      [`101 - a\n122 - ${'x'.repeat(500)}\n101 - b\n`, 'BRK-4.20'],
      [`101 - a\n122 - ${'x'.repeat(500)}`, 'BRK-4.20'],
    ];
    for (const [text, rule] of cases) {
      const limits = { maxLineBytes: 450, maxValueBytes: 20 };
      t.same(read([value(text)], limits), [before, { failed: rule }], text.slice(0, 30));
      t.same(read(singleBytes(value(text)), limits), [before, { failed: rule }], 'byte by byte');
    }
  },
);

t.test('BRK-4.8: matched lines are formatted and parsed', async (t) => {
  const first = formatMatchedLine({ attribute: 'title', text: 'A page', first: true }, 12);
  t.equal(first, 'Matched line: title# title{12}:\tA page');
  t.same(parseMatchedLine(first), { attribute: 'title', text: 'A page', first: true });
  t.same(parseMatchedLine('Embed<1>-Title# more'), {
    attribute: 'Embed<1>-Title',
    text: 'more',
    first: false,
  });
  for (const attribute of ['dc.title', 'og:title', 'C#', 'été'])
    t.same(
      parseMatchedLine(formatMatchedLine({ attribute, text: 'a# b', first: true }, 4)),
      { attribute, text: 'a# b', first: true },
      'BRK-4.8: the first "# " ends the name',
    );
  t.equal(parseMatchedLine('Score: 3, Rank: 1'), undefined, 'BRK-4.9');
  t.equal(parseMatchedLine('see http://a/# b'), undefined, 'another form');
});

t.test(
  'BRK-4.17: a line without its URL, name or readable count is skipped, and nothing is counted',
  async (t) => {
    const unreadable = [
      ...[
        '120 - ',
        '120 -',
        '125 -  ',
        '126 - ',
        '127 - 5',
        '127 -  5',
        '127 - t',
        '127 - t five',
        '127 - t -5',
      ],
      ...['124 - ', '124 -', '124 - +5', '124 - 5 5', '124 -  5', '124 - 0x5', '124 - 5.0', '124 - \u0665'],
    ];
    for (const line of unreadable) {
      const items = new ResultDecoder().push(Buffer.from(`${line}\n101 - next\n`));
      t.match(items, [{ kind: 'unknown' }, { kind: 'message', text: 'next' }], line);
    }
    const [, item] = new ResultDecoder().push(bytes('101 - x\n124 - 0000000000000000000000003  \r\nabc\n'));
    t.same(item, { kind: 'description', value: bytes('abc') }, 'leading zeros, and blanks after the count');
  },
);

const lineText = fc
  .oneof(fc.string({ maxLength: 20 }), fc.string({ maxLength: 10, unit: 'binary' }))
  .map((text) => text.replace(/[\r\n]/g, '_'));
const counted = fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.constant(bytes('\n130 - object end\n')));
const word = fc.stringMatching(/^[A-Za-z][\w<>-]{0,10}$/);
const item: fc.Arbitrary<ResultItem> = fc.oneof(
  fc.record({
    kind: fc.constantFrom(
      'message' as const,
      'error' as const,
      'fatal' as const,
      'opaque' as const,
      'version' as const,
    ),
    text: lineText,
  }),
  fc.record({
    kind: fc.constantFrom('match' as const, 'object-url' as const, 'home-page' as const),
    // BRK-1.10: one character a byte.
    url: fc.uint8Array({ maxLength: 20 }).map((url) =>
      Buffer.from(url)
        .toString('latin1')
        .replace(/[\t-\r ]/g, '')
        .padStart(1, 'u'),
    ),
  }),
  fc.record({ kind: fc.constant('description' as const), value: counted }),
  fc.record({ kind: fc.constant('attribute' as const), name: word, value: counted }),
  fc.constant(END),
  fc.record({
    kind: fc.constant('unknown' as const),
    code: fc.constantFrom(0, 99, 128, 400, 999),
    text: lineText,
  }),
);

t.test('property: encoded items decode to the same items, in pieces of any size', async () => {
  assertProperty(
    fc.property(fc.array(item, { maxLength: 12 }), fc.array(fc.nat(), { maxLength: 6 }), (items, cuts) => {
      const encoded = Buffer.concat(items.map(encodeResult));
      const expected = plain(items);
      return (
        isDeepStrictEqual(read([encoded]), expected) &&
        isDeepStrictEqual(read(singleBytes(encoded)), expected) &&
        isDeepStrictEqual(read(cutAt(encoded, cuts)), expected)
      );
    }),
    { numRuns: 200 },
  );
});

t.test('property: any garbage is read alike in any pieces, and only ProtocolErrors are thrown', async () => {
  const pieces = '124 - |127 - a |130 - object end|5|\n|\r\n|\r|120 - |x|99999999| - |\xff'.split('|');
  const garbage = fc.oneof(
    fc.uint8Array({ maxLength: 80 }),
    fc.array(fc.constantFrom(...pieces), { maxLength: 25 }).map((parts) => value(parts.join(''))),
  );
  assertProperty(
    fc.property(garbage, fc.array(fc.nat(), { maxLength: 6 }), (input, cuts) => {
      const limits = { maxLineBytes: 30, maxValueBytes: 30 };
      const whole = read([input], limits);
      return (
        isDeepStrictEqual(read(singleBytes(input), limits), whole) &&
        isDeepStrictEqual(read(cutAt(input, cuts), limits), whole)
      );
    }),
    { numRuns: 800 },
  );
});
