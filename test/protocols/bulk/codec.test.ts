// protocols/bulk: BT-2 to BT-22 and BP-1 to BP-29 without a network. Expected bytes are written by hand.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import {
  type BulkEvent,
  type BulkListedObject,
  BulkReplyDecoder,
  type BulkReplyDecoderOptions,
  BulkReplyEncoder,
  type BulkTrailer,
  DEFAULT_TOKENS,
  decodeDigest,
  digestOfIdentity,
  encodeBulkError,
  encodeBulkRequest,
  encodeBulkSuccess,
  encodeDigest,
  formatTransferText,
  groupClose,
  groupOpen,
  hexOf,
  parseTransferTime,
  SetDigest,
  tokenBytes,
} from '../../../protocols/bulk/index.js';
import { ProtocolError, StateError, UsageError } from '../../../protocols/errors.js';
import { decodeSoif, SoifObject } from '../../../protocols/soif/index.js';

const latin1 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

/** Events as short lines; `data` of inflate is decompressed if it is complete in one chunk. */
function brief(event: BulkEvent): string {
  switch (event.kind) {
    case 'version':
      return `version ${event.interface} ${event.major}.${event.minor} ${event.text}`;
    case 'status':
      return `status ${event.code} ${event.text}`;
    case 'info':
      return event.info.field === 'extension'
        ? `info extension ${event.info.type} ${textOf(event.info.data)}`
        : `info ${event.info.field} ${event.info.text}`;
    case 'change':
      return `${event.change} ${event.object.url}${event.exact ? '' : ' inexact'}`;
    case 'object':
      return `object ${event.object.resource} ${event.object.object}`;
    case 'trailer':
      return event.trailer.kind === 'count'
        ? `count ${event.trailer.count}`
        : event.trailer.kind === 'error'
          ? `error ${event.trailer.number} ${event.trailer.text}`
          : `stats ${textOf(event.trailer.data)}`;
    case 'warning':
      return `warning ${event.rule}`;
    case 'inflate':
      return `inflate ${event.bytes.length}`;
    case 'end':
      return event.complete ? 'complete' : `incomplete: ${event.reason}`;
  }
}

/** Feeds chunks; `plain` is the result of inflating the `deflated` bytes. */
function read(
  chunks: readonly Uint8Array[],
  options: BulkReplyDecoderOptions = {},
  member?: { readonly plain: Uint8Array; readonly deflated: number },
): { events: BulkEvent[]; error: ProtocolError | undefined } {
  const decoder = new BulkReplyDecoder(options);
  const events: BulkEvent[] = [];
  let fed = 0;
  const take = (some: readonly BulkEvent[]): void => {
    const last = some.at(-1);
    if (last?.kind !== 'inflate') {
      events.push(...some);
      return;
    }
    events.push(...some.slice(0, -1));
    if (member === undefined) return;
    const used = Math.min(last.bytes.length, member.deflated - fed);
    fed += used;
    // Like the inflater of the client: left-over bytes show the end.
    if (used === last.bytes.length) return;
    take(decoder.inflated(member.plain));
    take(decoder.inflateEnd(last.bytes.subarray(used), crc32(member.plain), member.plain.length));
  };
  try {
    for (const chunk of chunks) take(decoder.push(chunk));
    while (!decoder.done) take(decoder.end());
    return { events, error: undefined };
  } catch (error) {
    if (error instanceof ProtocolError) return { events, error };
    throw error;
  }
}

const events = (reply: string | Uint8Array, options: BulkReplyDecoderOptions = {}): string[] => {
  const bytes = typeof reply === 'string' ? latin1(reply) : reply;
  const whole = read([bytes], options);
  const single = read(
    Array.from(bytes, (byte) => Uint8Array.of(byte)),
    options,
  );
  const lines = [...whole.events.map(brief), ...(whole.error === undefined ? [] : [`! ${whole.error.rule}`])];
  const again = [
    ...single.events.map(brief),
    ...(single.error === undefined ? [] : [`! ${single.error.rule}`]),
  ];
  if (lines.join('\n') !== again.join('\n')) return [...lines, 'BUT BYTE BY BYTE', ...again];
  return lines;
};

