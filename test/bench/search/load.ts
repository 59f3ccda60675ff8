import { parseMessage } from '../../../protocols/broker/index.js';
import { IndexKeeper } from '../../../servers/broker/index-keeper.js';
import { type SearchContext, search } from '../../../servers/broker/search.js';
import { median } from '../harness.js';
import { type BenchCorpus, readBenchDocument, soifOf } from './corpus.js';
import type { EmbeddedEngine } from './embedded.js';
import type { BenchQuery } from './queries.js';

/** Latencies of many clients that ask one query after the other, milliseconds. */
export interface Crowd {
  readonly queries: number;
  readonly errors: number;
  readonly median: number;
  readonly p99: number;
}

/** What a crowd sees of a collection. */
export interface UnderLoad {
  readonly quiet: Crowd;
  readonly collecting: Crowd;
  readonly collected: number;
  readonly collectSeconds: number;
}

const ROUNDS = 3;
/** Objects of one batch of a collection. */
const BATCH = 100;
const TIME = 1_700_000_000;

/** `clients` ask at once, first alone, then while `count` new objects are stored and indexed: a Broker without its sockets. */
export async function underLoad(
  engine: EmbeddedEngine,
  corpus: BenchCorpus,
  queries: readonly BenchQuery[],
  clients: number,
  count: number,
): Promise<UnderLoad> {
  const { store, indexer } = engine;
  const keeper = await IndexKeeper.open(store, indexer);
  const context: SearchContext = {
    store,
    indexer,
    objectUrl: (oid) => `http://127.0.0.1/objects/${oid}`,
    homePage: 'http://127.0.0.1/',
    maxResults: 1000,
    maxLife: 900,
    opaqueMode: 'suppress',
  };
  const messages = queries
    .filter(({ kind }) => kind === 'rare' || kind === 'and' || kind === 'or')
    .map(({ kind, words }) => words.join(kind === 'rare' ? ' ' : ` ${kind} `))
    .map((text) => `#USER #index case insensitive #index matchword #opaque #index maxfiles 10 #END ${text}`);
  const quiet = await crowd(context, messages, clients, () => false);
  let collecting = true;
  const start = performance.now();
  const collection = (async () => {
    try {
      for (let at = 0; at < count; at += BATCH) {
        const documents = Array.from({ length: Math.min(BATCH, count - at) }, (_, i) => {
          const document = readBenchDocument(corpus, 1 + ((at + i) % corpus.documents));
          return soifOf({ ...document, url: `http://new.example.org/${at + i}` }, TIME);
        });
        await store.apply(documents.map((document) => ({ kind: 'update', ...document })));
        await keeper.follow();
      }
      await keeper.settle();
    } finally {
      collecting = false;
    }
  })();
  const besides = await crowd(context, messages, clients, () => collecting);
  await collection;
  const collectSeconds = (performance.now() - start) / 1000;
  return { quiet, collecting: besides, collected: count, collectSeconds };
}

async function crowd(
  context: SearchContext,
  messages: readonly string[],
  clients: number,
  goesOn: () => boolean,
): Promise<Crowd> {
  const times: number[] = [];
  let errors = 0;
  const client = async (id: number): Promise<void> => {
    for (let round = 0; round < ROUNDS || goesOn(); round++) {
      const start = performance.now();
      if (!(await ask(context, messages[(id + round * 7) % messages.length]!))) errors++;
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, id) => client(id)));
  const sorted = times.sort((a, b) => a - b);
  const p99 = sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0;
  return { queries: times.length, errors, median: median(sorted), p99 };
}

/** Whether the query was answered to its end. */
async function ask(context: SearchContext, text: string): Promise<boolean> {
  const message = parseMessage(Buffer.from(text));
  if (message.kind !== 'user') throw new Error(`not a query: ${text}`);
  const pages = search(message.query, message.flags, context);
  for (;;) {
    const step = await pages.next();
    if (step.done) return step.value.reason === undefined || step.value.reason === 'limit';
  }
}
