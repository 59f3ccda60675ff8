// Benchmark `crawl`: pages per second of the Gatherer without politeness delays, with every page summarized and
// its links stored, compared with the simplest crawl loop, wget2, httrack and crawlee's CheerioCrawler over one
// site on loopback. Each run is a separate process; the programs alternate, in changing order. The sets of
// pages that they find are compared too.
//   npm run bench -- crawl [--site DIRECTORY] [--url URL] [--runs N] [--slow-runs N] [--connections N]
//                          [--rivals plain,wget2,httrack,crawlee] [--crawlee DIR]
// Without --url the site is a directory of HTML (Debian's postgresql-doc-15 if installed, otherwise
// node_modules), served by nginx if installed. `--crawlee` names a folder whose node_modules contains
// @crawlee/cheerio and @crawlee/memory-storage. Programs that are not installed are skipped. httrack and
// crawlee need minutes for 10 000 pages, so they run only --slow-runs times (default 1).
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Contestant, type Crawled, createContestants } from './crawl/contestants.js';
import { defaultDirectory, serve } from './crawl/site.js';
import { childCpuSeconds, median, print, scratchDirectory, writeResult } from './harness.js';

/** The ratios to reach, ours / theirs. */
const GOALS: Readonly<Record<string, number>> = { plain: 1, wget2: 0.25, httrack: 4, crawlee: 10 };
/** Number of pages that a difference between two sets lists. */
const MAX_SHOWN = 10;

/** Runs the comparison; see the head of the file. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      site: { type: 'string' },
      url: { type: 'string' },
      runs: { type: 'string', default: '5' },
      'slow-runs': { type: 'string', default: '1' },
      connections: { type: 'string', default: '16' },
      rivals: { type: 'string', default: 'plain,wget2,httrack,crawlee' },
      crawlee: { type: 'string' },
    },
  });
  using directory = scratchDirectory();
  const scratch = directory.path;
  using site =
    values.url === undefined
      ? await serve(values.site ?? defaultDirectory(), scratch)
      : { url: values.url, [Symbol.dispose]: () => undefined };
  const all = createContestants({ connections: Number(values.connections), crawlee: values.crawlee });
  const [ours, ...rivals] = all as [Contestant, ...Contestant[]];
  const selected = rivals.filter(({ name }) => values.rivals.split(',').includes(name));
  for (const { label, missing } of selected)
    if (missing !== undefined) print(`skipped: ${label}: ${missing}`);
  const lanes = [ours, ...selected.filter(({ missing }) => missing === undefined)].map(
    (contestant) => new Lane(contestant, Number(contestant.slow ? values['slow-runs'] : values.runs)),
  );
  for (let round = 0; lanes.some((lane) => lane.remainingRuns > 0); round++) {
    for (const lane of round % 2 === 0 ? lanes : [...lanes].reverse())
      if (lane.remainingRuns > 0) lane.run(site.url, join(scratch, `${lane.contestant.name}-${round}`));
  }
  await report(site.url, values.connections, lanes);
}

/** The runs of one contestant. */
class Lane {
  readonly crawls: Crawled[] = [];
  /** Milliseconds of processor time for each page of a crawl, by crawl, with the start of the program. */
  readonly cpuMs: number[] = [];

  constructor(
    readonly contestant: Contestant,
    readonly runs: number,
  ) {}

  get remainingRuns(): number {
    return this.runs - this.crawls.length;
  }

  run(url: string, scratch: string): void {
    const before = childCpuSeconds();
    const crawled = this.contestant.run(url, scratch);
    this.crawls.push(crawled);
    this.cpuMs.push((1000 * (childCpuSeconds() - before)) / Math.max(1, crawled.pages));
    rmSync(scratch, { recursive: true, force: true });
  }

  /** Median of the pages per second. */
  get rate(): number {
    return median(this.crawls.map(({ pages, seconds }) => pages / seconds));
  }

  /** (fastest - slowest) / median. */
  get spread(): number {
    const rates = this.crawls.map(({ pages, seconds }) => pages / seconds);
    return (Math.max(...rates) - Math.min(...rates)) / this.rate;
  }

  get maxRssBytes(): number {
    return Math.max(...this.crawls.map(({ maxRssBytes }) => maxRssBytes));
  }

  get last(): Crawled {
    return this.crawls.at(-1)!;
  }
}

async function report(url: string, connections: string, lanes: readonly Lane[]): Promise<void> {
  const [ours, ...rivals] = lanes as [Lane, ...Lane[]];
  print(`crawl: ${ours.last.pages} pages of ${url}, ${connections} connections, medians of alternating runs`);
  for (const lane of lanes) print(formatRow(lane));
  const ratios: Record<string, number> = {};
  const differences: Record<string, Difference> = {};
  for (const { contestant, rate, last } of rivals) {
    ratios[contestant.name] = ours.rate / rate;
    const goal = GOALS[contestant.name];
    print(`  ours / ${contestant.name}: ${(ours.rate / rate).toFixed(2)} (goal ${goal ?? '-'})`);
    const difference = compareSets(ours.last.found, last.found);
    differences[contestant.name] = difference;
    print(`  pages that only ${contestant.name} found: ${formatExamples(difference.onlyThere)}`);
    print(`  pages that ${contestant.name} did not find: ${formatExamples(difference.onlyHere)}`);
  }
  await writeResult('crawl', {
    url,
    connections,
    aim: GOALS,
    ratios,
    differences,
    results: lanes.map(({ contestant, crawls, cpuMs, rate, spread, maxRssBytes }) => ({
      name: contestant.name,
      rate,
      cpuMsPerPage: median(cpuMs),
      spread,
      maxRssBytes,
      crawls: crawls.map(({ pages, seconds, found }) => ({ pages, seconds, found: found.size })),
    })),
  });
}

interface Difference {
  readonly onlyHere: readonly string[];
  readonly onlyThere: readonly string[];
}

function compareSets(here: ReadonlySet<string>, there: ReadonlySet<string>): Difference {
  return {
    onlyHere: [...here].filter((path) => !there.has(path)).sort(),
    onlyThere: [...there].filter((path) => !here.has(path)).sort(),
  };
}

function formatExamples(paths: readonly string[]): string {
  if (paths.length === 0) return 'none';
  const shown = paths.slice(0, MAX_SHOWN).join(' ');
  return `${paths.length}: ${shown}${paths.length > MAX_SHOWN ? ' ...' : ''}`;
}

function formatRow({ contestant, rate, spread, maxRssBytes, last, crawls, cpuMs }: Lane): string {
  return [
    `  ${contestant.label.padEnd(34)}`,
    `${rate.toFixed(0).padStart(6)} pages/s`,
    `${median(cpuMs).toFixed(2).padStart(6)} cpu ms/page`,
    `${String(last.found.size).padStart(6)} pages`,
    `${String(crawls.length).padStart(2)} runs, spread ${(spread * 100).toFixed(0).padStart(3)} %`,
    `peak ${(maxRssBytes / 1e6).toFixed(0)} MB`,
  ].join('  ');
}
