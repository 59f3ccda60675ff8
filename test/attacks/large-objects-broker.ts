// A Broker in a process of its own, whose peak of memory the system counts, for the tests of large objects.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CollectionPoint } from '../../protocols/config/index.js';
import { WebServer } from '../../servers/broker/index.js';
import { openBroker, serveBroker } from '../servers/broker/helpers.js';

/** The mapped files of Node itself, MB. */
const PROGRAM_MB = 55;

/** What the process did since the question before, and its memory. */
export interface LargeFigures {
  readonly received: number;
  readonly complete: boolean;
  readonly reasons: readonly string[];
  readonly count: number;
  /** Most resident memory since the question before, MB. */
  readonly peakMB: number;
  /**
   * The same without files: LevelDB maps its tables, whose pages the system takes back when it needs the
   * memory.
   */
  readonly peakOwnMB: number;
  readonly restMB: number;
  /** Pages of mapped tables that the system could not take back at once, KiB. */
  readonly dirtyTablesKiB: number;
}

/** A running process. */
export interface LargeBroker {
  readonly port: number;
  /** Of the pages. */
  readonly webPort: number;
  /** Collects from one point. */
  collect(point: CollectionPoint): Promise<LargeFigures>;
  /** The memory since the last call. */
  figures(): Promise<LargeFigures>;
}

/** Starts the process; the end of the test kills it and removes its files. */
export async function startLargeBroker(t: { teardown(work: () => unknown): void }): Promise<LargeBroker> {
  const directory = mkdtempSync(join(tmpdir(), 'large-broker-'));
  const child = fork(fileURLToPath(import.meta.url), [directory], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  t.teardown(async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
    rmSync(directory, { recursive: true, force: true });
  });
  const { port, webPort } = await answer<{ port: number; webPort: number }>(child);
  const ask = (point?: CollectionPoint) => {
    child.send({ point });
    return answer<LargeFigures>(child);
  };
  return { port, webPort, collect: ask, figures: () => ask() };
}

async function answer<T>(child: ChildProcess): Promise<T> {
  const [value] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('the Broker has exited'))),
  ])) as [T];
  return value;
}

function dirtyTables(): number {
  let total = 0;
  let isTable = false;
  for (const line of readFileSync('/proc/self/smaps', 'latin1').split('\n')) {
    if (/^[0-9a-f]+-/.test(line)) isTable = line.includes('.ldb');
    else if (isTable) total += Number(/^(?:Private|Shared)_Dirty:\s+(\d+) kB/.exec(line)?.[1] ?? 0);
  }
  return total;
}

async function serve(directory: string): Promise<void> {
  const points: CollectionPoint[] = [];
  const owner = { teardown: () => undefined };
  const { broker } = await openBroker(owner, { directory, points, limits: { timeoutMs: 5000 } });
  const server = await serveBroker(owner, { broker });
  let peakOwn = 0;
  const sample = () => {
    const status = readFileSync('/proc/self/status', 'latin1');
    const field = (name: string) =>
      (Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024) / 1e6;
    peakOwn = Math.max(peakOwn, field('RssAnon') + PROGRAM_MB);
    return { peak: Math.round(field('VmHWM')), rest: Math.round(field('VmRSS')) };
  };
  setInterval(sample, 10);
  process.on('message', ({ point }: { readonly point?: CollectionPoint }) => {
    const work = async () => {
      points.splice(0, points.length, ...(point === undefined ? [] : [point]));
      const report = point === undefined ? undefined : await broker.collections.run();
      const [result] = report?.points ?? [];
      const { peak, rest } = sample();
      const peakOwnMB = Math.round(peakOwn);
      peakOwn = 0;
      // The peak is counted from here.
      await writeFile('/proc/self/clear_refs', '5');
      const figures: LargeFigures = {
        received: report?.received ?? 0,
        complete: result?.complete ?? true,
        reasons: [...(result?.reasons ?? []), ...(result?.error === undefined ? [] : [result.error])],
        count: broker.store.count,
        peakMB: peak,
        peakOwnMB,
        restMB: rest,
        dirtyTablesKiB: dirtyTables(),
      };
      process.send?.(figures);
    };
    void work();
  });
  const web = await WebServer.listen({
    broker,
    brokerAddress: server.address,
    host: '127.0.0.1',
    port: 0,
    log: broker.log,
  });
  process.send?.({ port: server.address.port, webPort: web.address.port });
}

if (process.send !== undefined && process.argv[2]?.includes('large-broker-') === true)
  await serve(process.argv[2]);
