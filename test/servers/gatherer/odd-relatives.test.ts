// More odd replies: each WARC record has the server's bytes, its mark of truncation is there when something is missing,
// and a revisit repeats a record with the same bytes, with each of the stores that find repetitions.
import { join } from 'node:path';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import type { CrawlOrderInput } from '../../../servers/crawler/order/order.js';
import { crawlOrdered } from '../../helpers/ordered-crawl.js';
import {
  chunk,
  head,
  hex,
  inChunks,
  lengthOf,
  oddServer,
  type Pages,
  type Reply,
  recordsIn,
  sha1,
  text,
} from './odd-server.js';

const BODY = text(9000);
/** A body of two chunks, the line of each size as it is given. */
const chunked = (line: (size: string) => string, last = '0\r\n', end = '\r\n') =>
  Buffer.concat([
    ...[BODY.subarray(0, 5000), BODY.subarray(5000)].flatMap((part) => [
      Buffer.from(line(part.length.toString(16)), 'latin1'),
      part,
      Buffer.from(end),
    ]),
    Buffer.from(`${last}\r\n`),
  ]);

/** Heads and framed bodies of {@link BODY}. */
type Framed = readonly [head: string, framed: Buffer];
const CHUNKED = head('Transfer-Encoding: chunked\r\n');
const fields = (lines: string): Framed => [head(lines), BODY];

const LENGTHS = [
  ...[
    'Content-Length:  9000 \t',
    'Content-Length:9000',
    'content-LENGTH:\t9000',
    'Content-Length: 000000000000000000000000009000',
  ],
  ...[
    'Content-Length: +9000',
    'Content-Length: -9000',
    'Content-Length: 0x2328',
    'Content-Length: 9e3',
    'Content-Length: 9000.0',
  ],
  ...[
    'Content-Length: 9007199254740993',
    'Content-Length: 9007199254740992',
    'Content-Length: 9 000',
    'Content-Length: 9000;x',
  ],
  ...[
    'Content-Length: \xd9\xa9',
    'Content-Length: , 9000',
    'Content-Length: 9000 9000',
    'Content-Length : 9000',
    'Content-Length:\r\n 9000',
  ],
  ...[
    'Content-Length: 90\0\x30\x30',
    'Content-Length\0: 9000',
    'X-A: a\0b\r\nContent-Length: 9000',
    ' X-A: a\r\nContent-Length: 9000',
  ],
  ...[
    'Content-Length: "9000"\r\nContent-Length: 9000',
    'Content-Length: 9000\r\nX-Content-Length: 3',
    ': no name\r\nContent-Length: 9000',
  ],
].map((line) => fields(`${line}\r\n`));

const SIZES: readonly Framed[] = [
  (size: string) => `${size};name\r\n`,
  (size: string) => `${size} ; name = "a;b\\"c,d" ;e\r\n`,
  (size: string) => `${size};\r\n`,
  (size: string) => `${size};a="${'x'.repeat(10_000)}"\r\n`,
  (size: string) => `${size};a="0"\n`,
  (size: string) => `${size}\n`,
  (size: string) => `${'0'.repeat(40)}${size}\r\n`,
  (size: string) => `${size.toUpperCase()}\t \r\n`,
  (size: string) => `0x${size}\r\n`,
  (size: string) => ` ${size}\r\n`,
].map((line) => [CHUNKED, chunked(line)]);

const ENDS: readonly Framed[] = [
  chunked((size) => `${size}\r\n`, '0   \r\n'),
  chunked((size) => `${size}\r\n`, '0\t;x="y"\r\n'),
  chunked((size) => `${size}\r\n`, `${'0'.repeat(60)}\r\n`),
  chunked((size) => `${size}\r\n`, '0\n'),
  chunked((size) => `${size}\n`, '0\n', '\n'),
  chunked((size) => `${size}\r\n`, '0\r\nX-Sum: a\0b\r\n folded\r\nno colon\r\n'),
].map((framed) => [CHUNKED, framed]);

