// Measures a Broker with many concurrent clients, with and without a collection.
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BrokerClient } from '../../../clients/broker/index.js';
import { GathererStore } from '../../../storage/index.js';
import { PROGRAM } from '../../helpers/cli.js';
import { median } from '../harness.js';
import { type BenchCorpus, readBenchDocument, soifOf } from './corpus.js';
import type { BenchQuery } from './queries.js';

const HOST = '127.0.0.1';
const PASSWORD = 'bench';
const TEN_YEARS = 315_360_000;
const BATCH = 500;
/** Minimum number of queries of each client. */
const MIN_QUERIES = 10;

/**
 * Latencies of many clients, in milliseconds. Each client sends queries in sequence, each on a new connection.
 */
interface Latencies {
  readonly queries: number;
  readonly errors: number;
  readonly median: number;
  readonly p99: number;
}

/** Latencies with and without a collection. */
export interface LoadResult {
  readonly quiet: Latencies;
  readonly collecting: Latencies;
  readonly collected: number;
  readonly collectSeconds: number;
}

/**
 * Starts a gatherd and a Broker as processes. `clients` clients query the Broker concurrently over TCP, first
 * without other load, then while it collects and indexes `count` new objects from the gatherd.
 */
export async function measureLoad(
  directory: string,
  corpus: BenchCorpus,
  queries: readonly BenchQuery[],
  clients: number,
  count: number,
): Promise<LoadResult> {
  const messages = queries
    .filter(({ kind }) => kind === 'rare' || kind === 'and' || kind === 'or')
    .map(({ kind, words }) => words.join(kind === 'rare' ? ' ' : ` ${kind} `));
  const servers: ChildProcess[] = [];
  try {
    await using store = await GathererStore.open(join(directory, 'working'));
    const generations = join(directory, 'gatherer', 'generations');
    await fill(store, corpus, corpus.documents, 'first');
    await store.publish(generations);
    const gatherd = await start(servers, directory, ['gatherd', '-d', join(directory, 'gatherer'), '0']);
    const admin = join(directory, 'broker', 'admin');
    await mkdir(admin, { recursive: true });
    const file = join(admin, 'broker.conf');
    await writeFile(
      file,
      `Broker-Port 0\nAdmin-Password ${PASSWORD}\nMax-Connections ${2 * clients}\nMax-Queries ${2 * clients}\n`,
    );
    await writeFile(join(admin, 'Collection.conf'), `${HOST} ${gatherd} 3 --HOSTS *\n`);
    const port = await start(servers, directory, ['broker', file]);
    const broker = new BrokerClient({ host: HOST, port });
    await waitForLastDocument(broker, 'first');
    const quiet = await runClients(broker, messages, clients, () => false);
    await fill(store, corpus, count, 'second');
    await store.publish(generations);
    let collecting = true;
    const startMs = performance.now();
    await broker.admin(PASSWORD, { kind: 'collection' });
    const collection = waitForLastDocument(broker, 'second').finally(() => {
      collecting = false;
    });
    const duringCollection = await runClients(broker, messages, clients, () => collecting);
    await collection;
    const collectSeconds = (performance.now() - startMs) / 1000;
    return { quiet, collecting: duringCollection, collected: count, collectSeconds };
  } finally {
    for (const server of servers) server.kill('SIGKILL');
  }
}

/** Stores documents of the corpus under new URLs. The last one is the newest, so it arrives last. */
async function fill(store: GathererStore, corpus: BenchCorpus, count: number, name: string): Promise<void> {
  const time = Math.floor(Date.now() / 1000);
  for (let i = 0; i <= count; ) {
    const batch = store.batch();
    for (const end = Math.min(count + 1, i + BATCH); i < end; i++) {
      const isLast = i === count;
      const document = readBenchDocument(corpus, 1 + (i % corpus.documents));
      const url = `http://${name}.example.org/${i}`;
      const updateTime = isLast ? time : time - 10;
      const title = isLast ? `last of the ${name}documents` : document.title;
      const { bytes: soif } = soifOf({ ...document, url, title }, updateTime, TEN_YEARS);
      batch.putSummary({ url, updateTime, timeToLive: TEN_YEARS, soif }, null);
    }
    await batch.commit();
  }
}

/** Waits until a query finds the last document. */
async function waitForLastDocument(broker: BrokerClient, name: string): Promise<void> {
  for (;;) {
    for await (const _ of broker.query(`${name}documents`, { maxFiles: 1, matchWord: true })) return;
    await sleep(100);
  }
}

/** Sends queries from all clients until each has sent {@link MIN_QUERIES} and `mustContinue` returns false. */
async function runClients(
  broker: BrokerClient,
  messages: readonly string[],
  clients: number,
  mustContinue: () => boolean,
): Promise<Latencies> {
  const times: number[] = [];
  let errors = 0;
  const client = async (id: number): Promise<void> => {
    for (let round = 0; round < MIN_QUERIES || mustContinue(); round++) {
      const startMs = performance.now();
      try {
        const query = messages[(id + round * 7) % messages.length]!;
        const results = broker.query(query, { ignoreCase: true, matchWord: true, maxFiles: 10 });
        for await (const _ of results);
        if (results.errors.length > 0) errors++;
      } catch {
        errors++;
      }
      times.push(performance.now() - startMs);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, id) => client(id)));
  const sorted = times.sort((a, b) => a - b);
  const p99 = sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0;
  return { queries: times.length, errors, median: median(sorted), p99 };
}

/** Starts a server. Resolves with its port when it is ready. */
async function start(servers: ChildProcess[], directory: string, args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  servers.push(child);
  child.stderr.pipe(createWriteStream(join(directory, `${args[0]}.log`)));
  let output = '';
  for await (const text of child.stdout) {
    output += String(text);
    const ready = /^ready \w+=\S+?:(\d+)/m.exec(output);
    if (ready !== null) return Number(ready[1]);
  }
  throw new Error(`${args[0]} did not start: ${output}`);
}
