// Tests the replies of interface 2 (BP-1 to BP-29). Expected bytes are written by hand.
import { crc32, deflateRawSync } from 'node:zlib';
import t from 'tap';
import {
  type BulkListedObject,
  BulkReplyEncoder,
  DEFAULT_TOKENS,
  tokenBytes,
} from '../../../protocols/bulk/index.js';
import { ProtocolError } from '../../../protocols/errors.js';
import {
  CHANGES,
  EXAMPLE,
  encoder,
  eventLines,
  formatEvent,
  GREETING,
  GROUPS,
  latin1,
  MAGIC,
  objectText,
  readReply,
  textOf,
  VERSION,
} from './replies.js';

/** The object of the worked example. */
const LISTED: BulkListedObject = {
  resource: 'http://a.example/x',
  object: 'http://b.example/Harvest/brokers/b/objects/1/OBJ1',
  description: latin1('Test'),
  opaque: [],
  attributes: [],
  extensions: [],
};

t.test('B6: the worked example is encoded and read byte for byte', async (t) => {
  const pieces = [
    encoder.version('example broker'),
    encoder.info({ field: 'broker-url', text: 'http://b.example/' }),
    encoder.object(LISTED),
    encoder.trailer({ kind: 'count', count: 1 }),
  ];
  t.equal(pieces.map(textOf).join(''), EXAMPLE);
  t.same(eventLines(EXAMPLE), [
    'version 2 1.0 example broker',
    'info broker-url http://b.example/',
    `object ${LISTED.resource} ${LISTED.object}`,
    'count 1',
    'complete',
  ]);
  t.same(
    readReply([latin1(EXAMPLE)]).events.flatMap((event) => (event.kind === 'object' ? [event.object] : [])),
    [LISTED],
  );
  t.same(eventLines(GREETING + EXAMPLE).slice(0, 2), [
    'version 1 1.0 HARVEST Broker 1.0',
    'version 2 1.0 example broker',
  ]);
});

t.test('BP-1 to BP-24: each production is encoded byte for byte', async (t) => {
  const data = `${MAGIC}\x00\x00\x00\x03a\nb`;
  t.equal(textOf(encoder.info({ field: 'indexer', text: 'i' })), '140 - i\n');
  t.equal(textOf(encoder.info({ field: 'collect', text: 'h 8501 4' })), '141 - h 8501 4\n');
  t.equal(textOf(encoder.info({ field: 'message', text: 'hello\nyou' })), '101 - hello you\n');
  t.equal(
    textOf(encoder.info({ field: 'extension', type: 'mine', data: latin1('a\nb') })),
    `142 - mine\n - ${data}`,
  );
  const object = encoder.object({
    ...LISTED,
    resource: '',
    object: '',
    warning: { number: 258, text: 'old' },
    description: latin1('a\nb'),
    opaque: [latin1('a\nb')],
    attributes: [{ name: 'Title', value: latin1('a\nb') }],
    extensions: [{ type: 'mine', data: latin1('a\nb') }],
  });
  t.equal(
    textOf(object),
    `103 - \x00\x00\x01\x02old\n120 - \n125 - \n124 - ${data}122 - ${data}127 - Title\n - ${data}143 - mine\n - ${data}130 - object end\n`,
  );
  t.equal(
    textOf(encoder.trailer({ kind: 'error', number: 4, text: 'busy' })),
    '111 - \x00\x00\x00\x04busy\n',
  );
  t.equal(textOf(encoder.trailer({ kind: 'stats', data: latin1('a\nb') })), `145 - ${data}`);
  t.equal(textOf(encoder.compressedStart()), '150 - gzip begin\n');
  t.equal(textOf(encoder.compressedEnd()), '151 - gzip end\n');
  t.throws(() => encoder.trailer({ kind: 'count', count: 2 ** 32 }), RangeError);
  t.throws(() => encoder.info({ field: 'indexer', text: 'x'.repeat(65_536) }), ProtocolError);
});

