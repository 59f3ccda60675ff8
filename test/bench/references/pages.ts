// Compares first pages of links from refererd, from Redis and from Berkeley DB.
import { execFileSync } from 'node:child_process';
import { ReferencesClient } from '../../../clients/references/index.js';
import type { ReferencesReader } from '../../../storage/references/index.js';
import { median, print } from '../harness.js';
import { fillRedis, ServerProcess } from './processes.js';
import { canRun, runCounting } from './programs.js';
import {
  DISTRIBUTIONS,
  type Distribution,
  drawKeys,
  listRequest,
  PAGE_RESULTS,
  pageRequest,
  writeKeys,
  writeRequests,
} from './requests.js';

const SEED = 20;
/** Requests in flight per connection, for a single connection and for many. */
const DEPTH_OF_ONE = 64;
const DEPTH_OF_MANY = 16;
/** Number of pages compared with the answers of Redis. */
const COMPARED = 50;

/** What all measurements share. */
export interface PageOptions {
  readonly work: string;
  /** Number of connections. */
  readonly clients: number;
  readonly rounds: number;
  /** Duration of one measurement. */
  readonly seconds: number;
  /** Number of different requests, which are sent cyclically. */
  readonly requests: number;
  readonly loadClient: string;
  /** The program that reads Berkeley DB through cursors, and its database. */
  readonly local: { readonly program: string; readonly database: string } | undefined;
}

/** Rates of one measurement. */
export interface Rate {
  readonly perSecond: number;
  /** Per second of processor time of the server, or of the local reader. */
  readonly perCpuSecond: number;
  /** Share of a processor that the client uses; near 1, the client is the bottleneck. */
  readonly clientShare?: number;
}

/** Medians of the rounds. */
export interface PageResult {
  readonly distribution: Distribution;
  readonly connections: number;
  readonly depth: number;
  /** IDs on a page, on average. */
  readonly meanResults: number;
  readonly ours: Rate;
  readonly redis?: Rate;
  readonly local?: Rate;
}

/**
 * First pages from refererd, from Redis lists, and from Berkeley DB by a local program: alternating, with the
 * same keys.
 */
export async function comparePages(
  refererd: ServerProcess,
  reader: ReferencesReader,
  options: PageOptions,
): Promise<{ readonly results: readonly PageResult[]; readonly redisResident: number | undefined }> {
  await using redis = canRun('redis-server', '--version') ? await ServerProcess.redis() : undefined;
  if (redis === undefined) print('  skipped: redis-server is not installed');
  else {
    await fillRedis(redis.port, reader);
    print(`  the first pages of ${await compareAnswers(refererd, redis, reader)} lists are equal in Redis`);
  }
  if (options.local === undefined)
    print('  skipped: Berkeley DB cursors, which need db5.3_load and libdb5.3-dev');
  const results: PageResult[] = [];
  for (const distribution of DISTRIBUTIONS) {
    const keys = drawKeys(reader.keys('hubs'), distribution, options.requests, SEED);
    for (const connections of [1, options.clients]) {
      const result = await measure(distribution, connections, keys, reader, refererd, redis, options);
      results.push(result);
      report(result);
    }
  }
  return { results, redisResident: redis?.residentBytes };
}

async function measure(
  distribution: Distribution,
  connections: number,
  keys: Uint32Array,
  reader: ReferencesReader,
  refererd: ServerProcess,
  redis: ServerProcess | undefined,
  options: PageOptions,
): Promise<PageResult> {
  const { work, rounds, seconds, local } = options;
  const depth = connections === 1 ? DEPTH_OF_ONE : DEPTH_OF_MANY;
  const name = `pages-${distribution}`;
  const keyFile = writeKeys(work, name, keys);
  const createRun = (server: ServerProcess, protocol: 'sstp' | 'resp', request: (id: number) => string) => {
    const file = writeRequests(work, `${name}-${protocol}`, Array.from(keys, request));
    return () => measureServer(server, protocol, connections, depth, seconds, file, options.loadClient);
  };
  const runs: [keyof Pick<PageResult, 'ours' | 'redis' | 'local'>, () => Promise<Rate>][] = [
    ['ours', createRun(refererd, 'sstp', pageRequest)],
  ];
  if (redis !== undefined) runs.push(['redis', createRun(redis, 'resp', listRequest)]);
  if (local !== undefined) {
    const { program, database } = local;
    runs.push([
      'local',
      async () => {
        const count = await runCounting(program, [database, keyFile, seconds, PAGE_RESULTS]);
        return { perSecond: count.replies / count.seconds, perCpuSecond: count.replies / count.cpuSeconds };
      },
    ]);
  }
  const rates = new Map(runs.map(([label]) => [label, [] as Rate[]]));
  // The first round is not counted: everything warms up.
  for (let round = 0; round <= rounds; round++)
    for (const [label, run] of round % 2 === 0 ? runs : [...runs].reverse()) {
      const rate = await run();
      if (round > 0) rates.get(label)?.push(rate);
    }
  const meanResults =
    keys.reduce((sum, key) => sum + Math.min(PAGE_RESULTS, totalOf(reader, key)), 0) / keys.length;
  const medians = Object.fromEntries(Array.from(rates, ([label, all]) => [label, medianRate(all)]));
  return {
    distribution,
    connections,
    depth,
    meanResults,
    ours: medianRate(rates.get('ours') ?? []),
    ...medians,
  };
}

