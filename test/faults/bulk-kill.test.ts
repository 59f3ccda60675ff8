// kill -9 in a ring of three Brokers that collect from each other: in the end all have the same objects.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { BulkClient } from '../../clients/bulk/index.js';
import { decodeSoif } from '../../protocols/soif/index.js';
import { freePort } from '../helpers/daemon.js';
import { EventCount } from '../helpers/event-count.js';
import { Random } from '../helpers/random.js';
import { byTier, SEED } from '../helpers/seed.js';
import { document, ScriptedGatherd, soif } from '../servers/broker/helpers.js';

const CHILD = fileURLToPath(new URL('bulk-kill-child.js', import.meta.url));
const KILLS = byTier(3, 20);
const OBJECTS = 120;
/** Collections of each broker after the last kill, within which they must agree. */
const COLLECTIONS = 100;
const GATHERER = {
  'Gatherer-Name': 'Example Gatherer',
  'Gatherer-Host': 'gatherer.example.org',
  'Gatherer-Version': '1.8',
};

/** A broker of the ring. */
interface RingMember {
  readonly directory: string;
  readonly port: number;
  readonly points: readonly object[];
  child: ChildProcess;
  /** The progress bytes that the process has written: one at its start, one for each collection of a point. */
  readonly progress: EventCount;
  /** Rejects when the process ends. */
  readonly ended: Promise<never>;
}

function start(member: Omit<RingMember, 'child' | 'progress' | 'ended'>): RingMember {
  const argv = [CHILD, member.directory, String(member.port), JSON.stringify(member.points)];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  const progress = new EventCount();
  child.stdout?.on('data', (bytes: Buffer) => progress.add(bytes.length));
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`a broker ended with status ${String(code)}`);
  });
  ended.catch(() => undefined);
  return { ...member, child, progress, ended };
}

async function kill({ child }: RingMember): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/**
 * Sets the objects of the first broker's Gatherer after a number of rounds: of three objects one is updated,
 * one refreshed, one deleted. Returns `URL Update-Time` of each remaining object, sorted.
 */
function setDocuments(gatherd: ScriptedGatherd, round: number, base: number): string[] {
  const expected: string[] = [];
  let updated = '';
  let refreshed = '';
  let deleted = '';
  gatherd.documents = [];
  for (let n = 0; n < OBJECTS; n++) {
    const url = `http://www.example.org/${n}`;
    // Each object changes in one round.
    const changeRound = (n % KILLS) + 1;
    const time = base + (round >= changeRound ? changeRound : 0);
    const text = document(
      url,
      { Title: `${n % 3 === 0 ? time : 'same'}`, 'Full-Text': 'x'.repeat(500) },
      time,
    );
    if (n % 3 === 2 && round >= changeRound) {
      deleted += soif(url, { ...GATHERER, 'Update-Time': String(time) });
      continue;
    }
    expected.push(`${url} ${time}`);
    gatherd.documents.push({ updateTime: time, text });
    if (n % 3 === 1 && round >= changeRound)
      refreshed += soif(url, { ...GATHERER, 'Update-Time': String(time) });
    else updated += text;
  }
  gatherd.sections = `@DELETE {\n${deleted}}\n@REFRESH {\n${refreshed}}\n@UPDATE {\n${updated}}\n`;
  return expected.sort();
}

/**
 * Runs a full bulk transfer; returns `URL Update-Time` of each object, sorted, and a digest of all their bytes.
 */
async function dump(port: number): Promise<{ readonly objects: string[]; readonly digest: string }> {
  const objects = new Map<string, string>();
  const client = new BulkClient({ host: '127.0.0.1', port });
  for await (const { kind, bytes } of client.changes({ since: 0 })) {
    if (kind !== 'update') continue;
    const object = decodeSoif(bytes);
    objects.set(`${object.url} ${object.text('Update-Time')}`, Buffer.from(bytes).toString('latin1'));
  }
  const sorted = [...objects].sort(([a], [b]) => (a < b ? -1 : 1));
  const digest = createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
  return { objects: sorted.map(([key]) => key), digest };
}

t.test(`BT-19, BT-26: three brokers in a ring, killed at random, converge (seed ${SEED})`, async (t) => {
  const random = new Random(SEED);
  const gatherd = await ScriptedGatherd.listen();
  const root = await mkdtemp(join(tmpdir(), 'bulk-kill-'));
  const base = Math.floor(Date.now() / 1000) - 10_000;
  const ports = [await freePort(), await freePort(), await freePort()];
  const ring: RingMember[] = ports.map((port, i) => {
    const predecessor = { host: '127.0.0.1', port: ports[(i + 2) % 3], type: 5, line: 2 };
    const points = i === 0 ? [gatherd.point(0), predecessor] : [predecessor];
    return start({ directory: join(root, String(i)), port, points });
  });
  t.teardown(async () => {
    for (const member of ring) await kill(member);
    await gatherd.close();
    await rm(root, { recursive: true, force: true });
  });
  let expected = setDocuments(gatherd, 0, base);
  for (let round = 1; round <= KILLS; round++) {
    const victim = random.below(3);
    const member = ring[victim]!;
    // The kill can come at any stage: opening, collecting, sending, indexing.
    await Promise.race([member.progress.reached(random.between(1, 12)), member.ended]);
    expected = setDocuments(gatherd, round, base);
    await kill(member);
    ring[victim] = start(member);
  }
  let dumps: Awaited<ReturnType<typeof dump>>[] = [];
  const haveConverged = () =>
    dumps.length === 3 &&
    dumps.every(({ objects, digest }) => digest === dumps[0]?.digest && objects.length === expected.length);
  const last = ring.map(({ progress }) => progress.count + COLLECTIONS);
  for (;;) {
    // A broker that has just been started does not listen yet.
    dumps = await Promise.all(ports.map(dump)).catch(() => []);
    if (haveConverged() || ring.every(({ progress }, i) => progress.count >= last[i]!)) break;
    await Promise.all(ring.map(({ progress, ended }) => Promise.race([progress.further(4), ended])));
  }
  for (const [i, { objects }] of dumps.entries())
    t.same(objects, expected, `broker ${i} has the objects of the Gatherer`);
  t.equal(
    new Set(dumps.map(({ digest }) => digest)).size,
    1,
    'the objects of all brokers have the same bytes',
  );
});
