import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { BulkClient } from '../../clients/bulk/index.js';
import { decodeSoif } from '../../protocols/soif/index.js';
import { PLAIN_NODE } from '../helpers/plain-node.js';
import { document, ScriptedGatherd, soif } from '../servers/broker/scene.js';

const CHILD = fileURLToPath(new URL('bulk-kill-child.js', import.meta.url));
const KILLS = 20;
const OBJECTS = 120;
/** Milliseconds after which the brokers must agree. */
const PATIENCE = 60_000;
const WHO = {
  'Gatherer-Name': 'Example Gatherer',
  'Gatherer-Host': 'gatherer.example.org',
  'Gatherer-Version': '1.8',
};

interface Ringed {
  readonly directory: string;
  readonly port: number;
  readonly points: readonly object[];
  child: ChildProcess;
  /** Bytes written by the process: its progress. */
  written: number;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return address === null || typeof address === 'string' ? 0 : address.port;
}

function start(one: Omit<Ringed, 'child' | 'written'>): Ringed {
  const argv = [...PLAIN_NODE, CHILD, one.directory, String(one.port), JSON.stringify(one.points)];
  const child = spawn('env', argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ringed = { ...one, child, written: 0 };
  child.stdout?.on('data', (bytes: Buffer) => {
    ringed.written += bytes.length;
  });
  return ringed;
}

async function kill(one: Ringed): Promise<void> {
  const gone = once(one.child, 'exit');
  one.child.kill('SIGKILL');
  await gone;
}

/** Objects of the first broker's Gatherer after a number of rounds: of three objects one is updated, one refreshed, one deleted. */
function scenario(gatherd: ScriptedGatherd, round: number, base: number): string[] {
  const wanted: string[] = [];
  let updated = '';
  let refreshed = '';
  let deleted = '';
  gatherd.documents = [];
  for (let n = 0; n < OBJECTS; n++) {
    const url = `http://www.example.org/${n}`;
    // Each object changes in its own round.
    const event = (n % KILLS) + 1;
    const time = base + (round >= event ? event : 0);
    const text = document(
      url,
      { Title: `${n % 3 === 0 ? time : 'same'}`, 'Full-Text': 'x'.repeat(500) },
      time,
    );
    if (n % 3 === 2 && round >= event) {
      deleted += soif(url, { ...WHO, 'Update-Time': String(time) });
      continue;
    }
    wanted.push(`${url} ${time}`);
    gatherd.documents.push({ updateTime: time, text });
    if (n % 3 === 1 && round >= event) refreshed += soif(url, { ...WHO, 'Update-Time': String(time) });
    else updated += text;
  }
  gatherd.sections = `@DELETE {\n${deleted}}\n@REFRESH {\n${refreshed}}\n@UPDATE {\n${updated}}\n`;
  return wanted.sort();
}

/** Result of a full bulk transfer: `URL Update-Time` of every object, and a digest of all their bytes. */
async function dump(port: number): Promise<{ readonly objects: string[]; readonly digest: string }> {
  const objects = new Map<string, string>();
  const client = new BulkClient({ host: '127.0.0.1', port });
  for await (const { change, bytes } of client.transfer({ since: 0 })) {
    if (change !== 'update') continue;
    const object = decodeSoif(bytes);
    objects.set(`${object.url} ${object.text('Update-Time')}`, Buffer.from(bytes).toString('latin1'));
  }
  const sorted = [...objects].sort(([a], [b]) => (a < b ? -1 : 1));
  const digest = createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
  return { objects: sorted.map(([key]) => key), digest };
}

t.setTimeout(600_000);

t.test('BT-19, BT-26 three brokers in a ring, one of them killed twenty times, end equal', async (t) => {
  const gatherd = await ScriptedGatherd.listen();
  const root = await mkdtemp(join(tmpdir(), 'bulk-kill-'));
  const base = Math.floor(Date.now() / 1000) - 10_000;
  const ports = [await freePort(), await freePort(), await freePort()];
  const ring: Ringed[] = ports.map((port, i) => {
    const before = { host: '127.0.0.1', port: ports[(i + 2) % 3], type: 5, line: 2 };
    const points = i === 0 ? [gatherd.point(0), before] : [before];
    return start({ directory: join(root, String(i)), port, points });
  });
  t.teardown(async () => {
    for (const one of ring) await kill(one);
    await gatherd.close();
    await rm(root, { recursive: true, force: true });
  });
  let wanted = scenario(gatherd, 0, base);
  for (let round = 1; round <= KILLS; round++) {
    const victim = Math.floor(Math.random() * 3);
    const moment = Math.floor(Math.random() * 12) + 1;
    const one = ring[victim]!;
    // At any stage: opening, collecting, sending, indexing.
    while (one.written < moment) await pause(2);
    wanted = scenario(gatherd, round, base);
    await kill(one);
    ring[victim] = start(one);
  }
  const deadline = Date.now() + PATIENCE;
  let dumps: Awaited<ReturnType<typeof dump>>[] = [];
  const agreed = () =>
    dumps.length === 3 &&
    dumps.every(({ objects, digest }) => digest === dumps[0]?.digest && objects.length === wanted.length);
  while (!agreed() && Date.now() < deadline) {
    await pause(200);
    dumps = await Promise.all(ports.map(dump)).catch(() => []);
  }
  for (const [i, { objects }] of dumps.entries())
    t.same(objects, wanted, `broker ${i} has what the Gatherer has`);
  t.equal(new Set(dumps.map(({ digest }) => digest)).size, 1, 'byte for byte the same objects');
});
