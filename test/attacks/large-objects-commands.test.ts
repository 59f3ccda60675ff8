// Objects of 60 MB and many of almost a mebibyte: the commands and pages that read them stay within a fixed
// amount of memory, and change nothing.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { setInterval as every } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { decodeSoif } from '../../protocols/soif/index.js';
import { BrokerStore } from '../../storage/index.js';
import { PROGRAM } from '../helpers/cli.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { document, NOW } from '../servers/broker/helpers.js';
import { startPeer } from './endless-peers.js';
import { startLargeBroker } from './large-objects-broker.js';

const MAX_MB = 350;
/** Pages of Node itself, which the system counts as those of files, MB. */
const PROGRAM_MB = 45;
const OPTIONS = { skip: process.platform !== 'linux' };
const LARGE = 3;
const MEDIUM = 150;

const block = Buffer.from('a line of words as documents have them, long enough to be a line\n'.repeat(1000));
const text = (bytes: number): Buffer => Buffer.alloc(bytes, block);
const LARGE_TEXT = text(60_000_000);
const MEDIUM_TEXT = text(1_000_000);

function objectOf(n: number): Buffer {
  const body = n < LARGE ? LARGE_TEXT : MEDIUM_TEXT;
  const [first = '', ...tail] = document(
    `http://a.test/${n}`,
    { Title: `Object ${n}` },
    NOW - 1000 + n,
  ).split('\n');
  const head = `${first}\nText{${body.length}}:\t`;
  return Buffer.concat([Buffer.from(head), body, Buffer.from(`\n${tail.join('\n')}`)]);
}

interface Run {
  readonly peakMB: number;
  readonly digest: string;
  readonly status: number | null;
  readonly errors: string;
}

/** Runs a command and watches its memory, mapped files not counted. */
async function run(args: readonly string[]): Promise<Run> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const hash = createHash('sha256');
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => hash.update(chunk));
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(0, 2000);
  });
  const over = new AbortController();
  let peak = 0;
  const watch = (async () => {
    for await (const _ of every(10, undefined, { signal: over.signal })) {
      const status = readFileSync(`/proc/${child.pid}/status`, 'latin1');
      peak = Math.max(peak, Number(/RssAnon:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024);
    }
  })().catch(() => undefined);
  const [status] = (await once(child, 'close')) as [number | null];
  over.abort();
  await watch;
  return { peakMB: Math.round(peak / 1e6) + PROGRAM_MB, digest: hash.digest('hex'), status, errors };
}

async function checkRun(t: Test, args: readonly string[], name: string, maxMB = MAX_MB): Promise<Run> {
  const result = await run(args);
  t.comment(`${name}: ${result.peakMB} MB`);
  t.equal(result.status, 0, `${name}: ${result.errors}`);
  t.ok(result.peakMB < maxMB, `${name}: ${result.peakMB} MB at most`);
  return result;
}

