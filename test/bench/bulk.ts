// Benchmark `bulk`: bulk transfers between Brokers, each a separate process. It compares (a) a transfer to a
// client that only decodes with nginx sending the same bytes as a file to a client that only reads, each first
// in a new process and then once more in it; (b) a Broker that collects and indexes (type 4) with a Broker that
// loads the same objects from a local SOIF file; (c) a transfer with `#SINCE` after one percent of the objects
// has changed with a complete one. Needs nginx.
//   npm run bench -- bulk [--objects N] [--runs N] [--loads N]
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BulkClient } from '../../clients/bulk/index.js';
import type { Measured, Transfer } from './bulk/client.js';
import { readNaturalText, writeSoif } from './bulk/objects.js';
import { cpuSeconds, Processes } from './bulk/processes.js';
import { median, print, readNumbers, scratchDirectory, writeResult } from './harness.js';

/** The ratios to reach. */
const GOALS = { cold: 0.2, warm: 0.4, collect: 0.95 } as const;

/** Runs the comparison; see the head of the file. */
export async function run(args: string[]): Promise<void> {
  const { objects, ...times } = readNumbers(args, { objects: 100_000, runs: 7, loads: 3 });
  using directory = scratchDirectory();
  const scratch = directory.path;
  chmodSync(scratch, 0o755);
  using processes = new Processes(scratch);
  const text = readNaturalText();
  const source = await processes.broker('source', '');
  const files = join(scratch, 'files');
  mkdirSync(files);
  await writeSoif(join(source.directory, 'all.soif'), { from: 0, to: objects, text });
  await processes.load(source, 'all.soif', objects);
  const since = await changeOnePercent(processes, source, objects, text);
  const bytes = await fetchAll(source.port);
  writeFileSync(join(files, 'bulk'), bytes);
  const nginx = await processes.nginx(files, 'bulk');
  const transfers = measureTransfers(processes, { broker: source.port, nginx, since }, times.runs);
  const loads = await measureLoads(processes, source.port, bytes, objects, times.loads);
  report(objects, bytes.length, transfers, loads);
  await writeResult('bulk', { objects, bytes: bytes.length, aim: GOALS, ...transfers, ...loads });
}

type Source = Awaited<ReturnType<Processes['broker']>>;

/** Loads new versions of one object in a hundred. Returns the time for `#SINCE` that selects only them. */
async function changeOnePercent(
  processes: Processes,
  source: Source,
  objects: number,
  text: string,
): Promise<number> {
  const before = new BulkClient({ host: '127.0.0.1', port: source.port }).changes({ since: 4_000_000_000 });
  for await (const _ of before);
  const since = (before.totals.next ?? 0) + 1;
  // Times of changes have a resolution of one second.
  while (Date.now() / 1000 < since + 1) await new Promise((resolve) => setTimeout(resolve, 100));
  const to = Math.ceil(objects / 100);
  await writeSoif(join(source.directory, 'changed.soif'), { from: 0, to, text, newer: true });
  await processes.load(source, 'changed.soif', objects);
  return since;
}

