// A crawl of a server with odd replies: its WARC files, read by a parser of this test beside the server's bytes.
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import type { Clock } from '../../../protocols/clock.js';
import type { CrawlOrderInput } from '../../../servers/crawler/order/order.js';
import { inputRead, ManualClock } from '../../helpers/manual-clock.js';
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

const LONG = 400_000;
/** Bytes that the system sends before the client reads any. */
const SENT = 40_000;
const NOTHING = Buffer.alloc(0);
const coded = (coding: string, bytes: Uint8Array) =>
  head(`Content-Encoding: ${coding}\r\nContent-Length: ${bytes.length}\r\n`);
const ZIPPED = gzipSync(text(LONG));
const DAMAGED = Buffer.concat([ZIPPED.subarray(0, 500), Buffer.alloc(2000, 0xff)]);
/** A Zstandard frame of these bytes as they are (RFC 8878). */
const ZSTD = Buffer.concat([Buffer.from('28b52ffd2004210000', 'hex'), Buffer.from('zstd')]);

const CHUNKED = head('Transfer-Encoding: chunked\r\n');
/** Resets a connection when its bytes have been read. */
const reset = (socket: Socket) => () => setTimeout(() => socket.resetAndDestroy(), 50);

/** A body in two chunks with everything that the grammar allows, cut before each byte of its framing. */
const FRAMED = inChunks(text(40), 2, ';e="1"', 'X-Sum: 1\r\n');
const LAST_CHUNK = FRAMED.lastIndexOf('\r\n0;') + 2;
/** Where the bytes of the first and the second chunk are. */
const DATA = [FRAMED.indexOf(text(20)), FRAMED.indexOf(text(40).subarray(20))] as const;
const dataBefore = (cut: number): Buffer =>
  Buffer.concat(DATA.map((at) => FRAMED.subarray(at, Math.max(at, Math.min(cut, at + 20)))));
const CUT_CHUNKS: Pages = Object.fromEntries(
  Array.from({ length: FRAMED.length }, (_, cut) => cut)
    .filter((cut) => !DATA.some((at) => cut > at + 1 && cut < at + 19))
    .map((cut) => [
      `/cut-at-${cut}`,
      // The size of the last chunk shows that all of the body has come.
      (reply: Reply) =>
        reply(
          '',
          CHUNKED,
          dataBefore(cut),
          cut > LAST_CHUNK ? undefined : text(LONG),
          FRAMED.subarray(0, cut),
        ),
    ]),
);
const lengths = (values: readonly string[]) =>
  head(values.map((value) => `Content-Length: ${value}\r\n`).join(''));
const transfer = (fields: string) => head(`${fields}\r\n`);
/** Announced lengths that leave no doubt, or the end of the connection as the end. */
const LENGTHS: Pages = Object.fromEntries(
  [
    ['9000, 9000'],
    ['9000', '9000', '9000'],
    ['+9000'],
    ['"9000"'],
    ['009000'],
    ['9000,'],
    ['nine'],
    ['-1'],
    ['9'.repeat(30)],
    ['3, 9000'],
    [' 9000\t'],
    [''],
  ].map((values, i) => [`/length-${i}`, (reply: Reply) => reply('', lengths(values), text(9000))]),
);
const TRANSFERS: Pages = Object.fromEntries(
  [
    ['transfer-encoding: Chunked', inChunks(text(9000), 2)],
    ['TRANSFER-ENCODING:CHUNKED', inChunks(text(9000), 2)],
    ['Transfer-Encoding: , chunked', inChunks(text(9000), 2)],
    ['Transfer-Encoding: identity, chunked', inChunks(text(9000), 2)],
    ['Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked', inChunks(gzipSync(text(9000)), 2)],
    ['Transfer-Encoding: x-GZIP , CHUNKED', inChunks(gzipSync(text(9000)), 2)],
    ['Transfer-Encoding: deflate, chunked', inChunks(deflateSync(text(9000)), 2)],
    ['Transfer-Encoding: br;q=1, chunked', inChunks(brotliCompressSync(text(9000)), 2)],
    ['Transfer-Encoding: identity', text(9000)],
    ['Transfer-Encoding: unknown', text(9000)],
  ].map(([fields, framed], i) => [
    `/transfer-${i}`,
    (reply: Reply) => reply('', transfer(String(fields)), text(9000), undefined, framed as Buffer),
  ]),
);
/** Content codings that are cut before their announced end. */
const CUT_CODINGS: Pages = Object.fromEntries(
  (
    [
      ['gzip', ZIPPED],
      ['deflate', deflateSync(text(LONG))],
      ['br', brotliCompressSync(text(LONG))],
      ['zstd', ZSTD],
      ['gzip, br', brotliCompressSync(ZIPPED)],
    ] as const
  ).flatMap(([coding, bytes], i) =>
    [1, Math.floor(bytes.length / 2), bytes.length - 1].map((cut) => [
      `/coded-${i}-${cut}`,
      (reply: Reply) => reply('', coded(coding, bytes), bytes.subarray(0, cut), bytes),
    ]),
  ),
);
const interim = (status: number) => `HTTP/1.1 ${status} x\r\nX-A: ${status}\r\n\r\n`;
const withStatus = (status: string, length: number, more = '') =>
  head(`Content-Length: ${length}\r\n${more}`, status);
