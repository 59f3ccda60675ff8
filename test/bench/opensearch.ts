// Benchmark `opensearch`: the embedded engine and OpenSearch over the same objects and queries, with equal answers.
//   npm run bench -- opensearch [--objects N] [--queries N] [--nodes N] [--libraries DIR] [--url URL]
// Starts nodes with 512 MB each from the libraries of OpenSearch (test/helpers/opensearch/pom.xml), unless a URL is given.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseQuery } from '../../protocols/broker/index.js';
import { encodeSoif } from '../../protocols/soif/index.js';
import { BrokerStore } from '../../storage/broker/broker-store.js';
import { objectOf, PLAIN_SEARCH } from '../../storage/indexers/conformance-fixture.js';
import { type Indexer, openIndexer, type SearchOptions } from '../../storage/indexers/index.js';
import { LIBRARIES, TestCluster } from '../helpers/opensearch/cluster.js';
import { Random } from '../helpers/random.js';
import { median, print, scratchDirectory, writeResult } from './harness.js';

/** Words of the vocabulary; the first ones are in most objects. */
const WORDS = 60_000;
const SYLLABLES = 'ba ker lo min ta ru sen vi po dra qu\u00e9 n\u00fc st ing er'.split(' ');
/** Objects that are stored and indexed at a time. */
const BATCH = 1000;
const SEED = 5;

/** Kinds of queries, and how many whole words, parts and errors they have. */
const KINDS: readonly (readonly [
  name: string,
  text: (word: () => string) => string,
  Partial<SearchOptions>,
])[] = [
  ['word', (word) => word(), { matchWord: true }],
  ['two words', (word) => `${word()} and ${word()}`, { matchWord: true }],
  ['either', (word) => `${word()} or ${word()}`, { matchWord: true, ordered: false }],
  ['phrase', (word) => `"${word()} ${word()}"`, { matchWord: true }],
  ['but not', (word) => `${word()} and not ${word()}`, { matchWord: true }],
  ['title', (word) => `title : ${word()}`, { matchWord: true }],
  ['part of a word', (word) => word().slice(1, 6), { ordered: false }],
  ['one error', (word) => `${word()}x`, { errors: 1, matchWord: true, ordered: false }],
  ['regexp', (word) => `title regexp "${word().slice(0, 4)}.*${word().slice(0, 3)}"`, { ordered: false }],
  ['no accents', (word) => word(), { matchWord: true, ignoreAccents: true }],
];