const OBJECT = (url: string): string => `@FILE { ${url}\nUpdate-Time{1}:\t7\n}\n`;
const GREETING = '200 - HARVEST Broker 1.0\n';
const GROUPS =
  `@DELETE {\n${OBJECT('http://a.test/d')}}\n\n@REFRESH {\n}\n\n` +
  `@UPDATE {\n${OBJECT('http://a.test/1')}${OBJECT('http://a.test/2')}}\n`;
const CHANGES = ['delete http://a.test/d', 'update http://a.test/1', 'update http://a.test/2'];
const MAGIC = '\x32\x9f\xa1\xd2';

t.test('BT-3, BT-6, BP-29: the requests, byte for byte', async (t) => {
  const request = (...[wanted]: Parameters<typeof encodeBulkRequest>): string =>
    textOf(encodeBulkRequest(wanted));
  t.equal(request({ since: 0 }), '#BULK #SINCE 0 #END #ALLB\r\n');
  t.equal(request({ since: 828000000 }), '#BULK #SINCE 828000000 #END #ALLB\r\n');
  t.equal(
    request({ flags: '#index case insensitive', query: 'linux and kernel' }),
    '#BULK #index case insensitive #END linux and kernel\r\n',
  );
  t.equal(request({ since: 9, flags: '#desc', query: 'x' }), '#BULK #SINCE 9 #desc #END x\r\n');
  t.equal(request({ since: 0, interface: 2 }), '#BULK #SINCE 0 #interface 2 #END #ALLB\r\n');
  t.equal(
    request({ interface: 2, compress: true, digest: 'a0' }),
    '#BULK #interface 2 #compress #digest a0 #END #ALLB\r\n',
  );
  t.equal(request({ interface: 2, digest: '' }), '#BULK #interface 2 #digest - #END #ALLB\r\n');
  t.throws(() => request({ since: -1 }), RangeError);
  t.throws(() => request({ since: 0.5 }), RangeError);
  t.throws(() => request({ query: 'a\nb' }), UsageError);
  t.throws(() => request({ digest: 'a' }), TypeError);
  t.throws(() => request({ interface: 2, digest: 'A' }), RangeError);
  t.throws(() => request({ interface: 2, digest: '0'.repeat(17) }), RangeError);
});

t.test('BT-10, BT-17: the output of a server of the shipped interface, byte for byte', async (t) => {
  t.equal(textOf(encodeBulkSuccess(formatTransferText(42))), '000 - Bulk transfer follows, time 42\n');
  t.equal(textOf(encodeBulkError('no such attribute\nx')), '400 - ERROR: no such attribute x\n');
  const empty = (['delete', 'refresh', 'update'] as const).map(
    (change) => textOf(groupOpen(change)) + textOf(groupClose(change)),
  );
  t.equal(empty.join(''), '@DELETE {\n}\n\n@REFRESH {\n}\n\n@UPDATE {\n}\n');
  t.equal(parseTransferTime('Bulk transfer follows, time 42'), 42);
  t.equal(parseTransferTime('bulk transfer'), undefined);
});

t.test('BT-9, BT-10, BT-14: version line, success line, groups', async (t) => {
  t.same(events(`${GREETING}000 - ok\n${GROUPS}`), [
    'version 1 1.0 HARVEST Broker 1.0',
    'status 0 ok',
    ...CHANGES,
    'complete',
  ]);
  const [change] = read([latin1(GREETING + GROUPS)]).events.filter((event) => event.kind === 'change');
  t.equal(change?.kind === 'change' && change.offset, GREETING.length + '@DELETE {\n'.length);
  t.equal(change?.kind === 'change' && textOf(change.bytes), OBJECT('http://a.test/d'));
});

t.test('BT-10: an error instead of data; BT-11: 099 and 499 end the stream', async (t) => {
  t.same(events(`${GREETING}400 - ERROR: no\n`).slice(1), ['status 400 ERROR: no', 'incomplete: ERROR: no']);
  t.same(events(`${GREETING}111 - ERROR: busy\n`).slice(1), [
    'status 111 ERROR: busy',
    'incomplete: ERROR: busy',
  ]);
  t.same(events(`${GROUPS}099 - done\ngarbage @UPDATE {`), [...CHANGES, 'status 99 done', 'complete']);
  t.same(events(`${GROUPS}499 - failed\n`), [...CHANGES, 'status 499 failed', 'incomplete: failed']);
});

