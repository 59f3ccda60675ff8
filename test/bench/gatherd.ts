// Benchmark `gatherd`: the compressed export of a large database to one and to many clients, and the clear one,
// compared with nginx sending the same bytes as a file; the cost of an update compared with a complete
// transfer; the cost of a thousand idle sessions. Every server is a separate process; the client is
// discard-client.ts. Needs nginx.
//   npm run bench -- gatherd [--objects N] [--runs N] [--clients N] [--idle N]
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { GathererStore } from '../../storage/index.js';
import { PROGRAM } from '../helpers/cli.js';
import { startNginx } from './bulk/nginx.js';
import { readNaturalText, soifOf, TEN_YEARS, timeOf, urlOf } from './bulk/objects.js';
import type { Measured, Transfer } from './discard-client.js';
import { median, print, readNumbers, scratchDirectory, writeResult } from './harness.js';

const CLIENT = fileURLToPath(new URL('./discard-client.js', import.meta.url));
const HOST = '127.0.0.1';

/** Runs the comparison; see the head of the file. */
export async function run(args: string[]): Promise<void> {
  const { objects, ...times } = readNumbers(args, { objects: 100_000, runs: 7, clients: 32, idle: 1000 });
  using directory = scratchDirectory();
  const scratch = directory.path;
  chmodSync(scratch, 0o755);
  const servers: ChildProcess[] = [];
  try {
    const database = await makeDatabase(scratch, objects);
    const gatherd = await startGatherd(join(scratch, 'data'), servers);
    writeFileSync(
      join(database.directory, 'clear'),
      gunzipSync(readFileSync(join(database.directory, 'All-Templates.gz'))),
    );
    const nginx = await startNginx(scratch, database.directory, 'EXPORT', (child) => servers.push(child));
    const plan = planTransfers(gatherd.port, nginx, times.clients, objects);
    await measure(plan, database, gatherd, times.runs, times.idle);
  } finally {
    for (const server of servers) server.kill('SIGKILL');
  }
}

/** The published database. */
interface Database {
  readonly directory: string;
  readonly rawBytes: number;
  readonly publishSeconds: number;
}

/** The running gatherd. */
interface Daemon {
  readonly pid: number;
  readonly port: number;
}

/** Stores objects of about 2 kB with natural text, and publishes them. */
async function makeDatabase(scratch: string, objects: number): Promise<Database> {
  const text = readNaturalText();
  const generations = join(scratch, 'data', 'generations');
  await using store = await GathererStore.open(join(scratch, 'working'));
  let rawBytes = 0;
  for (let i = 0; i < objects; ) {
    const batch = store.batch();
    for (const end = Math.min(objects, i + 1000); i < end; i++) {
      const soif = soifOf(i, text);
      rawBytes += soif.length;
      batch.putSummary({ url: urlOf(i), updateTime: timeOf(i), timeToLive: TEN_YEARS, soif }, null);
    }
    await batch.commit();
  }
  const start = performance.now();
  const generation = await store.publish(generations);
  const publishSeconds = (performance.now() - start) / 1000;
  return { directory: join(generations, String(generation)), rawBytes, publishSeconds };
}