/** Answers that are no document, and heads before the one of the document. */
const OTHERS: Pages = {
  '/series': (reply) =>
    reply([100, 102, 103, 100, 103, 199].map(interim).join(''), lengthOf(6), Buffer.from('series')),
  '/interim-cut': (reply) => reply(interim(103), lengthOf(LONG), text(9), text(LONG)),
  '/304': (reply) => reply('', withStatus('304 Not Modified', 4), NOTHING, NOTHING, Buffer.from('junk')),
  '/205': (reply) => reply('', withStatus('205 Reset Content', 4), Buffer.from('junk')),
  '/404': (reply) => reply('', withStatus('404 Not Found', 9000), text(9000)),
  '/404-cut': (reply) => reply('', withStatus('404 Not Found', LONG), text(9000), text(LONG)),
  '/moved': (reply) => reply('', withStatus('302 Found', 9000, 'Location: /short\r\n'), text(9000)),
  '/moved-cut': (reply) =>
    reply('', withStatus('301 Moved', LONG, 'Location: /short\r\n'), text(9000), text(LONG)),
  '/moved-chunks': (reply) =>
    reply(
      '',
      head('Transfer-Encoding: chunked\r\nLocation: /whole\r\n', '307 x'),
      text(LONG),
      undefined,
      inChunks(text(LONG), 3),
    ),
  '/open-reset-1.0': (reply, _, socket) =>
    reply('', head('').replace('1.1', '1.0'), text(SENT), text(LONG), undefined, reset(socket)),
};
/** A wall of three pages, each of which sets another cookie each time. */
const WALL: Pages = Object.fromEntries(
  [0, 1, 2].map((i) => [
    `/wall${i}`,
    (reply: Reply, count: number) =>
      reply(
        '',
        withStatus('302 Found', 4, `Set-Cookie: c${i}=${count}; Path=/\r\nLocation: /wall${(i + 1) % 3}\r\n`),
        Buffer.from('wall'),
      ),
  ]),
);