t.test('BT-10: status lines between objects are skipped, and the group stays open', async (t) => {
  const reply = `@DELETE {\n${OBJECT('http://a.test/1')}000 - still here\n${OBJECT('http://a.test/2')}}\n`;
  t.same(events(reply), [
    'delete http://a.test/1',
    'warning GATHERD-3.7',
    'status 0 still here',
    'delete http://a.test/2',
    'complete',
  ]);
});

t.test('BT-15, BT-18, BT-20: any order, case, layout; objects outside of groups are updates', async (t) => {
  const reply = `\n@update{${OBJECT('http://a.test/1')}}@DELETE { } @Refresh\t{\n${OBJECT('http://a.test/2')}}\n@UPDATE {}`;
  t.same(events(reply), ['update http://a.test/1', 'refresh http://a.test/2', 'complete']);
  t.same(events(OBJECT('http://a.test/1')), ['update http://a.test/1', 'complete']);
});

t.test(
  'BT-19: a reply that is cut anywhere is incomplete, and the objects received are delivered',
  async (t) => {
    const reply = latin1(`${GREETING}000 - ${formatTransferText(9)}\n${GROUPS}`);
    const wrong: number[] = [];
    for (let length = 0; length < reply.length - 1; length++) {
      const { events } = read([reply.subarray(0, length)]);
      const end = events.at(-1);
      const whole = events.filter((event) => event.kind === 'change').length;
      const ends = [...GROUPS.matchAll(/\t7\n\}\n/g)].map(
        (match) => reply.length - GROUPS.length + match.index + 4,
      );
      const expected = ends.filter((at) => at <= length).length;
      if (end?.kind !== 'end' || end.complete || whole !== expected) wrong.push(length);
    }
    t.same(wrong, []);
    t.same(events(''), ['incomplete: the reply ends before the data']);
  },
);

t.test(
  'BT-9: a peer that does not greet as a broker is recognized immediately, before it closes',
  async (t) => {
    for (const first of [
      '000 - HELLO 1.8 gatherer\n',
      '220 mail\n',
      'HTTP/1.0 400 Bad Request\r\n',
      '{}',
      '2x',
    ]) {
      const { error } = read([latin1(first)]);
      t.same([error?.rule, error?.offset], ['BT-9', 0], first);
    }
    t.equal(read([latin1('20')]).error, undefined, 'not yet');
    t.same(events('20'), ['warning BT-9', 'incomplete: the reply ends before the data']);
  },
);

t.test('BT-5: an announced time beyond the range of a request is ignored', async (t) => {
  t.equal(parseTransferTime('Bulk transfer follows, time 4294967295'), 4_294_967_295);
  t.equal(parseTransferTime('Bulk transfer follows, time 4294967296'), undefined);
  t.equal(parseTransferTime('Bulk transfer follows, time 999999999999999'), undefined);
});

t.test('BT-13: a gzip member after the status line is tolerated', async (t) => {
  const plain = latin1(GROUPS);
  const gzip = gzipSync(plain);
  const member = { plain, deflated: gzip.length - 18 };
  const { events } = read([latin1(`${GREETING}000 - ok\n`), gzip], {}, member);
  t.same(events.map(brief).slice(2), [...CHANGES, 'complete']);
  const cut = read([latin1(GREETING), gzip.subarray(0, -9)], {}, member);
  t.match(cut.events.map(brief).at(-1), 'incomplete');
});

t.test('limits of interface 1: a line, the number of lines, an object', async (t) => {
  t.same(events(`200 - ${'x'.repeat(20)}\n`, { maxLineBytes: 20 }), ['! BT-10']);
  t.same(events(`200 - \n001 - \n002 - \n`, { maxLines: 2 }).at(-1), '! BT-10');
  t.same(
    events(`${GROUPS}`, { soif: { maxObjectBytes: 10 } }).filter((line) => line.startsWith('update')),
    [],
  );
});