/** A body that cannot be the size of a chunk. */
const PLAIN = Buffer.concat([Buffer.from('plain'), BODY.subarray(5)]);
const plainChunks = inChunks(BODY, 3);
const TRANSFERS: readonly Framed[] = [
  ['Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', plainChunks],
  ['Transfer-Encoding: identity\r\nTransfer-Encoding: chunked', plainChunks],
  ['Transfer-Encoding: chunked\r\nContent-Length: 9000', plainChunks],
  [`Content-Length: ${plainChunks.length}\r\nTransfer-Encoding: chunked`, plainChunks],
  ['Transfer-Encoding:\r\n chunked', plainChunks],
  ['Transfer-Encoding: "chunked"', plainChunks],
  ['Transfer-Encoding: chunked, identity', plainChunks],
  ['Transfer-Encoding: xchunked', BODY],
  ['Transfer-Encoding: chunked', PLAIN],
  ['Transfer-Encoding: chunked\r\nContent-Length: 9000', PLAIN],
].map(([lines, framed]) => [head(`${String(lines)}\r\n`), framed as Buffer]);

const HEADS: readonly Framed[] = [
  ...[
    'HTTP/1.1 200',
    'HTTP/1.1 200 ',
    'HTTP/1.0 200 OK',
    'ICY 200 OK',
    'HTTP 200',
    'HTTP/1.1  200   OK',
    'HTTP/1.1 200OK',
  ],
  ...[
    'http/1.1 200 ok',
    'HTTP/2 200',
    'HTTP/1.1 200 \xe9\0\x01',
    '\r\n\r\nHTTP/1.1 200 OK',
    '\xef\xbb\xbfHTTP/1.1 200 OK',
  ],
].map((line) => [lengthOf(9000).replace('HTTP/1.1 200 OK', line), BODY]);
const MANY: readonly Framed[] = [
  fields(`X-Long: ${'x'.repeat(200_000)}\r\nContent-Length: 9000\r\n`),
  fields(`${'X-Many: 1\r\n'.repeat(20_000)}Content-Length: 9000\r\n`),
  fields(`X-Fold: a\r\n${' b\r\n'.repeat(50_000)}Content-Length: 9000\r\n`),
];

/** Bodies with a content coding, as they are sent. */
const CODED: readonly (readonly [coding: string, bytes: Buffer])[] = [
  ['GZIP', gzipSync(BODY)],
  ['x-gzip', gzipSync(BODY)],
  ['gzip;q=1', gzipSync(BODY)],
  [' , gzip, ', gzipSync(BODY)],
  ['gzip, gzip', gzipSync(gzipSync(BODY))],
  ['deflate, gzip', gzipSync(deflateSync(BODY))],
  ['identity', BODY],
  ['gzip, identity', gzipSync(BODY)],
  ['', BODY],
  ['unknown', BODY],
  ['gzip, unknown', gzipSync(BODY)],
  ['compress', BODY],
  ['deflate', deflateSync(BODY)],
  ['deflate', deflateRawSync(BODY)],
  ['deflate', Buffer.concat([deflateSync(BODY), Buffer.from('more')])],
  ['gzip', Buffer.concat([gzipSync(BODY.subarray(0, 4000)), gzipSync(BODY.subarray(4000))])],
  ['gzip', Buffer.concat([gzipSync(BODY), Buffer.alloc(512)])],
  ['gzip', Buffer.concat([gzipSync(BODY), gzipSync(BODY).subarray(0, 30)])],
  ['gzip', gzipSync(BODY).subarray(0, -8)],
  ['gzip', gzipSync('')],
  ['gzip', Buffer.alloc(0)],
  ['br', Buffer.concat([brotliCompressSync(BODY), Buffer.from('more')])],
  ['br', deflateSync(BODY)],
];

const status = (line: string, lines = '', length = BODY.length) =>
  head(`${lines}Content-Length: ${length}\r\n`, line);