t.test('BP-14, BP-15, BP-22, BP-25: groups of interface 2, also with LF in a count', async (t) => {
  const ten = Array.from({ length: 10 }, (_, i) => objectText(`http://a.test/${i}`)).join('');
  t.same(eventLines(`${VERSION}@UPDATE {\n${ten}}\n\n144 - \x00\x00\x00\x0a`).slice(-2), [
    'count 10',
    'complete',
  ]);
  t.same(eventLines(`${VERSION}${GROUPS}`).slice(1), [...CHANGES, 'complete']);
  t.same(eventLines(`${VERSION}${GROUPS}144 - \x00\x00\x00\x02`).slice(-3), [
    'count 2',
    'warning BP-22',
    'complete',
  ]);
  t.same(eventLines(`${VERSION}${GROUPS}144 - \x00\x00\x00\x03x`).slice(-3), [
    'count 3',
    'warning BP-25',
    'complete',
  ]);
  t.same(eventLines(`${VERSION}@DELETE {}@REFRESH{}\n@UPDATE { }145 - ${MAGIC}\x00\x00\x00\x00`).slice(1), [
    'stats ',
    'complete',
  ]);
  t.match(eventLines(`${VERSION}${GROUPS.slice(0, -2)}`).at(-1), 'incomplete');
  t.same(
    eventLines(`${VERSION}@UPDATE {\n@FILE { http://a.test/1\nx{1}:\t12\n}\n}\n`).at(-1)?.slice(0, 6),
    '! SOIF',
  );
});

t.test('BP-21, BP-23: errors and missing trailers make a reply incomplete', async (t) => {
  t.same(eventLines(`${VERSION}111 - \x00\x00\x00\x02not here\n`).slice(1), [
    'error 2 not here',
    'incomplete: error 2: not here',
  ]);
  t.same(eventLines(VERSION).slice(1), ['incomplete: the reply ends without a Trailer']);
  t.same(eventLines(EXAMPLE.slice(0, -10)).at(-1), 'incomplete: the reply ends without a Trailer');
});

t.test('BP-16: compressed groups end where deflate ends, even with the end marker inside', async (t) => {
  // Stored, not compressed, so that the data has the marker unchanged.
  const plain = latin1(GROUPS.replace('/d\n', '/d\nx{15}:\t151 - gzip end\n\n'));
  const deflated = deflateRawSync(plain, { level: 0 });
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(plain), 0);
  trailer.writeUInt32LE(plain.length, 4);
  const reply = Buffer.concat([
    latin1(`${VERSION}150 - gzip begin\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff`),
    deflated,
    trailer,
    latin1('151 - gzip end\n144 - \x00\x00\x00\x03'),
  ]);
  const member = { plain, deflated: deflated.length };
  const expected = [...CHANGES, 'count 3', 'complete'];
  for (const size of [1, 7, 64, reply.length]) {
    const { events } = readReply(pieces(reply, size), {}, member);
    t.same(events.map(formatEvent).slice(1), expected, `chunks of ${size} bytes`);
  }
  const damaged = Buffer.from(reply);
  damaged[reply.indexOf(trailer)]! ^= 1;
  t.equal(readReply([damaged], {}, member).error?.rule, 'BP-16');
  const unmarked = Buffer.concat([reply.subarray(0, reply.lastIndexOf('151 - ')), latin1('144 - \0\0\0\0')]);
  t.equal(readReply([unmarked], {}, member).error?.rule, 'BP-16');
});

function pieces(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  );
}