const EXAMPLE =
  '200 - \x00\x00\x00\x01\x00\x00\x00\x00example broker\n' +
  '126 - http://b.example/\n' +
  '120 - http://a.example/x\n' +
  '125 - http://b.example/Harvest/brokers/b/objects/1/OBJ1\n' +
  `124 - ${MAGIC}\x00\x00\x00\x04Test` +
  '130 - object end\n' +
  '144 - \x00\x00\x00\x01';

const LISTED: BulkListedObject = {
  resource: 'http://a.example/x',
  object: 'http://b.example/Harvest/brokers/b/objects/1/OBJ1',
  description: latin1('Test'),
  opaque: [],
  attributes: [],
  extensions: [],
};

const encoder = new BulkReplyEncoder();
const VERSION = textOf(encoder.version('x'));

t.test('B6: the worked example, written and read byte for byte', async (t) => {
  const pieces = [
    encoder.version('example broker'),
    encoder.info({ field: 'broker-url', text: 'http://b.example/' }),
    encoder.object(LISTED),
    encoder.trailer({ kind: 'count', count: 1 }),
  ];
  t.equal(pieces.map(textOf).join(''), EXAMPLE);
  t.same(events(EXAMPLE), [
    'version 2 1.0 example broker',
    'info broker-url http://b.example/',
    `object ${LISTED.resource} ${LISTED.object}`,
    'count 1',
    'complete',
  ]);
  t.same(
    read([latin1(EXAMPLE)]).events.flatMap((event) => (event.kind === 'object' ? [event.object] : [])),
    [LISTED],
  );
  t.same(events(GREETING + EXAMPLE).slice(0, 2), [
    'version 1 1.0 HARVEST Broker 1.0',
    'version 2 1.0 example broker',
  ]);
});

t.test('BP-1 to BP-24: each production, byte for byte', async (t) => {
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

t.test(
  'BP-14, BP-15, BP-22, BP-25: groups in interface 2, a count that holds the byte of a line end',
  async (t) => {
    const ten = Array.from({ length: 10 }, (_, i) => OBJECT(`http://a.test/${i}`)).join('');
    t.same(events(`${VERSION}@UPDATE {\n${ten}}\n\n144 - \x00\x00\x00\x0a`).slice(-2), [
      'count 10',
      'complete',
    ]);
    t.same(events(`${VERSION}${GROUPS}`).slice(1), [...CHANGES, 'complete']);
    t.same(events(`${VERSION}${GROUPS}144 - \x00\x00\x00\x02`).slice(-3), [
      'count 2',
      'warning BP-22',
      'complete',
    ]);
    t.same(events(`${VERSION}${GROUPS}144 - \x00\x00\x00\x03x`).slice(-3), [
      'count 3',
      'warning BP-25',
      'complete',
    ]);
    t.same(events(`${VERSION}@DELETE {}@REFRESH{}\n@UPDATE { }145 - ${MAGIC}\x00\x00\x00\x00`).slice(1), [
      'stats ',
      'complete',
    ]);
    t.match(events(`${VERSION}${GROUPS.slice(0, -2)}`).at(-1), 'incomplete');
    t.same(
      events(`${VERSION}@UPDATE {\n@FILE { http://a.test/1\nx{1}:\t12\n}\n}\n`).at(-1)?.slice(0, 6),
      '! SOIF',
    );
  },
);

t.test('BP-21, BP-23: errors and missing trailers make a reply incomplete', async (t) => {
  t.same(events(`${VERSION}111 - \x00\x00\x00\x02not here\n`).slice(1), [
    'error 2 not here',
    'incomplete: error 2: not here',
  ]);
  t.same(events(VERSION).slice(1), ['incomplete: the reply ends without a Trailer']);
  t.same(events(EXAMPLE.slice(0, -10)).at(-1), 'incomplete: the reply ends without a Trailer');
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
    const { events } = read(pieces(reply, size), {}, member);
    t.same(events.map(brief).slice(1), expected, `chunks of ${size} bytes`);
  }
  const damaged = Buffer.from(reply);
  damaged[reply.indexOf(trailer)]! ^= 1;
  t.equal(read([damaged], {}, member).error?.rule, 'BP-16');
  const unmarked = Buffer.concat([reply.subarray(0, reply.lastIndexOf('151 - ')), latin1('144 - \0\0\0\0')]);
  t.equal(read([unmarked], {}, member).error?.rule, 'BP-16');
});

function pieces(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  );
}