const NOTHING = Buffer.alloc(0);
const OTHERS: Pages = {
  '/0.9': (reply) => reply('', '', BODY),
  '/0.9-page': (reply) => reply('', '', Buffer.from('<title>x</title> HTTP/1.1 200 OK\r\n\r\n')),
  '/206': (reply) => reply('', status('206 Partial Content', 'Content-Range: bytes 0-8999/20000\r\n'), BODY),
  '/206-unasked': (reply) => reply('', status('206 Partial Content'), BODY),
  '/206-other': (reply) =>
    reply('', status('206 x', 'Content-Range: bytes 5-9004/*\r\n'), text(9005).subarray(5)),
  '/206-parts': (reply) =>
    reply('', status('206 x', 'Content-Type: multipart/byteranges; boundary=x\r\n'), BODY),
  '/206-cut': (reply) =>
    reply('', status('206 x', 'Content-Range: bytes 0-9999/20000\r\n', 10_000), BODY, text(10_000)),
  '/200-range': (reply) =>
    reply('', status('200 OK', 'Content-Range: bytes 0-8999/9000\r\nAccept-Ranges: bytes\r\n'), BODY),
  '/416': (reply) => reply('', status('416 Range Not Satisfiable', 'Content-Range: bytes */9000\r\n'), BODY),
  '/204-chunked': (reply) =>
    reply('', head('Transfer-Encoding: chunked\r\n', '204 x'), NOTHING, NOTHING, plainChunks),
  '/304-chunked': (reply) =>
    reply('', head('Transfer-Encoding: chunked\r\n', '304 x'), NOTHING, NOTHING, plainChunks),
  '/refresh': (reply) => reply('', head('Refresh: 0; url=/206#x\r\nContent-Length: 9000\r\n'), BODY),
  '/loop': (reply) => reply('', status('302 Found', 'Location: /loop#again\r\n'), BODY),
  '/loop-1': (reply) => reply('', status('301 Moved', 'Location: /loop-2#x\r\n'), BODY),
  '/loop-2': (reply) => reply('', status('308 Moved', 'Location: /loop-1#y\r\n'), BODY),
  '/loop-nowhere': (reply) => reply('', status('302 Found', 'Location: #\r\n'), BODY),
  '/empty': (reply) => reply('', lengthOf(0), NOTHING),
  '/empty-open': (reply) => reply('', head(''), NOTHING),
  '/empty-chunks': (reply) => reply('', CHUNKED, NOTHING, NOTHING, Buffer.from('0\r\n\r\n')),
  '/2-53': (reply) => reply('', lengthOf(Number.MAX_SAFE_INTEGER), BODY, text(10_000)),
};

/** The limit of some crawls, and bodies around it. */
const LIMIT = 20_000;
const AT_LIMIT: Pages = Object.fromEntries(
  [0, 1, LIMIT - 1, LIMIT, LIMIT + 1, 2 * LIMIT].flatMap((length) => {
    const body = text(length);
    return [
      [`/length-${length}`, (reply: Reply) => reply('', lengthOf(length), body)],
      [`/open-${length}`, (reply: Reply) => reply('', head(''), body)],
      [
        `/chunks-${length}`,
        (reply: Reply) => reply('', CHUNKED, body, body, inChunks(body, Math.min(length, 3))),
      ],
      // One chunk that ends at the limit, and one after it.
      [
        `/two-chunks-${length}`,
        (reply: Reply) =>
          reply(
            '',
            CHUNKED,
            body,
            body,
            Buffer.concat(
              [body.subarray(0, LIMIT), body.subarray(LIMIT)]
                .filter(({ length }) => length > 0)
                .map((part) => chunk(part))
                .concat(Buffer.from('0\r\n\r\n')),
            ),
          ),
      ],
      [`/cut-${length}`, (reply: Reply) => reply('', lengthOf(length + 5), body, text(length + 5))],
    ];
  }),
);

const table = (name: string, all: readonly Framed[]): Pages =>
  Object.fromEntries(
    all.map(([start, framed], i) => [
      `/${name}-${i}`,
      (reply: Reply) =>
        framed === PLAIN ? reply('', start, PLAIN) : reply('', start, BODY, undefined, framed),
    ]),
  );
const RELATIVES: Pages = {
  ...{
    ...table('length', LENGTHS),
    ...table('size', SIZES),
    ...table('end', ENDS),
    ...table('transfer', TRANSFERS),
  },
  ...{ ...table('head', HEADS), ...table('many', MANY), ...OTHERS, ...AT_LIMIT },
  ...Object.fromEntries(
    CODED.map(([coding, bytes], i) => [
      `/coded-${i}`,
      (reply: Reply) =>
        reply('', head(`Content-Encoding: ${coding}\r\nContent-Length: ${bytes.length}\r\n`), bytes),
    ]),
  ),
};