/** Runs the comparison; see the head of the file. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      objects: { type: 'string', default: '100000' },
      queries: { type: 'string', default: '10' },
      nodes: { type: 'string', default: '1' },
      libraries: { type: 'string', default: LIBRARIES },
      url: { type: 'string' },
    },
  });
  const objects = Number(values.objects);
  const { libraries, url } = values;
  using directory = scratchDirectory(tmpdir());
  const brokerDirectory = directory.path;
  const storeDirectory = join(brokerDirectory, 'store');
  await using cluster =
    url === undefined
      ? await TestCluster.start(join(brokerDirectory, 'nodes'), Number(values.nodes), { libraries })
      : undefined;
  await using store = await BrokerStore.open(storeDirectory);
  await fill(store, objects);
  const common = { brokerDirectory, storeDirectory, maxWork: 600 };
  await using embedded = await openIndexer({ ...common, type: 'embedded' });
  const openSearch = { urls: cluster?.urls ?? [url ?? ''], index: `bench-${process.pid}` };
  await using opensearch = await openIndexer({ ...common, type: 'opensearch', openSearch });
  const built: Record<string, number> = {};
  for (const engine of [embedded, opensearch]) {
    const began = performance.now();
    await follow(store, engine);
    built[engine.name] = Math.round((1000 * objects) / (performance.now() - began));
    print(`${engine.name.padEnd(11)} ${built[engine.name]} objects/s, ${engine.objects} objects`);
  }
  const kinds: Record<string, Record<string, number>> = {};
  let different = 0;
  for (const [i, [kind, text, options]] of KINDS.entries()) {
    const random = new Random(SEED, i);
    const times: Record<string, number[]> = { embedded: [], opensearch: [] };
    let hits = 0;
    for (let n = 0; n < Number(values.queries); n++) {
      // From the middle of the vocabulary: neither in all objects nor in none.
      const query = text(() => wordAt(200 + random.below(3000)));
      const found: string[] = [];
      for (const engine of [embedded, opensearch]) {
        const began = performance.now();
        const oids = await oidsOf(engine, query, options);
        times[engine.name]?.push(performance.now() - began);
        hits = Math.max(hits, oids.length);
        found.push(oids.join());
      }
      if (found[0] === found[1]) continue;
      different++;
      print(`  DIFFERENT: ${query}`);
    }
    const medians = Object.fromEntries(Object.entries(times).map(([name, list]) => [name, median(list)]));
    kinds[kind] = { ...medians, hits };
    const shown = Object.entries(medians).map(([name, ms]) => `${name} ${ms.toFixed(1)} ms`);
    print(`  ${kind.padEnd(15)} ${shown.join(', ')}; up to ${hits} hits`);
  }
  print(different === 0 ? 'all answers are equal' : `${different} answers differ`);
  if (different > 0) process.exitCode = 1;
  await writeResult(`opensearch-${objects}`, { objects, built, kinds, different });
}

/** The word of a rank; the same for each run. */
function wordAt(rank: number): string {
  const random = new Random(SEED, rank);
  const syllables = Array.from(
    { length: 2 + random.below(3) },
    () => SYLLABLES[random.below(SYLLABLES.length)],
  );
  return `${syllables.join('')}${rank % 7 === 0 ? rank : ''}`;
}

async function fill(store: BrokerStore, count: number): Promise<void> {
  const random = new Random(SEED);
  const vocabulary = Array.from({ length: WORDS }, (_, rank) => wordAt(rank));
  // Of each two ranks the lower one is more frequent, roughly as in texts.
  const word = () => vocabulary[Math.floor(WORDS ** (random.below(1_000_000) / 1_000_000)) - 1] ?? 'x';
  const line = (length: number) => Array.from({ length }, word).join(' ');
  for (let start = 0; start < count; start += BATCH) {
    const changes = Array.from({ length: Math.min(BATCH, count - start) }, (_, i) => {
      const body = Array.from({ length: 8 }, () => line(12)).join('\n');
      const object = objectOf({ url: `http://h/${start + i}`, title: line(6), description: line(15), body });
      return { kind: 'update', object, bytes: encodeSoif(object) } as const;
    });
    await store.apply(changes);
  }
}

async function follow(store: BrokerStore, indexer: Indexer): Promise<void> {
  await indexer.beginUpdate();
  for (let watermark = 0; ; ) {
    const changes = await store.changesAfter(watermark, BATCH);
    const last = changes.at(-1);
    if (last === undefined) break;
    const objects = await store.objects(changes.map(({ oid }) => oid));
    for (const [i, { oid }] of changes.entries()) {
      const object = objects[i];
      if (object !== undefined) await indexer.add(oid, object);
    }
    watermark = last.sequence;
  }
  await indexer.flush(store.lastSequence);
}

async function oidsOf(indexer: Indexer, text: string, options: Partial<SearchOptions>): Promise<number[]> {
  const expression = parseQuery(text);
  if (expression.kind === 'all') throw new Error('not a query of words');
  const results = indexer.query(expression, {
    ...PLAIN_SEARCH,
    ignoreCase: true,
    wantLines: false,
    lifetimeMs: 600_000,
    ...options,
  });
  const oids: number[] = [];
  for await (const { oid } of results) oids.push(oid);
  const { complete, reason } = await results.outcome;
  if (!complete) print(`  ${indexer.name}: ${text} ended by ${reason}`);
  return oids.sort((a, b) => a - b);
}