t.test('BP-11, BP-13, BP-17, BP-19, BP-21, BP-26, BP-28: fatal errors', async (t) => {
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
  for (const [rule, reply] of fatal) t.equal(events(reply).at(-1), `! ${rule}`, JSON.stringify(reply));
  const minor = '200 - \x00\x00\x00\x01\x00\x00\x00\x09x\n144 - \x00\x00\x00\x00';
  t.same(events(minor), ['version 2 1.9 x', 'count 0', 'complete'], 'BP-11: a higher minor is accepted');
});

t.test('BP-27: limits of strings, Data and objects', async (t) => {
  const start = `${VERSION}120 - a\n125 - b\n`;
  const data = `${MAGIC}\x00\x00\x00\x05`;
  t.equal(events(`${VERSION}126 - ${'x'.repeat(9)}\n`, { maxStringBytes: 9 }).at(-1), '! BP-27');
  t.equal(events(`${VERSION}126 - ${'x'.repeat(8)}\n`, { maxStringBytes: 9 })[1], 'info broker-url xxxxxxxx');
  t.equal(
    events(`${VERSION}126 - ${'x'.repeat(9)}`, { maxStringBytes: 9 }).at(-1),
    '! BP-27',
    'without its end',
  );
  t.equal(events(`${start}124 - ${data}`, { maxDataBytes: 4 }).at(-1), '! BP-27');
  t.equal(events(`${start}122 - ${data}12345122 - ${data}12345`, { maxListedBytes: 13 }).at(-1), '! BP-27');
  t.equal(events(`${start}122 - ${data}12345122 - ${data}12345`, { maxExtensions: 1 }).at(-1), '! BP-17');
  t.equal(
    events(`${start}124 - ${MAGIC}\xff\xff\xff\xff`).at(-1),
    '! BP-27',
    'an announced length costs nothing',
  );
});

t.test('BP-9: other literals; an ambiguous table is refused', async (t) => {
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
  t.same(events(Buffer.concat(reply), { tokens }), ['version 2 1.0 x', 'object r o', 'count 1', 'complete']);
  const same = { ...DEFAULT_TOKENS, literals: { ...DEFAULT_TOKENS.literals, stats: '144' } };
  t.throws(() => tokenBytes(same), TypeError);
  t.throws(() => tokenBytes({ ...same, literals: { ...same.literals, stats: '@' } }), TypeError);
});

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();
const identity = {
  url: 'http://a.test/',
  gathererName: 'g',
  gathererHost: 'h',
  gathererVersion: '1',
  updateTime: 7,
};

t.test('REG-42, BP-24: the digest of an identity and of a set', async (t) => {
  const hashed = '\0\0\0\x01g\0\0\0\x01h\0\0\0\x011\0\0\0\x017\0\0\0\x0ehttp://a.test/\0\0\0\0';
  const expected = sha256(latin1(hashed)).subarray(0, 16);
  t.equal(hexOf(digestOfIdentity(identity, sha256)), hexOf(expected));
  const set = new SetDigest();
  set.add(expected);
  t.equal(set.hex, hexOf(expected));
  set.add(digestOfIdentity({ ...identity, md5: 'AB' }, sha256));
  t.equal(set.count, 2);
  set.remove(digestOfIdentity({ ...identity, md5: 'ab' }, sha256));
  t.same([set.hex, set.count], [hexOf(expected), 1]);
});

