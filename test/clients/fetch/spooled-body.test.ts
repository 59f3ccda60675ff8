// Bodies that are too long for memory: they go to a file as they arrive.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { closeBodies, createFetcher, type FetchRequest, isStored } from '../../../clients/fetch/index.js';
import { SpooledBody } from '../../../clients/fetch/spooled-body.js';
import { StorageError } from '../../../protocols/errors.js';
import { assertProperty } from '../../helpers/property.js';
import { bytesOf, MemoryFiles } from './memory-files.js';
import { scripted } from './scripted.js';

const sha1 = (bytes: Uint8Array) => createHash('sha1').update(bytes).digest('hex');

t.test('property: what was pushed is kept up to the limit, in memory or on disk', async (t) => {
  await assertProperty(
    fc.asyncProperty(
      fc.array(fc.nat({ max: 90_000 }), { maxLength: 12 }),
      fc.oneof(fc.nat({ max: 600_000 }), fc.constant(Number.POSITIVE_INFINITY)),
      async (sizes, maxBytes) => {
        const files = new MemoryFiles();
        const body = new SpooledBody({
          maxBytes,
          open: files.create,
          onRoom: () => undefined,
          onFailure: (error) => t.fail(error.message),
        });
        const all = Buffer.concat(sizes.map((size, index) => Buffer.alloc(size, index + 1)));
        let at = 0;
        for (const size of sizes) {
          body.push(all.subarray(at, at + size));
          at += size;
          if (size % 3 === 0) await new Promise(setImmediate);
        }
        const kept = await body.finish();
        const expected = all.subarray(0, maxBytes);
        t.equal(body.length, all.length);
        t.equal(body.truncated, all.length > maxBytes);
        t.equal(isStored(kept), expected.length > 256 * 1024);
        t.ok((await bytesOf(kept)).equals(expected));
        if (!isStored(kept)) return;
        t.equal(Buffer.from(kept.sha1).toString('hex'), sha1(expected));
        await kept.close();
        t.equal(files.open, 0);
      },
    ),
    { numRuns: 40 },
  );
});

t.test('a sender is stopped while the disk is slower, and only one file is opened', async (t) => {
  const files = new MemoryFiles();
  let release: (() => void) | undefined;
  files.gate = () =>
    new Promise((resolve) => {
      release = resolve;
    });
  let rooms = 0;
  const body = new SpooledBody({
    maxBytes: Number.POSITIVE_INFINITY,
    open: files.create,
    onRoom: () => rooms++,
    onFailure: (error) => t.fail(error.message),
  });
  let pushed = 0;
  for (; !body.isFull; pushed++) body.push(Buffer.alloc(100_000, pushed));
  t.ok(pushed <= 14, `${pushed} pieces wait`);
  while (body.isFull) {
    await new Promise(setImmediate);
    release?.();
  }
  t.equal(rooms, 1);
  files.gate = async () => undefined;
  const kept = await body.finish();
  t.equal(kept.length, pushed * 100_000);
  t.equal(files.opened, 1);
});

t.test('a file that cannot be written or opened is an error, and is closed', async (t) => {
  for (const opens of [true, false]) {
    const files = new MemoryFiles();
    files.fullAt = 500_000;
    const failures: string[] = [];
    const body = new SpooledBody({
      maxBytes: Number.POSITIVE_INFINITY,
      open: opens ? files.create : () => Promise.reject(new StorageError('no space left')),
      onRoom: () => undefined,
      onFailure: ({ message }) => failures.push(message),
    });
    for (let count = 0; count < 20; count++) {
      body.push(Buffer.alloc(100_000));
      await new Promise(setImmediate);
    }
    await t.rejects(body.finish(), { code: 'ERR_STORAGE' });
    t.same([failures, files.open, body.isFull], [['no space left'], 0, false]);
  }
  const files = new MemoryFiles();
  const body = new SpooledBody({
    maxBytes: Number.POSITIVE_INFINITY,
    open: files.create,
    onRoom: () => undefined,
    onFailure: (error) => t.fail(error.message),
  });
  body.push(Buffer.alloc(300_000));
  await body.drop();
  t.same([files.opened, files.open], [1, 0]);
});

const BODY = Buffer.from('a line of the body\n'.repeat(50_000));
const CHUNKED = Buffer.concat([
  ...Array.from({ length: 10 }, (_, index) => {
    const piece = BODY.subarray((index * BODY.length) / 10, ((index + 1) * BODY.length) / 10);
    return Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]);
  }),
  Buffer.from('0\r\n\r\n'),
]);

