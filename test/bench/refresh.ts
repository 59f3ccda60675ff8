// Benchmark `refresh`: the second run over an unchanged site with all documents due (--force): pages checked
// per second by conditional requests, compared with `wget2 -N` over its saved files. Both have gathered the
// site once, unmeasured.
//   npm run bench -- refresh [--site DIRECTORY] [--runs N] [--connections N]
// Needs nginx, whose log counts the answers with status 304.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { listSavedPages, runProgram } from './crawl/contestants.js';
import { type BenchSite, defaultDirectory, isInstalled, serve } from './crawl/site.js';
import { childCpuSeconds, median, print, scratchDirectory, writeResult } from './harness.js';

/** The outcome of a second run. */
interface Checked {
  readonly pages: number;
  readonly seconds: number;
  readonly maxRssBytes: number;
  /** Of processor time for each page, with the start of the program. */
  readonly cpuMs: number;
  /** Answers of the server by status. */
  readonly answers: Readonly<Record<string, number>>;
}

interface FullCrawl {
  readonly pages: number;
  readonly seconds: number;
  readonly maxRssBytes: number;
  readonly counts: { readonly unchanged: number };
}

/** Runs the comparison; see the head of the file. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      site: { type: 'string' },
      runs: { type: 'string', default: '5' },
      connections: { type: 'string', default: '16' },
    },
  });
  if (!isInstalled('nginx'))
    throw new Error('nginx is required: the file server of the benchmarks never answers 304');
  using directory = scratchDirectory();
  const scratch = directory.path;
  using site = await serve(values.site ?? defaultDirectory(), scratch, true);
  const sides = [new Ours(site, scratch, values.connections)];
  const rival = isInstalled('wget2') ? new Wget2(site, scratch) : undefined;
  if (rival === undefined) print('skipped: wget2 is not installed');
  const all = rival === undefined ? sides : [...sides, rival];
  for (const side of all) side.crawl();
  const results = new Map<string, Checked[]>(all.map(({ label }) => [label, []]));
  for (let round = 0; round < Number(values.runs); round++) {
    for (const side of round % 2 === 0 ? all : [...all].reverse())
      results.get(side.label)!.push(countAnswersDuring(site, () => side.refresh()));
  }
  await report(site.url, values.connections, results);
}

/** Runs the Gatherer; `--force` makes every document due. */
class Ours {
  readonly label = 'Gatherer, conditional requests';
  readonly #args: readonly string[];

  constructor(site: BenchSite, scratch: string, connections: string) {
    const file = fileURLToPath(new URL('full-crawl.js', import.meta.url));
    const data = join(scratch, 'data');
    this.#args = [file, '--url', site.url, '--directory', data, '--connections', connections];
  }

  crawl(): void {
    this.#run([]);
  }

  refresh(): Pick<Checked, 'pages' | 'seconds' | 'maxRssBytes'> {
    const { counts, seconds, maxRssBytes } = this.#run(['--force']);
    return { pages: counts.unchanged, seconds, maxRssBytes };
  }

  #run(options: readonly string[]): FullCrawl {
    const { status, stdout, stderr } = spawnSync(process.execPath, [...this.#args, ...options], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`the Gatherer ended with ${status}: ${stderr.slice(-2000)}`);
    return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as FullCrawl;
  }
}

/** Runs `wget2 -N`, which checks whether a document is newer than the saved file. */
class Wget2 {
  readonly label = 'wget2 -N';
  readonly #files: string;
  readonly #scratch: string;
  readonly #args: readonly string[];

  constructor(site: BenchSite, scratch: string) {
    this.#files = join(scratch, 'files');
    this.#scratch = join(scratch, 'wget2');
    const options = ['-q', '-N', '-r', '-l', 'inf', '--robots=off', '--max-threads=8', '--http2=off'];
    this.#args = [...options, '-P', this.#files, site.url];
  }

  crawl(): void {
    runProgram('wget2', this.#scratch, this.#args);
  }

  refresh(): Pick<Checked, 'pages' | 'seconds' | 'maxRssBytes'> {
    const measured = runProgram('wget2', this.#scratch, this.#args);
    return { ...measured, pages: listSavedPages(this.#files).pages };
  }
}

/** Runs a crawler and counts the answers of the server during its run. */
function countAnswersDuring(
  site: BenchSite,
  work: () => Pick<Checked, 'pages' | 'seconds' | 'maxRssBytes'>,
): Checked {
  const before = site.countAnswers();
  const cpu = childCpuSeconds();
  const outcome = work();
  const cpuMs = (1000 * (childCpuSeconds() - cpu)) / Math.max(1, outcome.pages);
  const answers = Object.entries(site.countAnswers()).map(([status, count]): [string, number] => [
    status,
    count - (before[status] ?? 0),
  ]);
  return { ...outcome, cpuMs, answers: Object.fromEntries(answers.filter(([, count]) => count > 0)) };
}

async function report(
  url: string,
  connections: string,
  results: ReadonlyMap<string, readonly Checked[]>,
): Promise<void> {
  print(`refresh: ${url}, unchanged, ${connections} connections, medians of alternating runs`);
  const rates = new Map<string, number>();
  for (const [label, checks] of results) {
    const rate = median(checks.map(({ pages, seconds }) => pages / seconds));
    rates.set(label, rate);
    const { pages, answers } = checks.at(-1)!;
    const peak = Math.max(...checks.map(({ maxRssBytes }) => maxRssBytes)) / 1e6;
    const cpuMs = median(checks.map((check) => check.cpuMs)).toFixed(2);
    const statuses = Object.entries(answers).map(([status, count]) => `${count} x ${status}`);
    print(
      `  ${label.padEnd(32)} ${rate.toFixed(0).padStart(6)} pages/s, ${cpuMs} cpu ms/page, ${pages} pages, peak ${peak.toFixed(0)} MB, answers ${statuses.join(', ')}`,
    );
  }
  const [ours = 0, rival] = [...rates.values()];
  if (rival !== undefined) print(`  ours / wget2 -N: ${(ours / rival).toFixed(2)}`);
  await writeResult('refresh', {
    url,
    connections,
    ratio: rival === undefined ? undefined : ours / rival,
    results: Object.fromEntries(results),
  });
}
