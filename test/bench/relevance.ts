// Benchmark `relevance`: how often the search page, and a plain query over the wire, have the page one looks
// for among the first results, beside Xapian and SQLite FTS5 over the same documents.
//   npm run bench -- relevance [--corpus NAME]... [--unpacked DIR] [--opensearch DIR] [--worst]
// Corpora are packages of Debian: postgresql-doc-15, python3.11-doc, git-doc, and sqlite3-doc, openjdk-17-doc,
// apache2-doc, on which no constant is chosen. Those that are neither installed nor unpacked into DIR (apt-get
// download, dpkg -x) are left out, like Xapian without python3-xapian, and OpenSearch without DIR, the directory
// of its jar files. See test/bench/relevance/README.md for the judgments.
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { print, writeResult } from './harness.js';
import {
  bestRanks,
  foldCopies,
  type Judged,
  type Measures,
  measure,
  ranksOf,
  readJudgments,
} from './relevance/judgments.js';
import { Kit } from './relevance/kit.js';
import { OPENSEARCH_SHIPPED, OpenSearch } from './relevance/opensearch.js';
import { askPeer, PEERS, shippedLabel } from './relevance/peers.js';

/** A corpus: where its pages are, and whether the constants of the ranking may be chosen by its queries. */
interface Corpus {
  readonly name: string;
  readonly root: string;
  readonly isHeldOut?: true;
}

const CORPORA: readonly Corpus[] = [
  { name: 'postgresql', root: '/usr/share/doc/postgresql-doc-15/html' },
  { name: 'python', root: '/usr/share/doc/python3.11/html' },
  { name: 'git', root: '/usr/share/doc/git-doc' },
  { name: 'sqlite', root: '/usr/share/doc/sqlite3', isHeldOut: true },
  {
    name: 'java',
    root: '/usr/share/doc/openjdk-17-jre-headless/api/java.base/java',
    isHeldOut: true,
  },
  { name: 'apache', root: '/usr/share/doc/apache2-doc/manual/en', isHeldOut: true },
];
const PAGE = 'kit, search page';
const OPENSEARCH = 'OpenSearch';
/** The ratio to the best of the others that the search page is to have. */
const GOAL = 1.1;
/** Results of a query that are looked at. */
const MAX_RESULTS = 50;

/** Runs the comparison; see the head of the file. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      corpus: { type: 'string', multiple: true },
      opensearch: { type: 'string' },
      unpacked: { type: 'string' },
      worst: { type: 'boolean', default: false },
    },
  });
  if (values.opensearch === undefined) print('skipped: OpenSearch: --opensearch DIR was not given');
  const results: Record<string, Record<string, Measures>> = {};
  for (const corpus of CORPORA) {
    if (values.corpus?.includes(corpus.name) === false) continue;
    const roots = [
      corpus.root,
      ...(values.unpacked === undefined ? [] : [join(values.unpacked, corpus.root)]),
    ];
    const root = roots.find((path) => existsSync(path));
    if (root === undefined) print(`skipped: ${corpus.name}: no ${corpus.root}`);
    else results[corpus.name] = await compare({ ...corpus, root }, values);
  }
  await writeResult('relevance', { corpora: results });
}

async function compare(
  { name, root, isHeldOut }: Corpus,
  options: { readonly worst: boolean; readonly opensearch?: string },
): Promise<Record<string, Measures>> {
  const judged = await readJudgments(name);
  const directory = await mkdtemp(join(tmpdir(), 'relevance-'));
  const ranks = new Map<string, readonly number[]>();
  try {
    await using kit = await Kit.start(root, directory);
    print(`${name}${isHeldOut ? ' (held out)' : ''}: ${judged.length} queries, ${kit.objects} pages`);
    const report = (label: string, results: readonly (readonly string[])[]): void => {
      const found = results.map(foldCopies);
      ranks.set(label, ranksOf(judged, found));
      printRow(label, measure(ranksOf(judged, found)));
      if (options.worst) printWorst(judged, found);
    };
    report(PAGE, await askAll(judged, (query) => kit.page(query, MAX_RESULTS)));
    report('kit, all words', await askAll(judged, (query) => kit.wire(query, MAX_RESULTS)));
    const documents = await kit.documents(directory);
    for (const peer of PEERS) {
      const found = await askPeer(peer, documents, judged, MAX_RESULTS);
      if (found === undefined) print(`skipped: ${peer.label}: ${peer.needs}`);
      else report(peer.label, found);
    }
    if (options.opensearch !== undefined) {
      await using opensearch = await OpenSearch.start(options.opensearch, directory);
      await opensearch.load(documents);
      report(OPENSEARCH, await opensearch.search(judged, MAX_RESULTS));
      const shipped = await opensearch.search(judged, MAX_RESULTS, OPENSEARCH_SHIPPED);
      report(shippedLabel(OPENSEARCH), shipped);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return summarize(judged, ranks);
}

/**
 * Compares the search page with the best of the others, as they are tuned and as they are shipped, and with an
 * oracle: an order that gives each query the best rank that any of the searchers gives it.
 */
function summarize(
  judged: readonly Judged[],
  ranks: ReadonlyMap<string, readonly number[]>,
): Record<string, Measures> {
  const measures = Object.fromEntries(Array.from(ranks, ([label, all]) => [label, measure(all)]));
  const ours = measures[PAGE]?.meanReciprocalRank ?? 0;
  for (const isShipped of [false, true]) {
    const labels = [...ranks.keys()].filter(
      (label) => !label.startsWith('kit,') && label.endsWith(shippedLabel('')) === isShipped,
    );
    const best = Math.max(0, ...labels.map((label) => measures[label]!.meanReciprocalRank));
    const kind = isShipped ? 'as shipped' : 'tuned';
    if (best > 0)
      print(
        `  ratio to the best of the others, ${kind}: ${(ours / best).toFixed(3)}; ${GOAL} takes an MRR of ${(GOAL * best).toFixed(3)}`,
      );
  }
  const oracle = bestRanks([...ranks.values()]);
  measures.oracle = measure(oracle);
  printRow('oracle', measures.oracle);
  for (const [i, { query, pages }] of judged.entries())
    if (oracle[i] === 0 || oracle[i]! > 3)
      print(`    no searcher: ${query}: ${pages[0]} (${oracle[i] || '-'})`);
  return measures;
}

async function askAll(
  judged: readonly Judged[],
  ask: (query: string) => Promise<readonly string[]>,
): Promise<(readonly string[])[]> {
  const found: (readonly string[])[] = [];
  for (const { query } of judged) found.push(await ask(query));
  return found;
}

function printRow(label: string, { meanReciprocalRank, inFirstThree, missing }: Measures): void {
  const share = `${(100 * inFirstThree).toFixed(0)} %`.padStart(5);
  print(
    `  ${label.padEnd(24)} MRR ${meanReciprocalRank.toFixed(3)}, in the first three ${share}, not found ${missing}`,
  );
}

function printWorst(judged: readonly Judged[], found: readonly (readonly string[])[]): void {
  for (const [i, { query, pages }] of judged.entries()) {
    const rank = (found[i] ?? []).findIndex((page) => pages.includes(page)) + 1;
    if (rank !== 1 && rank !== 2 && rank !== 3)
      print(`    ${rank || '-'} ${query}: ${(found[i] ?? []).slice(0, 3).join(' ')} instead of ${pages[0]}`);
  }
}