/** Fetches what a server sends, with files for long bodies. */
async function fetchSpooled(
  t: Test,
  files: MemoryFiles,
  wire: Uint8Array,
  request: Partial<FetchRequest> = {},
  maxBytes = Number.POSITIVE_INFINITY,
) {
  const { port } = await scripted(t, (socket) => socket.once('data', () => socket.end(wire)));
  await using fetcher = createFetcher({ userAgent: 'example/1.0' });
  return await fetcher.fetch({
    url: `http://127.0.0.1:${port}/`,
    maxBytes: 100_000,
    keepWire: 'messages',
    keepIncomplete: true,
    spool: { maxBytes, open: files.create },
    ...request,
  });
}

const head = (text: string) => Buffer.from(`HTTP/1.1 200 OK\r\n${text}\r\n`);

t.test('a response has its whole body on disk, and its beginning in memory', async (t) => {
  const files = new MemoryFiles();
  const length = head(`Content-Length: ${BODY.length}\r\n`);
  const plain = await fetchSpooled(t, files, Buffer.concat([length, BODY]));
  t.ok(Buffer.from(plain.body).equals(BODY.subarray(0, 100_000)));
  t.same([plain.truncated, plain.wire?.truncated], [true, false]);
  t.ok((await bytesOf(plain.wire?.body)).equals(BODY));
  t.equal(plain.wire?.framed, undefined);
  await closeBodies(plain);

  const zipped = gzipSync(BODY, { level: 0 });
  const coded = Buffer.concat([
    head(`Content-Encoding: gzip\r\nContent-Length: ${zipped.length}\r\n`),
    zipped,
  ]);
  const decoded = await fetchSpooled(t, files, coded);
  t.ok(Buffer.from(decoded.body).equals(BODY.subarray(0, 100_000)), 'the beginning is decoded');
  t.ok((await bytesOf(decoded.wire?.body)).equals(zipped), 'the whole is as it was sent');
  await closeBodies(decoded);
  const whole = await fetchSpooled(t, files, coded, { maxBytes: 10_000_000 });
  t.ok(Buffer.from(whole.body).equals(BODY));
  t.equal(whole.truncated, false);
  await closeBodies(whole);

  const chunks = Buffer.concat([head('Transfer-Encoding: chunked\r\n'), CHUNKED]);
  const framed = await fetchSpooled(t, files, chunks, { keepWire: 'framing' });
  t.ok((await bytesOf(framed.wire?.body)).equals(BODY));
  t.ok((await bytesOf(framed.wire?.framed)).equals(CHUNKED));
  await closeBodies(framed);

  const cut = await fetchSpooled(t, files, Buffer.concat([length, BODY]), {}, 300_000);
  t.ok((await bytesOf(cut.wire?.body)).equals(BODY.subarray(0, 300_000)));
  t.equal(cut.wire?.truncated, true);
  await closeBodies(cut);
  const early = await fetchSpooled(t, files, Buffer.concat([length, BODY.subarray(0, 400_000)]));
  t.ok((await bytesOf(early.wire?.body)).equals(BODY.subarray(0, 400_000)), 'what came is kept');
  t.type(early.lenient?.problem, 'string');
  await closeBodies(early);
  t.equal(files.open, 0);

  const short = await fetchSpooled(t, files, Buffer.concat([head(''), Buffer.from('short')]));
  t.notOk(isStored(short.wire!.body));
  t.not(short.body.buffer, (short.wire!.body as Uint8Array).buffer, 'the body may be transferred');
});

t.test('no file stays open after a failure', async (t) => {
  const files = new MemoryFiles();
  const length = head(`Content-Length: ${BODY.length}\r\n`);
  await t.rejects(
    fetchSpooled(t, files, Buffer.concat([length, BODY.subarray(0, 400_000)]), { keepIncomplete: false }),
    /the server broke the connection/,
  );
  // A gzip header, and then no deflate.
  const damaged = Buffer.concat([gzipSync('').subarray(0, 10), Buffer.alloc(600_000, 0xff)]);
  const odd = Buffer.concat([
    head(`Content-Encoding: gzip\r\nContent-Length: ${damaged.length}\r\n`),
    damaged,
  ]);
  await t.rejects(fetchSpooled(t, files, odd), /cannot be decoded as gzip/);
  const kept = await fetchSpooled(t, files, odd, { keepUndecoded: true });
  t.match(kept.undecoded, /cannot be decoded as gzip/);
  t.same([kept.body.length, kept.truncated], [100_000, true]);
  await closeBodies(kept);
  files.fullAt = 600_000;
  await t.rejects(fetchSpooled(t, files, Buffer.concat([length, BODY])), { code: 'ERR_STORAGE' });
  t.equal(files.open, 0);
});