t.test('the commands that read SOIF files and stores', OPTIONS, async (t) => {
  const directory = await temporaryDirectory(t);
  const file = join(directory, 'all.soif');
  const broker = join(directory, 'broker');
  await mkdir(broker);
  const whole = createHash('sha256');
  const values = createHash('sha256');
  {
    await using store = await BrokerStore.open(join(broker, 'store'), { now: () => NOW });
    const out = createWriteStream(file);
    for (let n = 0; n < LARGE + MEDIUM; n++) {
      const bytes = objectOf(n);
      whole.update(bytes);
      values.update(n < LARGE ? LARGE_TEXT : MEDIUM_TEXT).update('\n');
      if (!out.write(bytes)) await once(out, 'drain');
      const object = decodeSoif(bytes, { maxObjectBytes: bytes.length });
      await store.apply([{ kind: 'update', object, bytes }]);
    }
    out.end();
    await once(out, 'finish');
  }
  const digest = whole.digest('hex');
  t.equal((await checkRun(t, ['soif', 'cat', file], 'soif cat')).digest, digest);
  await checkRun(t, ['soif', 'cat', '--json', file], 'soif cat --json');
  // It holds one object, in memory that grows by doubling.
  await checkRun(t, ['soif', 'check', file], 'soif check');
  t.equal((await checkRun(t, ['print-attr', 'Text', file], 'print-attr')).digest, values.digest('hex'));
  const bare = await checkRun(t, ['print-template', '--no-print-time', file], 'print-template');
  t.equal(bare.digest, digest);
  await checkRun(t, ['print-urlrefs', file], 'print-urlrefs');
  await checkRun(t, ['store', 'check', broker], 'store check');
  const original = join(directory, 'original');
  await checkRun(t, ['registry', 'export', '--data', broker, '--to', original], 'registry export');
  await checkRun(t, ['registry', 'check', original], 'registry check');
  const copy = join(directory, 'copy');
  await checkRun(t, ['registry', 'import', '--from', original, '--data', copy], 'registry import');
  t.equal((await stat(join(original, 'objects', '1', 'OBJ1'))).size, objectOf(0).length);
  await using imported = await BrokerStore.open(join(copy, 'store'), { now: () => NOW });
  const stored = createHash('sha256');
  for await (const page of imported.stored()) {
    for (const { bytes } of page) {
      if (bytes instanceof Uint8Array) stored.update(bytes);
      else for await (const piece of bytes.pieces()) stored.update(piece);
    }
  }
  t.equal(stored.digest('hex'), digest, 'the imported objects are those that were exported');
});

async function get(
  port: number,
  path: string,
): Promise<{ readonly status: number; readonly digest: string }> {
  const call = request({ port, path, host: '127.0.0.1', agent: false });
  call.end();
  const [reply] = (await once(call, 'response')) as [NodeJS.ReadableStream & { statusCode: number }];
  const hash = createHash('sha256');
  for await (const chunk of reply) hash.update(chunk);
  return { status: reply.statusCode, digest: hash.digest('hex') };
}

t.test('objects that are requested one by one, and their pages', OPTIONS, async (t) => {
  const names = Array.from({ length: LARGE }, (_, n) => `http://a.test/${n}`);
  const refreshes = names.map((url, n) => document(url, {}, NOW - 1000 + n)).join('');
  const peer = await startPeer(
    t,
    'gatherd',
    () => [`@DELETE {\n}\n@REFRESH {\n${refreshes}}\n@UPDATE {\n}\n`],
    (oid) => {
      const bytes = objectOf(Number(oid.split('/').at(-1)));
      return Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, i) =>
        bytes.subarray(i * 65_536, (i + 1) * 65_536),
      );
    },
  );
  const broker = await startLargeBroker(t);
  await broker.figures();
  const collected = await broker.collect(peer.point(1));
  t.match(collected, { received: LARGE, count: LARGE, complete: true, reasons: [] });
  t.comment(`SEND-OBJECT: ${collected.peakOwnMB} MB`);
  t.ok(collected.peakOwnMB < MAX_MB, `SEND-OBJECT: ${collected.peakOwnMB} MB at most`);
  const expected = createHash('sha256').update(objectOf(0)).digest('hex');
  const path = (oid: number) => `/Harvest/brokers/example/objects/${oid}/OBJ${oid}`;
  const raw = await Promise.all(Array.from({ length: 8 }, () => get(broker.webPort, path(1))));
  for (const { status, digest } of raw) t.strictSame([status, digest], [200, expected]);
  const shown = await Promise.all(
    [1, 2, 3, 1, 2, 3].map((oid) =>
      get(broker.webPort, `/Harvest/cgi-bin/DisplayObject.cgi?object=${path(oid)}`),
    ),
  );
  t.ok(shown.every(({ status }) => status === 200));
  const { peakOwnMB } = await broker.figures();
  t.comment(`pages: ${peakOwnMB} MB`);
  t.ok(peakOwnMB < MAX_MB, `pages: ${peakOwnMB} MB at most`);
  const file = join(await temporaryDirectory(t), 'bulk.soif');
  for (const more of [[], ['--json'], ['--interface', '2']])
    await checkRun(
      t,
      ['bulk', `localhost:${broker.port}`, '--output', file, ...more],
      `bulk ${more.join(' ')}`,
    );
  t.match((await readFile(file)).subarray(0, 200).toString('latin1'), /@DELETE/);
});
