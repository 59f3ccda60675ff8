// Benchmark `broker`: the kit's embedded search engine compared with glimpse (small and medium index), swish-e
// and plain SQLite FTS5, over the same text of real documents: time to build the index, its size, latency of
// ten kinds of query. Then the latency of a plain query while an expensive one runs, and of many clients of a
// Broker with and without a collection.
//   npm run bench -- broker --root DIR [--root DIR ...] [--documents N] [--queries N] [--runs N] [--clients N]
//                           [--collect N] [--scratch DIR]
// Documents: Debian documentation, for example 10 000 from one package and 83 000 from six:
//   apt-get download openjdk-17-doc rust-doc lazarus-doc-2.2 fp-docs-3.2.2 libboost1.74-doc postgresql-doc-15
//   for f in *.deb; do mkdir -p docs/${f%%_*} && dpkg -x $f docs/${f%%_*}; done     # --root docs
// `--scratch` keeps the extracted text for the next run. Engines that are not installed are skipped.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { median, print, scratchDirectory, writeResult } from './harness.js';
import { type BenchCorpus, extractCorpus } from './search/corpus.js';
import { EmbeddedEngine } from './search/embedded.js';
import type { Engine } from './search/engine.js';
import { measureFairness } from './search/fairness.js';
import { measureLoad } from './search/load.js';
import { Glimpse, isInstalled, PlainFts5, SwishE } from './search/other-engines.js';
import {
  type BenchQuery,
  COMPARABLE_KINDS,
  drawQueries,
  QUERY_KINDS,
  type QueryKind,
} from './search/queries.js';

/** Runs the comparison; see the head of the file. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      root: { type: 'string', multiple: true, default: [] },
      documents: { type: 'string', default: '10000' },
      queries: { type: 'string', default: '20' },
      runs: { type: 'string', default: '3' },
      clients: { type: 'string', default: '200' },
      collect: { type: 'string', default: '10000' },
      scratch: { type: 'string' },
    },
  });
  if (values.root.length === 0)
    throw new Error('--root DIR is required: the documents to index; see the head of test/bench/broker.ts');
  using directory = scratchDirectory();
  const work = directory.path;
  const scratch = values.scratch ?? join(work, 'corpus');
  mkdirSync(scratch, { recursive: true });
  const engines: Engine[] = [];
  try {
    const corpus = extractCorpus(values.root, scratch, Number(values.documents));
    const embedded = new EmbeddedEngine(work, corpus);
    const fts5 = new PlainFts5(work, corpus);
    engines.push(embedded, fts5);
    if (isInstalled('glimpse'))
      engines.push(new Glimpse(work, corpus, '-o'), new Glimpse(work, corpus, '-b'));
    if (isInstalled('swish-e')) engines.push(new SwishE(work, corpus));
    await embedded.prepare();
    const built: Record<string, Built> = {};
    for (const engine of engines) built[engine.label] = await build(engine);
    reportBuild(corpus, built);
    const queries = drawQueries(corpus, fts5.vocabulary(), Number(values.queries));
    const kinds = await measureLatencies(engines, queries, Number(values.runs));
    const processStartMs = median(Array.from({ length: 21 }, measureProcessStart));
    const summary = summarize(engines, kinds, processStartMs);
    reportKinds(engines, kinds);
    for (const line of summary.lines) print(line);
    const agreement = await compareCounts(engines, queries);
    for (const [label, { same, of }] of Object.entries(agreement))
      print(`  whole-word queries with the same count as ${label}: ${same} of ${of}`);
    const nasty = await measureFairness(embedded, queries);
    for (const { label, median: typical, worst } of nasty)
      print(`  a plain query while ${label} runs: median ${formatMs(typical)}, slowest ${formatMs(worst)}`);
    await embedded.close();
    const load = await measureLoad(work, corpus, queries, Number(values.clients), Number(values.collect));
    for (const [label, { queries: sent, errors, median: typical, p99 }] of [
      ['without other load', load.quiet],
      [`during a collection of ${load.collected} objects`, load.collecting],
    ] as const)
      print(
        `  ${values.clients} clients ${label}: ${sent} queries, ${errors} errors, median ${formatMs(typical)}, 99th percentile ${formatMs(p99)}`,
      );
    await writeResult(`broker-${corpus.documents}`, {
      corpus: { documents: corpus.documents, bytes: corpus.bytes },
      built,
      processStart: processStartMs,
      kinds,
      ratios: summary.ratios,
      agreement,
      nasty,
      load,
    });
  } finally {
    for (const engine of engines) await engine.close();
  }
}

/** The cost of an index. */
interface Built {
  readonly seconds: number;
  readonly bytes: number;
}

/** Latency of one engine for the queries of one kind, milliseconds. */
interface Latency {
  readonly median: number;
  readonly p99: number;
}
type Latencies = Partial<Record<QueryKind, Record<string, Latency>>>;

async function build(engine: Engine): Promise<Built> {
  const start = performance.now();
  await engine.build();
  return { seconds: (performance.now() - start) / 1000, bytes: engine.size() };
}