/** What a server begins and does not end. */
const slow = (stay: () => unknown): Pages => ({
  '/body': (reply) => reply('', lengthOf(LONG), text(SENT), text(LONG), undefined, stay),
  '/open': (reply) => reply('', head(''), text(SENT), text(LONG), undefined, stay),
  '/chunk': (reply) =>
    reply('', CHUNKED, text(SENT), text(LONG), chunk(text(LONG)).subarray(0, SENT + 7), stay),
  '/size': (reply) =>
    reply('', CHUNKED, text(9000), text(LONG), Buffer.concat([chunk(text(9000)), Buffer.from('ff')]), stay),
  '/trailers': (reply) =>
    reply(
      '',
      CHUNKED,
      text(9000),
      text(LONG),
      inChunks(text(9000), 2, '', 'X-Sum: 1\r\n').subarray(0, -2),
      stay,
    ),
  '/gzip': (reply) => reply('', coded('gzip', ZIPPED), ZIPPED.subarray(0, 700), ZIPPED, undefined, stay),
});
const PAGES: Pages = Object.fromEntries(
  Object.entries<(reply: Reply, count: number, socket: Socket) => void>({
    '/whole': (reply) => reply('', lengthOf(LONG), text(LONG)),
    // Its beginning is /whole.
    '/longer': (reply) => reply('', lengthOf(LONG * 2), text(LONG * 2)),
    '/short': (reply) => reply('', lengthOf(5), Buffer.from('short')),
    // Every fetch finds more.
    '/log': (reply, count) => reply('', lengthOf(LONG * count), text(LONG * count)),
    '/fin': (reply) => reply('', lengthOf(LONG * 2), text(LONG), text(LONG * 2)),
    '/none': (reply) => reply('', lengthOf(LONG), Buffer.alloc(0), text(LONG)),
    // Cut once, and whole when it is fetched again.
    '/once': (reply, count) => reply('', lengthOf(LONG), text(count === 1 ? 9 : LONG), text(LONG)),
    // Cut at another place each time.
    '/flaky': (reply, count) => reply('', lengthOf(LONG), text(1000 * count), text(LONG)),
    '/chunks': (reply) => reply('', CHUNKED, text(LONG), text(LONG + 1), chunk(text(LONG))),
    '/half-chunk': (reply) =>
      reply('', CHUNKED, text(LONG), text(LONG * 2), chunk(text(LONG * 2)).subarray(0, LONG + 7)),
    '/bad-chunk': (reply) =>
      reply(
        '',
        CHUNKED,
        text(LONG),
        text(LONG + 1),
        Buffer.concat([chunk(text(LONG)), Buffer.from('what\r\n')]),
      ),
    '/reset': (reply, _, socket) =>
      reply('', lengthOf(LONG), text(SENT), text(LONG), undefined, reset(socket)),
    '/reset-open': (reply, _, socket) =>
      reply('', head(''), text(SENT), text(LONG), undefined, reset(socket)),
    // The reset arrives together with the bytes.
    '/reset-soon': (reply, _, socket) =>
      reply('', head(''), text(SENT), text(LONG), undefined, () => socket.resetAndDestroy()),
    '/100': (reply) => reply('HTTP/1.1 100 Continue\r\n\r\n', lengthOf(5), Buffer.from('early')),
    '/103': (reply) =>
      reply(
        'HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\n\r\n',
        lengthOf(4),
        Buffer.from('hint'),
      ),
    '/both': (reply) =>
      reply('HTTP/1.1 100 x\r\n\r\nHTTP/1.1 103 Early\r\n\r\n', lengthOf(4), Buffer.from('both')),
    '/flood': (reply) =>
      reply('HTTP/1.1 100 Continue\r\n\r\n'.repeat(2000), lengthOf(5), Buffer.from('flood')),
    '/extensions': (reply) =>
      reply('', CHUNKED, text(9000), undefined, inChunks(text(9000), 7, ';name="a;b\\"";x')),
    '/trailers': (reply) =>
      reply(
        '',
        CHUNKED,
        text(9000),
        undefined,
        inChunks(text(9000), 3, '', 'X-Sum: 1\r\nContent-Length: 3\r\n'),
      ),
    '/equal-lengths': (reply) =>
      reply('', head('Content-Length: 9000\r\ncontent-length: 9000\r\n'), text(9000)),
    '/lengths': (reply) => reply('', head('Content-Length: 3\r\nContent-Length: 9000\r\n'), text(9000)),
    '/length-and-chunks': (reply) =>
      reply(
        '',
        head('Content-Length: 3\r\nTransfer-Encoding: chunked\r\n'),
        text(9000),
        undefined,
        inChunks(text(9000), 2),
      ),
    '/transfer-gzip': (reply) =>
      reply(
        '',
        head('Transfer-Encoding: gzip, chunked\r\n'),
        text(9000),
        undefined,
        inChunks(gzipSync(text(9000)), 5),
      ),
    '/long-transfer-gzip': (reply) =>
      reply(
        '',
        head('Transfer-Encoding: gzip, chunked\r\n'),
        text(LONG),
        undefined,
        inChunks(gzipSync(text(LONG)), 5),
      ),
    '/transfer-gzip-to-the-end': (reply) =>
      reply('', head('Transfer-Encoding: gzip\r\n'), text(9000), undefined, gzipSync(text(9000))),
    '/kept-1.0': (reply) =>
      reply(
        '',
        lengthOf(9000).replace('1.1', '1.0').replace('\r\n', '\r\nConnection: keep-alive\r\n'),
        text(9000),
      ),
    '/open-1.0': (reply) => reply('', head('Connection: keep-alive\r\n').replace('1.1', '1.0'), text(9000)),
    '/204': (reply) =>
      reply('', head('Content-Length: 4\r\n', '204 No Content'), NOTHING, NOTHING, Buffer.from('junk')),
    '/junk': (reply) =>
      reply(
        '',
        lengthOf(9000),
        text(9000),
        undefined,
        Buffer.concat([text(9000), Buffer.from(`${lengthOf(4)}more`)]),
      ),
    '/junk-after-chunks': (reply) =>
      reply(
        '',
        CHUNKED,
        text(9000),
        undefined,
        Buffer.concat([inChunks(text(9000), 2), Buffer.from(`${lengthOf(4)}more`)]),
      ),
    '/gzip': (reply) => reply('', coded('gzip', gzipSync(text(LONG))), gzipSync(text(LONG))),
    '/br': (reply) => reply('', coded('br', brotliCompressSync(text(LONG))), brotliCompressSync(text(LONG))),
    '/deflate': (reply) => reply('', coded('deflate', deflateSync(text(LONG))), deflateSync(text(LONG))),
    '/raw-deflate': (reply) =>
      reply('', coded('deflate', deflateRawSync(text(LONG))), deflateRawSync(text(LONG))),
    // Undone nowhere, and archived as they are.
    '/zstd': (reply) => reply('', coded('zstd', ZSTD), ZSTD),
    '/wrong-coding': (reply) => reply('', coded('br', gzipSync(text(LONG))), gzipSync(text(LONG))),
    '/plain-gzip': (reply) => reply('', coded('gzip', text(LONG)), text(LONG)),
    '/damaged-gzip': (reply) => reply('', coded('gzip', DAMAGED), DAMAGED),
    '/short-gzip': (reply) => reply('', coded('gzip', ZIPPED.subarray(0, 700)), ZIPPED.subarray(0, 700)),
    '/cut-gzip': (reply) => reply('', coded('gzip', ZIPPED), ZIPPED.subarray(0, 700), ZIPPED),
    '/gzip-and-more': (reply) => {
      const more = Buffer.concat([ZIPPED, Buffer.from('more')]);
      reply('', coded('gzip', more), more);
    },
    '/reset-after': (reply, _, socket) =>
      reply('', lengthOf(9000), text(9000), undefined, undefined, () => socket.resetAndDestroy()),
    '/reset-after-chunks': (reply, _, socket) =>
      reply('', CHUNKED, text(9000), undefined, inChunks(text(9000), 2), () => socket.resetAndDestroy()),
    '/cut-size': (reply) =>
      reply('', CHUNKED, text(9000), text(LONG), Buffer.concat([chunk(text(9000)), Buffer.from('ff')])),
    '/cut-size-line': (reply) =>
      reply('', CHUNKED, text(9000), text(LONG), Buffer.concat([chunk(text(9000)), Buffer.from('ff;name')])),
    '/cut-chunk-end': (reply) =>
      reply('', CHUNKED, text(9000), text(LONG), chunk(text(9000)).subarray(0, -1)),
    '/folded': (reply) => reply('', head('X-A: a\r\n b\r\nContent-Length: 4\r\n'), Buffer.from('fold')),
    ...CUT_CHUNKS,
    ...LENGTHS,
    ...TRANSFERS,
    ...CUT_CODINGS,
    ...OTHERS,
    ...WALL,
    '/bare': (reply) => reply('', head('Content-Length: 4\r\n').replaceAll('\r', ''), Buffer.from('bare')),
  }).map(([path, page]) => [
    path,
    (...parts) => {
      page(...parts);
      return true as const;
    },
  ]),
);