t.test('BP-24: the object of a digest, byte for byte, and objects that are not one', async (t) => {
  const digest = 'ab'.repeat(16);
  const leaf = {
    prefix: 'a',
    count: 1,
    digest,
    identities: [{ digest, updateTime: 7, url: 'http://a.test/' }],
  };
  const text = `@DIGEST { a\nCount{1}:\t1\nDigest{32}:\t${digest}\nIdentities{49}:\t${digest} 7 http://a.test/\n}\n`;
  t.equal(textOf(encodeDigest(leaf)), text);
  t.same(decodeDigest(decodeSoif(latin1(text))), leaf);
  const zero = '0'.repeat(32);
  const buckets = Array.from({ length: 16 }, (_, i) => ({
    count: i === 10 ? 300 : 0,
    digest: i === 10 ? digest : zero,
  }));
  const inner = { prefix: '', count: 300, digest, buckets };
  t.match(textOf(encodeDigest(inner)), /^@DIGEST \{ -\nCount\{3\}:\t300\n[\s\S]*\na 300 abab/);
  t.same(decodeDigest(decodeSoif(encodeDigest(inner))), inner);
  t.same(decodeDigest(decodeSoif(encodeDigest({ prefix: '', count: 0, digest: zero }))).identities, []);
  const bad = (...[type, url, more]: [string, string, [string, string][]]): void => {
    const object = SoifObject.of(type, url, [['Count', '1'], ['Digest', digest], ...more]);
    t.throws(() => decodeDigest(object), /BP-24/, `${type} ${url} ${JSON.stringify(more)}`);
  };
  bad('FILE', '-', []);
  bad('DIGEST', 'X', []);
  bad('DIGEST', '-', []);
  bad('DIGEST', 'c', [['Identities', `${digest} 7 u`]]);
  bad('DIGEST', '-', [['Identities', `${digest} 7`]]);
  bad('DIGEST', '-', [['Buckets', `0 1 ${digest}`]]);
});

const bytesOf = fc.uint8Array({ maxLength: 40 });
const line = fc.string({ maxLength: 20 }).map((text) => text.replace(/[\r\n]/g, '.'));
const extension = fc.record({ type: line, data: bytesOf });
const listed: fc.Arbitrary<BulkListedObject> = fc.record(
  {
    warning: fc.record({ number: fc.nat(0xffff_ffff), text: line }),
    resource: line,
    object: line,
    description: bytesOf,
    opaque: fc.array(bytesOf, { maxLength: 3 }),
    attributes: fc.array(fc.record({ name: line, value: bytesOf }), { maxLength: 3 }),
    extensions: fc.array(extension, { maxLength: 3 }),
  },
  { requiredKeys: ['resource', 'object', 'opaque', 'attributes', 'extensions'] },
);
const cuts = fc.array(fc.nat(400), { maxLength: 12 });

function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = [0, ...places.filter((place) => place <= bytes.length).sort((a, b) => a - b), bytes.length];
  return sorted.slice(1).map((end, i) => bytes.subarray(sorted[i], end));
}

/** The same value for bytes of any memory. */
const plain = (value: unknown): string =>
  JSON.stringify(value, (_, inner) => (inner instanceof Uint8Array ? hexOf(inner) : inner));

t.test('property: an ObjectList survives writing and reading in any chunks', async () => {
  fc.assert(
    fc.property(
      fc.array(listed, { maxLength: 4 }),
      fc.array(extension, { maxLength: 2 }),
      cuts,
      (objects, infos, places) => {
        const trailer: BulkTrailer = { kind: 'count', count: objects.length };
        const reply = Buffer.concat([
          encoder.version('x'),
          ...infos.map((info) => encoder.info({ field: 'extension', ...info })),
          ...objects.map((object) => encoder.object(object)),
          encoder.trailer(trailer),
        ]);
        const { events } = read(cutAt(reply, places));
        const back = events.flatMap((event) => (event.kind === 'object' ? [event.object] : []));
        const backInfos = events.flatMap((event) =>
          event.kind === 'info' && event.info.field === 'extension'
            ? [{ type: event.info.type, data: event.info.data }]
            : [],
        );
        const sorted = (each: BulkListedObject): unknown =>
          Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1));
        const end = events.at(-1);
        return (
          plain(back.map(sorted)) === plain(objects.map(sorted)) &&
          plain(backInfos) === plain(infos.map(({ type, data }) => ({ type, data }))) &&
          end?.kind === 'end' &&
          end.complete
        );
      },
    ),
    { numRuns: 300 },
  );
});

