// Benchmark `relevance`: how often the search page, and a plain query over the wire, have the page one looks
// for among the first results, beside Xapian and SQLite FTS5 over the same documents.
//   npm run bench -- relevance [--corpus NAME]... [--unpacked DIR] [--opensearch DIR] [--worst | --pool DIR | --fit]
// Corpora are packages of Debian: postgresql-doc-15, python3.11-doc, git-doc, and sqlite3-doc, openjdk-17-doc,
// apache2-doc, on which no constant is chosen. Those that are neither installed nor unpacked into DIR (apt-get
// download, dpkg -x) are left out, like Xapian without python3-xapian, and OpenSearch without DIR, the directory
// of its jar files. `--pool` writes what is to be judged to DIR/CORPUS.tsv instead of measuring; `--fit`
// prints what the weights of the order reach if they are fitted to the queries of each corpus itself (minutes). See
// test/bench/relevance/README.md for the judgments.
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { print, writeResult } from './harness.js';
import { fitted } from './relevance/fit.js';
import {
  bestRanks,
  foldCopies,
  type Judged,
  type Measures,
  measure,
  poolOf,
  ranksOf,
  readJudgments,
  spreadOfRatio,
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
/** The same page, with its index in OpenSearch. */
const PAGE_ON_OPENSEARCH = 'kit, page on OpenSearch';
const OPENSEARCH = 'OpenSearch';
/** The ratio to the best of the others that the search page is to have. */
const GOAL = 1.1;
/** Results of a query that are looked at. */
const MAX_RESULTS = 50;
/** First results of each searcher that are to be judged. */
const POOLED_RESULTS = 5;

/** What the result file has of a corpus. */
interface Compared {
  readonly measures: Record<string, Measures>;
  /** The rank of the first right page, 0 without one, and the page that stood first. */
  readonly queries: readonly {
    readonly query: string;
    readonly searchers: Record<string, { readonly rank: number; readonly first: string | undefined }>;
  }[];
}

/** Takes what a searcher found: the pages of each query, without copies. */
type Report = (label: string, found: readonly (readonly string[])[]) => void;

/** Runs the comparison; see the head of the file. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      corpus: { type: 'string', multiple: true },
      opensearch: { type: 'string' },
      unpacked: { type: 'string' },
      worst: { type: 'boolean', default: false },
      pool: { type: 'string' },
      fit: { type: 'boolean', default: false },
    },
  });
  if (values.opensearch === undefined) print('skipped: OpenSearch: --opensearch DIR was not given');
  const results: Record<string, Compared> = {};
  for (const corpus of CORPORA) {
    if (values.corpus?.includes(corpus.name) === false) continue;
    const roots = [
      corpus.root,
      ...(values.unpacked === undefined ? [] : [join(values.unpacked, corpus.root)]),
    ];
    const root = roots.find((path) => existsSync(path));
    if (root === undefined) print(`skipped: ${corpus.name}: no ${corpus.root}`);
    else if (values.fit) await fit({ ...corpus, root });
    else if (values.pool !== undefined) await pool({ ...corpus, root }, values.pool, values.opensearch);
    else results[corpus.name] = await compare({ ...corpus, root }, values);
  }
  if (values.pool === undefined && !values.fit) await writeResult('relevance', { corpora: results });
}

/**
 * Writes the first results of all searchers, a query a line in the form of the judgments. It prints no measure,
 * and the pages stand in order of their paths: who judges them cannot tell whose they are.
 */
async function pool(corpus: Corpus, directory: string, opensearch: string | undefined): Promise<void> {
  const judged = await readJudgments(corpus.name);
  const all: (readonly (readonly string[])[])[] = [];
  await searchAll(corpus, judged, opensearch, (_label, found) => all.push(found));
  const lines = judged.map(({ query }, i) =>
    [
      query,
      ...poolOf(
        all.map((found) => found[i] ?? []),
        POOLED_RESULTS,
      ),
    ].join('\t'),
  );
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, `${corpus.name}.tsv`), `${lines.join('\n')}\n`);
}