/** Fetches all groups, as the Broker sends them. */
async function fetchAll(port: number): Promise<Buffer> {
  const socket = (await import('node:net')).connect(port, '127.0.0.1');
  socket.write('#BULK #SINCE 0 #END #ALLB\r\n');
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** What a round measures. */
const NAMES = ['broker', 'nginx', 'update', 'second', 'third', 'brokerAgain', 'nginxAgain'] as const;
type Name = (typeof NAMES)[number];

interface Transfers {
  readonly rounds: readonly Record<Name, Measured>[];
  /**
   * Rate of the Broker over that of nginx, with clients that have just started, and with those that have
   * transferred before.
   */
  readonly coldRatio: number;
  readonly warmRatio: number;
  /** Duration of a transfer with `#SINCE` over that of a complete one. */
  readonly updateShare: number;
  readonly updateObjects: number;
}

function measureTransfers(
  processes: Processes,
  { broker, nginx, since }: { readonly broker: number; readonly nginx: number; readonly since: number },
  runs: number,
): Transfers {
  const full: Transfer = { kind: 'bulk', port: broker, since: 0 };
  const file: Transfer = { kind: 'http', port: nginx, path: '/bulk' };
  const plan: Readonly<Record<Name, Transfer>> = {
    broker: full,
    nginx: file,
    update: { kind: 'bulk', port: broker, since },
    // The code that decodes is compiled well after some transfers.
    second: full,
    third: full,
    brokerAgain: full,
    nginxAgain: file,
  };
  const orders: readonly (readonly Name[])[] = [
    NAMES,
    ['nginx', 'broker', 'update', 'second', 'third', 'nginxAgain', 'brokerAgain'],
  ];
  const rounds: Record<Name, Measured>[] = [];
  for (let round = 0; round <= runs; round++) {
    const order = orders[round % 2]!;
    const results = processes.client(order.map((name) => plan[name]));
    const measured = Object.fromEntries(order.map((name, i) => [name, results[i]])) as Record<Name, Measured>;
    if (results.length < order.length) throw new Error('a transfer was not measured');
    // The first round is not counted: everything warms up.
    if (round > 0) rounds.push(measured);
  }
  return {
    rounds,
    coldRatio: median(rounds.map(({ broker, nginx }) => nginx.seconds / broker.seconds)),
    warmRatio: median(rounds.map(({ brokerAgain, nginxAgain }) => nginxAgain.seconds / brokerAgain.seconds)),
    updateShare: median(rounds.map(({ broker, update }) => update.seconds / broker.seconds)),
    updateObjects: rounds[0]?.update.objects ?? 0,
  };
}

interface Load {
  readonly seconds: number;
  /** Processor time of the Broker. */
  readonly cpuSeconds: number;
}

interface Loads {
  readonly loads: readonly Record<'collect' | 'local', Load>[];
  /** Rate of the collecting Broker over that of the loading one. */
  readonly collectRatio: number;
  readonly collectCpuRatio: number;
}

async function measureLoads(
  processes: Processes,
  port: number,
  bytes: Buffer,
  objects: number,
  runs: number,
): Promise<Loads> {
  const loads: Record<'collect' | 'local', Load>[] = [];
  for (let round = 0; round < runs; round++) {
    const collect = async (): Promise<Load> => {
      const broker = await processes.broker(`collect-${round}`, `127.0.0.1 ${port} 4 \n`);
      return timed(broker, () => processes.collect(broker, objects));
    };
    const local = async (): Promise<Load> => {
      const broker = await processes.broker(`local-${round}`, '');
      // The reply of the Broker without its first two lines: its groups are valid in a SOIF file.
      writeFileSync(join(broker.directory, 'all.soif'), bytes.subarray(bytes.indexOf('@DELETE {')));
      return timed(broker, () => processes.load(broker, 'all.soif', objects));
    };
    if (round % 2 === 0) loads.push({ collect: await collect(), local: await local() });
    else {
      const first = await local();
      loads.push({ collect: await collect(), local: first });
    }
    processes.kill(`collect-${round}`);
    processes.kill(`local-${round}`);
  }
  return {
    loads,
    collectRatio: median(loads.map(({ collect, local }) => local.seconds / collect.seconds)),
    collectCpuRatio: median(loads.map(({ collect, local }) => local.cpuSeconds / collect.cpuSeconds)),
  };
}

async function timed(broker: Source, work: () => Promise<void>): Promise<Load> {
  const cpu = cpuSeconds(broker.pid);
  const start = performance.now();
  await work();
  return { seconds: (performance.now() - start) / 1000, cpuSeconds: cpuSeconds(broker.pid) - cpu };
}

function report(
  objects: number,
  bytes: number,
  transfers: Transfers,
  { loads, collectRatio, collectCpuRatio }: Loads,
): void {
  const { rounds, coldRatio, warmRatio, updateShare, updateObjects } = transfers;
  const medianSeconds = (name: Name): number => median(rounds.map((each) => each[name].seconds));
  const rate = (seconds: number): string => `${Math.round(objects / seconds).toLocaleString('en')} objects/s`;
  print(
    `bulk: ${objects} objects, ${(bytes / 1e6).toFixed(0)} MB; medians of ${rounds.length} alternating rounds`,
  );
  print(`  transfer, decoded  ${rate(medianSeconds('broker'))}`);
  print(
    `  nginx, only read   ${rate(medianSeconds('nginx'))}   ratio ${coldRatio.toFixed(2)} (goal ${GOALS.cold})`,
  );
  print(`  decoded again      ${rate(medianSeconds('brokerAgain'))}`);
  print(
    `  nginx again        ${rate(medianSeconds('nginxAgain'))}   ratio ${warmRatio.toFixed(2)} (goal ${GOALS.warm})`,
  );
  const collect = median(loads.map((each) => each.collect.seconds));
  const local = median(loads.map((each) => each.local.seconds));
  print(`  collected, indexed ${rate(collect)}`);
  print(
    `  loaded from a file ${rate(local)}   ratio ${collectRatio.toFixed(2)} by the clock, ${collectCpuRatio.toFixed(2)} by processor time (goal ${GOALS.collect})`,
  );
  print(
    `  #SINCE with ${updateObjects} changed: ${(medianSeconds('update') * 1000).toFixed(1)} ms, ${(updateShare * 100).toFixed(1)} % of a complete transfer`,
  );
}
