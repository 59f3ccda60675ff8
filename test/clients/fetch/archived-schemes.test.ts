// Long bodies of every scheme but HTTP, for archives: whole on disk, and what cut those that are not whole.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import {
  closeBodies,
  createFetcher,
  type FetcherOptions,
  type FetchRequest,
  type FetchResult,
  isPayloadWhole,
  isStored,
  truncationOf,
} from '../../../clients/fetch/index.js';
import { ManualClock } from '../../helpers/manual-clock.js';
import { waitUntil } from '../../helpers/wait-until.js';
import { bytesOf, MemoryFiles } from './memory-files.js';
import { onLines, scripted } from './scripted.js';

const LINES = Array.from(
  { length: 100_000 },
  (_, i) => `${i % 7 === 0 ? '.' : ''}${i % 49 === 0 ? '.' : ''}line ${i}\r\n`,
);
const TEXT = Buffer.from(LINES.join(''));
/** As Gopher and news send it. */
const STUFFED = Buffer.from(LINES.map((line) => (line.startsWith('.') ? `.${line}` : line)).join(''));
const END = Buffer.from('.\r\n');
/** Bytes that arrive of a body that is cut. */
const PART = 300_000;

/** One way to a document of {@link TEXT}. */
interface Way {
  readonly name: string;
  /** Starts a server that sends these bytes of its reply, and then does what `then` says. */
  readonly open: (
    t: Test,
    sent: (whole: Buffer) => Buffer,
    then: Then,
  ) => Promise<{ url: string; options?: Partial<FetcherOptions> }>;
  /** The server announces the length, or the end. */
  readonly hasEnd: boolean;
}

/** What a server does when it has sent its bytes. */
type Then = (socket: Socket) => void;
const close: Then = (socket) => socket.end();
const stay: Then = () => undefined;
/** Resets the connection when a part of the body is on disk. */
const resetAfter =
  (files: MemoryFiles): Then =>
  (socket) =>
    void waitUntil(() => files.opened > 0).then(() => socket.resetAndDestroy());

const ways: readonly Way[] = [
  {
    name: 'a Gopher file',
    hasEnd: false,
    open: (t, sent, then) => gopher(t, '9/file', sent(TEXT), then),
  },
  {
    name: 'a Gopher text',
    hasEnd: false,
    open: (t, sent, then) => gopher(t, '0/text', sent(Buffer.concat([STUFFED, END])), then),
  },
  {
    name: 'a Gopher text without an end mark',
    hasEnd: false,
    open: (t, sent, then) => gopher(t, '0/text', sent(TEXT), then),
  },
  {
    name: 'Gopher+ with a length',
    hasEnd: true,
    open: (t, sent, then) =>
      gopher(t, '9/file%09%09+', sent(Buffer.concat([Buffer.from(`+${TEXT.length}\r\n`), TEXT])), then),
  },
  {
    name: 'Gopher+ with an end mark',
    hasEnd: false,
    open: (t, sent, then) =>
      gopher(t, '0/file%09%09+', sent(Buffer.concat([Buffer.from('+-1\r\n'), STUFFED, END])), then),
  },
  {
    name: 'a news article',
    hasEnd: true,
    open: async (t, sent, then) => {
      const { port } = await scripted(t, (socket) => {
        socket.on('error', () => undefined).write('200 ready\r\n');
        onLines(socket, (line) => {
          if (line === 'MODE READER') socket.write('200 yes\r\n');
          else {
            socket.write('220 1 <a@b> comes\r\n');
            send(socket, sent(Buffer.concat([STUFFED, END])), then);
          }
        });
      });
      return { url: `news://127.0.0.1:${port}/a@b` };
    },
  },
  {
    name: 'FTP through a proxy',
    hasEnd: true,
    open: async (t, sent, then) => {
      const { port } = await scripted(t, (socket) => {
        socket
          .on('error', () => undefined)
          .once('data', () => {
            socket.write(`HTTP/1.1 200 OK\nContent-Length: ${TEXT.length}\n\n`);
            send(socket, sent(TEXT), then);
          });
      });
      return { url: 'ftp://files.example/file', options: { ftpProxy: `127.0.0.1:${port}` } };
    },
  },
];

function send(socket: Socket, bytes: Buffer, then: Then): void {
  socket.write(bytes, () => then(socket));
}

async function gopher(t: Test, path: string, reply: Buffer, then: Then) {
  const { port } = await scripted(t, (socket) => {
    socket.on('error', () => undefined).once('data', () => send(socket, reply, then));
  });
  return { url: `gopher://127.0.0.1:${port}/${path}` };
}