/** The value of WARC-Truncated by the path, if not all of the document was sent. */
const CUTS: Readonly<Record<string, string>> = { '/bad-chunk': 'unspecified' };

async function crawlTwice(
  t: Test,
  settings: CrawlOrderInput['settings'],
  maxLengthBytes: number,
  pages: Pages = PAGES,
  clock?: Clock,
) {
  const { url, sent, counts } = await oddServer(t, pages);
  const directory = join(t.testdir(), 'warc');
  const order: CrawlOrderInput = {
    warc: { directory, compress: false, digestHistory: true },
    settings: { lostMaxRetries: 3, lostRetryDelaySeconds: 0.01, ...settings, maxLengthBytes },
  };
  const requests: Map<string, number>[] = [];
  for (let run = 0; run < 2; run++) {
    await crawlOrdered(join(directory, '..', `g${run}`), `${url}/`, order, [], clock);
    requests.push(new Map(counts));
  }
  return { url, sent, requests, records: recordsIn(directory) };
}

for (const maxLengthBytes of [0, 300_000])
  t.test(
    `WARC 1.1: what a server sent is what its records have, up to ${maxLengthBytes || 'any'} bytes`,
    async (t) => {
      const { url, sent, requests, records } = await crawlTwice(t, {}, maxLengthBytes);
      const limit = maxLengthBytes || Number.POSITIVE_INFINITY;
      for (const path of Object.keys(PAGES)) {
        const replies = sent.filter((reply) => reply.path === path);
        const found = records.filter(
          ({ fields }) =>
            fields.get('WARC-Target-URI') === url + path &&
            /^re(?:sponse|visit)$/.test(fields.get('WARC-Type') ?? ''),
        );
        t.equal(found.length, replies.length, `${path}: a record of each reply`);
        for (const [index, { fields, block }] of found.entries()) {
          const { head: start, body, whole } = replies[index]!;
          const kept = body.subarray(0, limit);
          const isWhole = kept.length === whole.length;
          const archived = start.replace(/^transfer-encoding(?=:)/gim, 'x-orig-transfer-encoding');
          t.ok(
            block.subarray(0, archived.length).equals(Buffer.from(archived, 'latin1')),
            `${path}: its head`,
          );
          const isRevisit = fields.get('WARC-Type') === 'revisit';
          if (isRevisit) t.ok(isWhole, `${path}: only a whole body is a revisit`);
          else
            t.ok(
              block.subarray(archived.length).equals(kept),
              `${path}: ${block.length - archived.length} bytes`,
            );
          const cut = kept.length < body.length ? 'length' : (CUTS[path] ?? 'disconnect');
          t.equal(fields.get('WARC-Truncated'), isWhole ? undefined : cut, path);
          t.equal(hex(fields.get('WARC-Payload-Digest')), sha1(kept), `${path}: the digest of the payload`);
          t.equal(hex(fields.get('WARC-Block-Digest')), sha1(block), `${path}: the digest of the block`);
        }
      }
      const counted = (path: string) => requests[0]?.get(path);
      const whole = sent.filter(
        (reply) => reply.body.length === reply.whole.length && counted(reply.path) !== undefined,
      );
      for (const path of new Set(
        whole.map((reply) => reply.path).filter((name) => !['/once', '/'].includes(name)),
      ))
        t.equal(counted(path), 1, `${path} is requested once`);
      if (maxLengthBytes > 0) return;
      for (const path of ['/fin', '/reset', '/chunks', '/none', '/once'])
        t.equal(
          counted(path),
          2,
          `${path} is requested again, and not more often if it ends at the same place`,
        );
      t.equal(counted('/flaky'), 3, 'as often as lost connections are');
    },
  );