/** Sends requests to a server for some seconds. */
export async function measureServer(
  server: ServerProcess,
  protocol: 'sstp' | 'resp',
  connections: number,
  depth: number,
  seconds: number,
  requests: string,
  loadClient: string,
): Promise<Rate> {
  const before = server.cpuSeconds;
  const count = await runCounting(loadClient, [protocol, server.port, connections, depth, seconds, requests]);
  const used = server.cpuSeconds - before;
  // Reading the memory here records its peak.
  if (server.residentBytes === 0) throw new Error('the server ended');
  return {
    perSecond: count.replies / count.seconds,
    perCpuSecond: count.replies / used,
    clientShare: count.cpuSeconds / count.seconds,
  };
}

/**
 * Checks that refererd and Redis have the same first pages.
 *
 * @returns the number of compared pages
 * @throws if two pages differ
 */
async function compareAnswers(
  refererd: ServerProcess,
  redis: ServerProcess,
  reader: ReferencesReader,
): Promise<number> {
  await using client = new ReferencesClient({ host: '127.0.0.1', port: refererd.port });
  const keys = drawKeys(reader.keys('hubs'), 'zipf', COMPARED, SEED + 1);
  for (const id of keys) {
    const { ids } = await client.referers({ id, count: PAGE_RESULTS });
    const words = ['-p', String(redis.port), 'LRANGE', String(id), '0', String(PAGE_RESULTS - 1)];
    const listed = execFileSync('redis-cli', words, { encoding: 'utf8' }).trim().split('\n').map(Number);
    if (listed.join() !== Array.from(ids).join())
      throw new Error(`document ${id}: Redis has a different page`);
  }
  return keys.length;
}

function totalOf(reader: ReferencesReader, id: number): number {
  return reader.links('hubs', id)?.total ?? 0;
}

/** The median of each figure. */
export function medianRate(rates: readonly Rate[]): Rate {
  const medianOf = (value: (rate: Rate) => number): number => median(rates.map(value));
  return {
    perSecond: medianOf(({ perSecond }) => perSecond),
    perCpuSecond: medianOf(({ perCpuSecond }) => perCpuSecond),
    clientShare: medianOf(({ clientShare = 0 }) => clientShare),
  };
}

function report({ distribution, connections, depth, meanResults, ours, redis, local }: PageResult): void {
  print(
    `  first pages, ${distribution}, ${connections} x ${depth} in flight, ${meanResults.toFixed(1)} IDs a page`,
  );
  print(
    `    refererd              ${formatRate(ours)}, client ${((ours.clientShare ?? 0) * 100).toFixed(0)} %`,
  );
  for (const [label, rival] of [
    ['Redis LRANGE', redis],
    ['Berkeley DB, local', local],
  ] as const) {
    if (rival === undefined) continue;
    const clock = (ours.perSecond / rival.perSecond).toFixed(2);
    const cpu = (ours.perCpuSecond / rival.perCpuSecond).toFixed(2);
    print(
      `    ${label.padEnd(21)} ${formatRate(rival)}; ours / theirs: ${clock} by the clock, ${cpu} by processor time`,
    );
  }
}

export function formatRate({ perSecond, perCpuSecond }: Rate): string {
  const formatted = (value: number): string => Math.round(value).toLocaleString('en').padStart(9);
  return `${formatted(perSecond)}/s ${formatted(perCpuSecond)}/cpu s`;
}