/** Fetches as an archive does: a short beginning in memory, all of it on disk. */
async function archived(
  t: Test,
  { url, options = {} }: Awaited<ReturnType<Way['open']>>,
  files: MemoryFiles,
  request: Partial<FetchRequest> = {},
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<{ readonly result: FetchResult; readonly payload: Buffer }> {
  const fetcher = createFetcher({ userAgent: 'x', ...options });
  t.teardown(() => fetcher.close());
  const result = await fetcher.fetch({
    url,
    maxBytes: 100_000,
    keepWire: 'messages',
    keepIncomplete: true,
    keepLate: true,
    spool: { maxBytes, open: files.create },
    ...request,
  });
  const { wire, body } = result;
  const payload = await bytesOf(wire?.body ?? body);
  if (wire !== undefined && isStored(wire.body))
    t.equal(
      Buffer.from(wire.body.sha1).toString('hex'),
      createHash('sha1').update(payload).digest('hex'),
      'its digest',
    );
  await closeBodies(result);
  t.equal(files.open, 0, 'no file stays open');
  return { result, payload };
}

for (const { name, open, hasEnd } of ways) {
  t.test(`${name}: a long one is whole on disk, and its beginning in memory`, async (t) => {
    const whole = await open(t, (bytes) => bytes, close);
    const { result, payload } = await archived(t, whole, new MemoryFiles());
    t.ok(payload.equals(TEXT), `${payload.length} bytes`);
    t.ok(isStored(result.wire!.body));
    t.ok(Buffer.from(result.body).equals(payload.subarray(0, 100_000)));
    t.same([result.truncated, truncationOf(result)], [true, undefined]);
  });

  t.test(`${name}: one that ends too soon is kept as far as it came, and is not whole`, async (t) => {
    for (const ends of hasEnd ? ['by FIN', 'by RST'] : ['by RST']) {
      const files = new MemoryFiles();
      const way = await open(
        t,
        (bytes) => bytes.subarray(0, PART),
        ends === 'by FIN' ? close : resetAfter(files),
      );
      const { result, payload } = await archived(t, way, files);
      t.equal(truncationOf(result), 'disconnect', ends);
      t.equal(isPayloadWhole(result), false);
      t.ok(payload.length > 0 && payload.length <= PART, `${payload.length} bytes`);
      t.ok([TEXT, STUFFED].some((text) => text.includes(payload)));
      await t.rejects(archived(t, way, files, { keepIncomplete: false }), { code: 'ERR_CONNECTION' });
      t.equal(files.open, 0);
    }
  });

  t.test(`${name}: one that takes too long is cut by time, with silence and without`, async (t) => {
    const clock = new ManualClock();
    const way = await open(t, (bytes) => bytes.subarray(0, PART), stay);
    const files = new MemoryFiles();
    const late = archived(t, { ...way, options: { ...way.options, clock } }, files, { maxTransferMs: 5000 });
    await waitUntil(() => files.opened > 0);
    clock.advance(5000);
    const { result } = await late;
    t.equal(truncationOf(result), 'time');
    t.match(result.late, /not done within 5000 ms/);
    const silent = await archived(t, way, new MemoryFiles(), { timeoutMs: 300 });
    t.equal(truncationOf(silent.result), 'time');
  });

  t.test(`${name}: a full disk is no failure of the server, and no file stays open`, async (t) => {
    const files = new MemoryFiles();
    files.fullAt = 400_000;
    const whole = await open(t, (bytes) => bytes, close);
    await t.rejects(archived(t, whole, files), { code: 'ERR_STORAGE' });
    t.equal(files.open, 0);
  });

  t.test(`${name}: one above the limit of the archive is cut by length`, async (t) => {
    const whole = await open(t, (bytes) => bytes, close);
    const { result, payload } = await archived(t, whole, new MemoryFiles(), {}, PART);
    t.equal(truncationOf(result), 'length');
    t.equal(payload.length, PART);
  });
}

t.test('a local file, and one in place of a document, is copied to disk as a whole', async (t) => {
  const directory = t.testdir();
  writeFileSync(join(directory, 'long.txt'), TEXT);
  const options = { localMappings: [{ prefix: 'http://site.example/', path: `${directory}/` }] };
  for (const url of [`file://${directory}/long.txt`, 'http://site.example/long.txt']) {
    const files = new MemoryFiles();
    const { result, payload } = await archived(t, { url, options }, files);
    t.ok(payload.equals(TEXT));
    t.ok(isStored(result.wire!.body));
    t.same([result.local, result.truncated, truncationOf(result)], [true, true, undefined]);
    const limited = await archived(t, { url, options }, files, {}, PART);
    t.same([truncationOf(limited.result), limited.payload.length], ['length', PART]);
    files.fullAt = 400_000;
    await t.rejects(archived(t, { url, options }, files), { code: 'ERR_STORAGE' });
    t.equal(files.open, 0);
  }
  const plain = await createFetcher({ userAgent: 'x' }).fetch({
    url: `file://${directory}/long.txt`,
    maxBytes: 1000,
  });
  t.same([plain.wire, plain.body.length, plain.truncated], [undefined, 1000, true]);
});

t.test('a file that a proxy compresses is archived as it is', async (t) => {
  const zipped = gzipSync(TEXT);
  const { port } = await scripted(t, (socket) =>
    socket.once('data', () => {
      socket.end(
        Buffer.concat([
          Buffer.from(
            `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${zipped.length}\r\n\r\n`,
          ),
          zipped,
        ]),
      );
    }),
  );
  const way = { url: 'ftp://files.example/file', options: { ftpProxy: `127.0.0.1:${port}` } };
  const { payload } = await archived(t, way, new MemoryFiles(), { maxBytes: 10_000_000 });
  t.ok(payload.equals(TEXT));
});