async function startGatherd(directory: string, servers: ChildProcess[]): Promise<Daemon> {
  const child = spawn(process.execPath, [PROGRAM, 'gatherd', '-d', directory, '0'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  servers.push(child);
  let output = '';
  for await (const text of child.stdout) {
    output += String(text);
    const ready = /^ready gatherd=\S+:(\d+)$/m.exec(output);
    if (ready !== null) return { pid: child.pid ?? 0, port: Number(ready[1]) };
  }
  throw new Error(`gatherd did not start: ${output}`);
}

/** The transfers of one round. */
type Plan = Record<
  'nginxOne' | 'one' | 'nginxMany' | 'many' | 'nginxClear' | 'clear' | 'whole' | 'update',
  Transfer
>;

function planTransfers(gatherd: number, nginx: number, clients: number, objects: number): Plan {
  const http = { kind: 'http', host: HOST, port: nginx, target: '/All-Templates.gz' } as const;
  const ours = { kind: 'gatherd', host: HOST, port: gatherd, target: '0' } as const;
  const since = timeOf(Math.floor(objects * 0.99));
  return {
    nginxOne: { ...http, clients: 1 },
    one: { ...ours, clients: 1 },
    nginxMany: { ...http, clients },
    many: { ...ours, clients },
    nginxClear: { ...http, clients: 1, target: '/clear' },
    clear: { ...ours, kind: 'gatherd-clear', clients: 1 },
    whole: { ...ours, clients: 1 },
    update: { ...ours, clients: 1, target: String(since) },
  };
}

async function measure(
  plan: Plan,
  database: Database,
  daemon: Daemon,
  runs: number,
  idle: number,
): Promise<void> {
  const names = Object.keys(plan) as (keyof Plan)[];
  const rounds: Record<keyof Plan, Measured>[] = [];
  for (let round = 0; round <= runs; round++) {
    const order = round % 2 === 0 ? names : [...names].reverse();
    const results = runClient(order.map((name) => plan[name]));
    // The first round is not counted: everything warms up.
    if (round > 0)
      rounds.push(
        Object.fromEntries(order.map((name, i) => [name, results[i]])) as Record<keyof Plan, Measured>,
      );
  }
  const sessions = await openIdleSessions(daemon.port, idle);
  const secondsWithIdle: number[] = [];
  for (let round = 0; round < runs; round++) {
    const [second] = runClient([plan.one, plan.one]).slice(1);
    secondsWithIdle.push(second!.seconds);
  }
  for (const socket of sessions) socket.destroy();

  const rate = (name: keyof Plan): number =>
    median(rounds.map((each) => each[name].bytes / each[name].seconds));
  const ratio = (a: keyof Plan, b: keyof Plan): number =>
    median(rounds.map((each) => each[a].bytes / each[a].seconds / (each[b].bytes / each[b].seconds)));
  const share = median(rounds.map((each) => each.update.seconds / each.whole.seconds));
  const alone = median(rounds.map((each) => each.one.seconds));
  const withIdle = median(secondsWithIdle);
  const memory = readMemory(daemon.pid);
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;
  const { one, many, update, whole } = rounds[0]!;
  print(
    `gatherd: ${megabytes(database.rawBytes)} of SOIF, ${megabytes(one.bytes)} compressed; median of ${runs} alternating rounds`,
  );
  print(`  published in ${database.publishSeconds.toFixed(1)} s`);
  print(
    `  1 client    gatherd ${megabytes(rate('one'))}/s   nginx ${megabytes(rate('nginxOne'))}/s   ratio ${ratio('one', 'nginxOne').toFixed(2)}`,
  );
  print(
    `  ${plan.many.clients} clients  gatherd ${megabytes(rate('many'))}/s   nginx ${megabytes(rate('nginxMany'))}/s   ratio ${ratio('many', 'nginxMany').toFixed(2)}   (${megabytes(many.bytes)} in all)`,
  );
  print(
    `  clear       gatherd ${megabytes(rate('clear'))}/s   nginx ${megabytes(rate('nginxClear'))}/s   ratio ${ratio('clear', 'nginxClear').toFixed(2)}`,
  );
  print(
    `  update of 1 percent: ${(update.seconds * 1000).toFixed(2)} ms, ${update.bytes} bytes; complete transfer ${(whole.seconds * 1000).toFixed(1)} ms; median share ${(share * 100).toFixed(2)} %`,
  );
  print(
    `  with ${idle} idle sessions: ${(withIdle * 1000).toFixed(1)} ms for a complete transfer, without ${(alone * 1000).toFixed(1)} ms; ratio ${(withIdle / alone).toFixed(2)}`,
  );
  print(`  resident memory of gatherd: ${megabytes(memory.now)} now, ${megabytes(memory.peak)} peak`);
  await writeResult('gatherd', {
    runs,
    rawBytes: database.rawBytes,
    publishSeconds: database.publishSeconds,
    ratioOne: ratio('one', 'nginxOne'),
    ratioMany: ratio('many', 'nginxMany'),
    ratioClear: ratio('clear', 'nginxClear'),
    updateShare: share,
    idle: { sessions: idle, withIdle, alone },
    memory,
    rounds,
  });
}

/** Runs the transfers in a client process. */
function runClient(plan: readonly Transfer[]): Measured[] {
  return JSON.parse(
    execFileSync(process.execPath, [CLIENT, JSON.stringify(plan)], { encoding: 'utf8' }),
  ) as Measured[];
}

/** Opens sessions that send nothing after the greeting. */
async function openIdleSessions(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i++) {
    const socket = connect(port, HOST);
    await new Promise<void>((resolve, reject) => {
      socket.once('data', () => resolve());
      socket.once('error', reject);
    });
    sockets.push(socket);
  }
  return sockets;
}

/** Reads the resident memory of a process in bytes (Linux only). */
function readMemory(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): number =>
    1024 * Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
  return { now: field('VmRSS'), peak: field('VmHWM') };
}