/** What the stores of repetitions are, and how many bytes of a body are kept. */
const ORDERS: readonly (readonly [name: string, order: CrawlOrderInput])[] = [
  ['the history of each URI', { warc: { digestHistory: false } }],
  ['the history of digests', { warc: { digestHistory: true } }],
  ['both, up to a limit', { warc: { digestHistory: true }, settings: { maxLengthBytes: LIMIT } }],
  [
    'the history of each URI, up to a limit',
    { warc: { digestHistory: false }, settings: { maxLengthBytes: LIMIT } },
  ],
  ['framing kept', { warc: { digestHistory: true, transferCoding: 'kept' } }],
];

async function crawled(t: Test, order: CrawlOrderInput) {
  const pages = Object.fromEntries(Object.entries(RELATIVES).map(([path, page]) => [path, page] as const));
  const { url, sent, counts } = await oddServer(t, pages);
  const directory = t.testdir();
  const whole: CrawlOrderInput = {
    ...order,
    warc: { directory: join(directory, 'warc'), compress: false, ...order.warc },
    settings: { lostMaxRetries: 2, lostRetryDelaySeconds: 0.01, ...order.settings },
  };
  // The second crawl finds what the first one stored.
  for (let run = 0; run < 2; run++) await crawlOrdered(directory, `${url}/`, whole);
  return { url, sent, counts, records: recordsIn(join(directory, 'warc')) };
}

for (const [name, order] of ORDERS)
  t.test(`WARC 1.1: odd replies are archived as they were sent: ${name}`, async (t) => {
    const { url, sent, counts, records } = await crawled(t, order);
    const limit = order.settings?.maxLengthBytes ?? Number.POSITIVE_INFINITY;
    const isKept = order.warc?.transferCoding === 'kept';
    const payloads = new Map<string, string>();
    for (const path of Object.keys(RELATIVES)) {
      const replies = sent.filter((reply) => reply.path === path);
      const found = records.filter(
        ({ fields: named }) =>
          named.get('WARC-Target-URI') === url + path &&
          /^re(?:sponse|visit)$/.test(named.get('WARC-Type') ?? ''),
      );
      t.equal(found.length, replies.length, `${path}: a record of each reply`);
      t.ok((counts.get(path) ?? 0) <= 6, `${path}: ${counts.get(path)} requests`);
      for (const [index, { fields: named, block }] of found.entries()) {
        const { head: start, body, framed, whole } = replies[index]!;
        const kept = body.subarray(0, limit);
        const isWhole = kept.length === whole.length;
        t.equal(
          named.get('WARC-Truncated'),
          isWhole ? undefined : kept.length < body.length ? 'length' : 'disconnect',
          `${path}: what is missing`,
        );
        const hasFraming = isKept && framed !== body && !/ (?:204|304) /.test(start);
        const renamed = start.replace(/^transfer-encoding(?=[ \t]*:)/gim, 'x-orig-transfer-encoding');
        // HTTP/0.9 has no head.
        const archived = start === '' ? 'HTTP/1.1 200 OK\r\n\r\n' : hasFraming ? start : renamed;
        t.ok(block.subarray(0, archived.length).equals(Buffer.from(archived, 'latin1')), `${path}: its head`);
        t.equal(hex(named.get('WARC-Block-Digest')), sha1(block), `${path}: the digest of the block`);
        if (named.get('WARC-Type') === 'revisit') {
          t.ok(isWhole, `${path}: only a whole body is a revisit`);
          const repeated = payloads.get(
            `${named.get('WARC-Refers-To-Target-URI')} ${named.get('WARC-Refers-To-Date')}`,
          );
          const isUnmodified = named.get('WARC-Profile')?.endsWith('/server-not-modified');
          if (!isUnmodified) t.equal(repeated, sha1(kept), `${path}: it repeats a record with its bytes`);
        } else {
          t.ok(
            block.subarray(archived.length).equals(hasFraming ? framed : kept),
            `${path}: ${block.length - archived.length} bytes`,
          );
          const key = `${named.get('WARC-Target-URI')} ${named.get('WARC-Date')}`;
          if (isWhole) payloads.set(key, sha1(kept));
        }
        if (!isKept)
          t.equal(hex(named.get('WARC-Payload-Digest')), sha1(kept), `${path}: the digest of the payload`);
      }
    }
  });