t.test('BP-11, BP-13, BP-17, BP-19, BP-21, BP-26, BP-28: violations have their rules', async (t) => {
  const start = `${VERSION}120 - a\n125 - b\n`;
  const data = `${MAGIC}\x00\x00\x00\x01x`;
  const fatal: readonly (readonly [rule: string, reply: string])[] = [
    ['BP-11', '200 - \x00\x00\x00\x02\x00\x00\x00\x00x\n'],
    ['BP-13', `${start}127 - Title\n_- ${data}`],
    ['BP-17', `${VERSION}120 - a\n130 - object end\n`],
    ['BP-17', `${start}144 - \x00\x00\x00\x01`],
    ['BP-17', `${VERSION}103 - \x00\x00\x00\x01x\n125 - b\n`],
    ['BP-19', `${start}124 - ${data}124 - ${data}`],
    ['BP-21', `${start}130 - object end\n126 - x\n`],
    ['BP-21', `${VERSION}${GROUPS}120 - a\n`],
    ['BP-26', `${start}124 - \x32\x9f\xa1\xd3\x00\x00\x00\x01x`],
    ['BP-28', `${VERSION}199 - \x00\x00\x00\x01`],
    ['BP-28', `${start}nothing`],
  ];
  for (const [rule, reply] of fatal) t.equal(eventLines(reply).at(-1), `! ${rule}`, JSON.stringify(reply));
  const minor = '200 - \x00\x00\x00\x01\x00\x00\x00\x09x\n144 - \x00\x00\x00\x00';
  t.same(eventLines(minor), ['version 2 1.9 x', 'count 0', 'complete'], 'BP-11: a higher minor is accepted');
});

t.test('BP-27: strings, Data and objects are limited', async (t) => {
  const start = `${VERSION}120 - a\n125 - b\n`;
  const data = `${MAGIC}\x00\x00\x00\x05`;
  t.equal(eventLines(`${VERSION}126 - ${'x'.repeat(9)}\n`, { maxStringBytes: 9 }).at(-1), '! BP-27');
  t.equal(
    eventLines(`${VERSION}126 - ${'x'.repeat(8)}\n`, { maxStringBytes: 9 })[1],
    'info broker-url xxxxxxxx',
  );
  t.equal(
    eventLines(`${VERSION}126 - ${'x'.repeat(9)}`, { maxStringBytes: 9 }).at(-1),
    '! BP-27',
    'not ended',
  );
  t.equal(eventLines(`${start}124 - ${data}`, { maxDataBytes: 4 }).at(-1), '! BP-27');
  t.equal(
    eventLines(`${start}122 - ${data}12345122 - ${data}12345`, { maxListedBytes: 13 }).at(-1),
    '! BP-27',
  );
  t.equal(eventLines(`${start}122 - ${data}12345122 - ${data}12345`, { maxExtensions: 1 }).at(-1), '! BP-17');
  t.equal(
    eventLines(`${start}124 - ${MAGIC}\xff\xff\xff\xff`).at(-1),
    '! BP-27',
    'a length allocates nothing',
  );
});

t.test('BP-9: other literals can be used; an ambiguous table is a TypeError', async (t) => {
  const tokens = {
    separator: '|',
    literals: {
      ...DEFAULT_TOKENS.literals,
      version: 'V',
      resource: 'RES',
      object: 'OBJ',
      'object-count': 'N',
    },
  };
  const other = new BulkReplyEncoder(tokens);
  const reply = [
    other.version('x'),
    other.object({ ...LISTED, resource: 'r', object: 'o', description: latin1('d') }),
    other.trailer({ kind: 'count', count: 1 }),
  ];
  t.equal(
    reply.map(textOf).join(''),
    `V|\x00\x00\x00\x01\x00\x00\x00\x00x\nRES|r\nOBJ|o\n124|${MAGIC}\x00\x00\x00\x01d130 - object end\nN|\x00\x00\x00\x01`,
  );
  t.same(eventLines(Buffer.concat(reply), { tokens }), [
    'version 2 1.0 x',
    'object r o',
    'count 1',
    'complete',
  ]);
  const same = { ...DEFAULT_TOKENS, literals: { ...DEFAULT_TOKENS.literals, stats: '144' } };
  t.throws(() => tokenBytes(same), TypeError);
  t.throws(() => tokenBytes({ ...same, literals: { ...same.literals, stats: '@' } }), TypeError);
});