t.test('WARC 1.1: a body that takes too long is cut by time, wherever its framing is', async (t) => {
  const clock = new ManualClock();
  // The limit passes when all that the server sends has arrived.
  const pages = slow(async () => {
    for (let i = 0; i < 5; i++) await inputRead();
    clock.advance(500);
  });
  const { url, sent, requests, records } = await crawlTwice(t, { fetchSeconds: 0.5 }, 0, pages, clock);
  for (const path of Object.keys(pages)) {
    const replies = sent.filter((reply) => reply.path === path);
    const found = records.filter(
      ({ fields }) =>
        fields.get('WARC-Target-URI') === url + path &&
        /^re(?:sponse|visit)$/.test(fields.get('WARC-Type') ?? ''),
    );
    t.equal(found.length, requests[1]?.get(path), `${path}: a record of each reply`);
    for (const [index, { fields, block }] of found.entries()) {
      const { head: start, body } = replies[index]!;
      const archived = start.replace(/^transfer-encoding(?=:)/gim, 'x-orig-transfer-encoding');
      t.equal(fields.get('WARC-Type'), 'response', `${path}: no revisit`);
      t.equal(fields.get('WARC-Truncated'), 'time', path);
      t.ok(block.equals(Buffer.concat([Buffer.from(archived, 'latin1'), body])), `${path}: what came`);
      t.equal(hex(fields.get('WARC-Payload-Digest')), sha1(body));
    }
  }
});