t.test('property: groups read alike in both interfaces and in any chunks', async () => {
  const group = fc.tuple(
    fc.constantFrom('delete' as const, 'refresh' as const, 'update' as const),
    fc.array(
      bytesOf.filter((value) => value.length > 0),
      { maxLength: 3 },
    ),
  );
  fc.assert(
    fc.property(fc.array(group, { minLength: 1, maxLength: 5 }), cuts, (groups, places) => {
      const expected: string[] = [];
      const body: Uint8Array[] = [];
      for (const [change, values] of groups) {
        body.push(groupOpen(change));
        for (const value of values) {
          const bytes = Buffer.concat([
            latin1(`@FILE { http://a.test/\nv{${value.length}}:\t`),
            value,
            latin1('\n}\n'),
          ]);
          body.push(bytes);
          expected.push(`${change} ${hexOf(bytes)}`);
        }
        body.push(groupClose(change));
      }
      const trailer = encoder.trailer({ kind: 'count', count: expected.length });
      for (const reply of [
        [latin1(GREETING), ...body],
        [latin1(VERSION), ...body, trailer],
      ]) {
        const { events } = read(cutAt(Buffer.concat(reply), places));
        const got = events.flatMap((event) =>
          event.kind === 'change' ? [`${event.change} ${hexOf(event.bytes)}`] : [],
        );
        const end = events.at(-1);
        if (got.join() !== expected.join() || end?.kind !== 'end' || !end.complete) return false;
      }
      return true;
    }),
    { numRuns: 300 },
  );
});

t.test(
  'property: garbage gives an end or a ProtocolError that names a rule, the same in any chunks',
  async (t) => {
    const part = fc.constantFrom(
      GREETING,
      VERSION,
      GROUPS,
      EXAMPLE,
      '000 - ok\n',
      '499 - x\n',
      '@UPDATE {',
      '}',
      '@FILE { u\n',
      '\n',
      ' ',
      '\0\0\0\x01',
      '200 - ',
      '120 - a\n',
      '125 - b\n',
      '124 - ',
      MAGIC,
      '150 - gzip begin\n',
      '\x1f\x8b',
      '130 - object end\n',
      '144 - ',
    );
    const garbage = fc
      .array(fc.oneof(part, fc.string({ maxLength: 4 })), { maxLength: 12 })
      .map((all) => latin1(all.join('')));
    let fatal = 0;
    fc.assert(
      fc.property(garbage, cuts, (bytes, places) => {
        const whole = read([bytes]);
        const cut = read(cutAt(bytes, places));
        if (whole.error !== undefined) fatal++;
        const ended =
          whole.error === undefined
            ? whole.events.at(-1)?.kind === 'end'
            : /^(BT|BP|SOIF)-\d/.test(whole.error.rule);
        return (
          ended &&
          whole.error?.rule === cut.error?.rule &&
          whole.events.map(brief).join('\n') === cut.events.map(brief).join('\n')
        );
      }),
      { numRuns: 1500 },
    );
    t.ok(fatal > 50, `${fatal} of them were fatal`);
  },
);

t.test('corpus: recorded replies end as their file name says', async (t) => {
  const folder = new URL('test/fuzz/corpus/bulk/', import.meta.resolve('#package.json'));
  for (const name of readdirSync(folder)) {
    const [outcome] = name.split('.');
    const { events, error } = read([readFileSync(new URL(name, folder))]);
    const end = events.at(-1);
    const ended = end?.kind === 'end' ? (end.complete ? 'complete' : 'incomplete') : 'none';
    t.equal(error === undefined ? ended : `fatal-${error.rule}`, outcome, name);
  }
});

t.test('StateError: calls in the wrong state', async (t) => {
  const decoder = new BulkReplyDecoder();
  t.throws(() => decoder.inflated(latin1('x')), StateError);
  decoder.end();
  t.equal(decoder.done, true);
  t.throws(() => decoder.push(latin1('x')), StateError);
});