/** Sends every query to every engine in each round, in alternating order. The first round is not counted. */
async function measureLatencies(
  engines: readonly Engine[],
  queries: readonly BenchQuery[],
  runs: number,
): Promise<Latencies> {
  const latencies: Latencies = {};
  for (const kind of QUERY_KINDS) {
    const ofKind = queries.filter((query) => query.kind === kind);
    const able = engines.filter((engine) => engine.kinds.has(kind));
    const times = new Map(able.map((engine) => [engine.label, [] as number[]]));
    for (let round = 0; round <= runs; round++) {
      for (const query of ofKind) {
        for (const engine of round % 2 === 0 ? able : [...able].reverse()) {
          const start = performance.now();
          await engine.top(query);
          if (round > 0) times.get(engine.label)!.push(performance.now() - start);
        }
      }
    }
    latencies[kind] = Object.fromEntries(
      Array.from(times, ([label, all]) => [label, { median: median(all), p99: quantile(all, 0.99) }]),
    );
  }
  return latencies;
}

/** Compares the counts of matching documents of each other engine with those of the kit. */
async function compareCounts(
  engines: readonly Engine[],
  queries: readonly BenchQuery[],
): Promise<Record<string, { same: number; of: number; different: string[] }>> {
  const [ours, ...rivals] = engines as [Engine, ...Engine[]];
  const counted = queries.filter(({ kind }) => COMPARABLE_KINDS.includes(kind));
  const expected: number[] = [];
  for (const query of counted) expected.push(await ours.count(query));
  const result: Record<string, { same: number; of: number; different: string[] }> = {};
  for (const rival of rivals) {
    const entry = { same: 0, of: counted.length, different: [] as string[] };
    for (const [i, query] of counted.entries()) {
      const count = await rival.count(query);
      if (count === expected[i]) entry.same++;
      else
        entry.different.push(`${query.kind} ${query.words.join(' ')}: ${expected[i]} here, ${count} there`);
    }
    result[rival.label] = entry;
  }
  return result;
}

/** Ratios of the medians, rival / ours; for programs also without the time that any process needs to start. */
function summarize(
  engines: readonly Engine[],
  kinds: Latencies,
  processStartMs: number,
): { ratios: Record<string, Partial<Record<QueryKind, number>>>; lines: string[] } {
  const [ours, ...rivals] = engines as [Engine, ...Engine[]];
  const ratios: Record<string, Partial<Record<QueryKind, number>>> = {};
  const lines = [`  starting any process takes ${formatMs(processStartMs)}`];
  for (const rival of rivals) {
    for (const net of rival.process ? [false, true] : [false]) {
      const name = net ? `${rival.label} without process start` : rival.label;
      const entries = QUERY_KINDS.filter((kind) => rival.kinds.has(kind)).map((kind): [QueryKind, number] => {
        const theirs = kinds[kind]![rival.label]!.median - (net ? processStartMs : 0);
        return [kind, Math.max(0, theirs) / kinds[kind]![ours.label]!.median];
      });
      ratios[name] = Object.fromEntries(entries);
      const sorted = [...entries].sort((a, b) => a[1] - b[1]);
      const [worst, smallest] = sorted[0]!;
      const typical = median(sorted.map(([, ratio]) => ratio));
      lines.push(
        `  ${name} / ours: median of kinds ${typical.toFixed(2)}, smallest ${smallest.toFixed(2)} (${worst})`,
      );
    }
  }
  return { ratios, lines };
}

function reportBuild(corpus: BenchCorpus, built: Record<string, Built>): void {
  print(`broker: ${corpus.documents} documents, ${(corpus.bytes / 1e6).toFixed(0)} MB of text`);
  for (const [label, { seconds, bytes }] of Object.entries(built))
    print(
      `  ${label.padEnd(12)} built in ${seconds.toFixed(1).padStart(6)} s, ${(bytes / 1e6).toFixed(0).padStart(5)} MB`,
    );
}

function reportKinds(engines: readonly Engine[], kinds: Latencies): void {
  print('  median / 99th percentile of the first ten answers, ms');
  print(`  ${'kind'.padEnd(10)} ${engines.map(({ label }) => label.padStart(16)).join(' ')}`);
  for (const kind of QUERY_KINDS) {
    const cells = engines.map(({ label }) => {
      const latency = kinds[kind]?.[label];
      const text = latency === undefined ? '-' : `${latency.median.toFixed(2)} / ${latency.p99.toFixed(2)}`;
      return text.padStart(16);
    });
    print(`  ${kind.padEnd(10)} ${cells.join(' ')}`);
  }
}

function measureProcessStart(): number {
  const start = performance.now();
  spawnSync('true', { stdio: ['ignore', 'pipe', 'ignore'] });
  return performance.now() - start;
}

/** The quantile of the values by the nearest rank. */
function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

function formatMs(value: number): string {
  return `${value.toFixed(2)} ms`;
}