/** Prints the MRR of weights that are fitted to the queries of a corpus, beside the best of the others. */
async function fit({ name, root }: Corpus): Promise<void> {
  const judged = await readJudgments(name);
  const directory = await mkdtemp(join(tmpdir(), 'relevance-'));
  try {
    await using kit = await Kit.start(root, directory);
    print(`${name}: ${judged.length} queries, ${kit.objects} pages`);
    const { before, after, changes } = await fitted(kit, judged, MAX_RESULTS, (text) => print(`  ${text}`));
    print(
      `  MRR ${before.toFixed(3)} with the weights as they are, ${after.toFixed(3)} with those fitted to these queries:`,
    );
    for (const { name: weight, from, to } of changes)
      print(`    ${weight} ${Number(to.toPrecision(3))} instead of ${from}`);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function compare(
  corpus: Corpus,
  options: { readonly worst: boolean; readonly opensearch?: string },
): Promise<Compared> {
  const judged = await readJudgments(corpus.name);
  const firsts = new Map<string, readonly (string | undefined)[]>();
  const ranks = new Map<string, readonly number[]>();
  await searchAll(corpus, judged, options.opensearch, (label, found) => {
    const ranksOfLabel = ranksOf(judged, found);
    ranks.set(label, ranksOfLabel);
    firsts.set(
      label,
      found.map(([first]) => first),
    );
    printRow(label, measure(ranksOfLabel));
    if (options.worst) printWorst(judged, found);
  });
  const measures = summarize(judged, ranks);
  const queries = judged.map(({ query }, i) => ({
    query,
    searchers: Object.fromEntries(
      Array.from(ranks, ([label, all]) => [label, { rank: all[i] ?? 0, first: firsts.get(label)?.[i] }]),
    ),
  }));
  return { measures, queries };
}

/** Asks every searcher that is installed. */
async function searchAll(
  { name, root, isHeldOut }: Corpus,
  judged: readonly Judged[],
  opensearchLibraries: string | undefined,
  report: Report,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'relevance-'));
  const reportFolded: Report = (label, found) => report(label, found.map(foldCopies));
  try {
    await using kit = await Kit.start(root, directory);
    print(`${name}${isHeldOut ? ' (held out)' : ''}: ${judged.length} queries, ${kit.objects} pages`);
    reportFolded(PAGE, await askAll(judged, (query) => kit.page(query, MAX_RESULTS)));
    reportFolded('kit, all words', await askAll(judged, (query) => kit.wire(query, MAX_RESULTS)));
    const documents = await kit.documents(directory);
    for (const peer of PEERS) {
      const found = await askPeer(peer, documents, judged, MAX_RESULTS);
      if (found === undefined) print(`skipped: ${peer.label}: ${peer.needs}`);
      else reportFolded(peer.label, found);
    }
    if (opensearchLibraries !== undefined) {
      await using opensearch = await OpenSearch.start(opensearchLibraries, directory);
      await using onOpenSearch = await Kit.start(root, join(directory, 'kit'), opensearch.url);
      reportFolded(
        PAGE_ON_OPENSEARCH,
        await askAll(judged, (query) => onOpenSearch.page(query, MAX_RESULTS)),
      );
      await opensearch.load(documents);
      reportFolded(OPENSEARCH, await opensearch.search(judged, MAX_RESULTS));
      const shipped = await opensearch.search(judged, MAX_RESULTS, OPENSEARCH_SHIPPED);
      reportFolded(shippedLabel(OPENSEARCH), shipped);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
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
    const mrr = (label: string) => measures[label]!.meanReciprocalRank;
    const [best] = labels.sort((a, b) => mrr(b) - mrr(a));
    if (best === undefined) continue;
    const kind = isShipped ? 'as shipped' : 'tuned';
    const { low, high, reached } = spreadOfRatio(ranks.get(PAGE)!, ranks.get(best)!, GOAL);
    print(
      `  ratio to the best of the others, ${kind}: ${(ours / mrr(best)).toFixed(3)}; ${GOAL} takes an MRR of ${(GOAL * mrr(best)).toFixed(3)}`,
    );
    print(
      `    over samples of the queries: ${low.toFixed(2)} to ${high.toFixed(2)} in 95 of 100, ${GOAL} or more in ${(100 * reached).toFixed(0)} of 100`,
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
