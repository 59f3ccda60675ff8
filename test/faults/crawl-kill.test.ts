// kill -9 at random moments of one crawl: the result equals that of an uninterrupted crawl, and few pages are
// fetched twice (CRAWL-17).
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { decodeSoif } from '../../protocols/soif/index.js';
import { readJournal } from '../../servers/crawler/journal/journal-reader.js';
import { JOURNAL_FILE } from '../../servers/crawler/journal/journal-writer.js';
import { parseCrawlLogLine } from '../../servers/crawler/logs/crawl-log.js';
import type { CrawlOrderInput } from '../../servers/crawler/order/order.js';
import { readOrder } from '../../servers/crawler/order/read-order.js';
import { indexArchive } from '../../servers/crawler/warc/archive-index.js';
import { readProgress } from '../../servers/gatherer/scope/root-limits.js';
import { GathererStore } from '../../storage/index.js';
import { SEEN_KINDS, type SeenKind } from '../../storage/seen/index.js';
import { EventCount } from '../helpers/event-count.js';
import { Random } from '../helpers/random.js';
import { byTier, SEED } from '../helpers/seed.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { RecordingSite } from './crawl-kill-site.js';

const CHILD = fileURLToPath(new URL('crawl-kill-child.js', import.meta.url));
const WORKERS = 6;
/**
 * Kills of the crawl without files, of that with all of them, and of that of each other seen filter: a new
 * process for each.
 */
const [KILLS, FILE_KILLS, FILTER_KILLS] = byTier([13, 12, 0] as const, [40, 20, 12] as const);
/** Pages of a host for each kill: more than a process fetches before it. */
const PAGES_PER_KILL = 2;
const random = new Random(SEED);

/** A process that gathers. */
interface Running {
  readonly child: ChildProcess;
  readonly lines: EventCount;
  output: string;
}

/**
 * A sequence of Gatherer processes on the same directory; the next process loads while the current one runs.
 */
class ProcessSequence {
  #next: ChildProcess;

  constructor(readonly argv: readonly string[]) {
    this.#next = this.#spawn();
  }

  #spawn(): ChildProcess {
    return spawn(process.execPath, [CHILD, ...this.argv], { stdio: ['pipe', 'pipe', 'inherit'] });
  }

  /** Lets the loaded process run, and loads another one unless it is the last. */
  start(isLast = false): Running {
    const child = this.#next;
    const running: Running = { child, lines: new EventCount(), output: '' };
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      running.output += text;
      running.lines.add(text.split('\n').length - 1);
    });
    child.stdin?.end('go\n');
    if (!isLast) this.#next = this.#spawn();
    return running;
  }

  /** Kills the process that was loaded but not used. */
  async close(): Promise<void> {
    if (this.#next.exitCode !== null || this.#next.signalCode !== null) return;
    const exited = once(this.#next, 'exit');
    this.#next.kill('SIGKILL');
    await exited;
  }
}

interface CrawlSetup {
  readonly site: RecordingSite;
  readonly directory: string;
  readonly configuration: string;
}

/** Writes the order and the configuration of a crawl of the site to a temporary directory. */
async function setUp(t: Test, site: RecordingSite, order: CrawlOrderInput): Promise<CrawlSetup> {
  const directory = await temporaryDirectory(t);
  const settings = { delayFactor: 0, minDelayMs: 8, maxDelayMs: 8, ...order.settings };
  writeFileSync(join(directory, 'order.json'), JSON.stringify({ ...order, settings }));
  const configuration = join(directory, 'crawl.cf');
  const roots = site.roots.map((url) => `${url} URL=2000 Host=10`).join('\n');
  writeFileSync(
    configuration,
    `Gatherer-Name: Kills\nTop-Directory: ${directory}\nCrawl-Order: order.json\nAccess-Delay: 0\n<RootNodes>\n${roots}\n</RootNodes>\n`,
  );
  return { site, directory, configuration };
}

/** Runs a crawl to its end, with at most `kills` kills. */
async function crawl({ site, directory, configuration }: CrawlSetup, name: string, kills: number) {
  const processes = new ProcessSequence([configuration, join(directory, name), String(WORKERS)]);
  site.clear();
  let killed = 0;
  let report = '';
  while (report === '') {
    site.beginProcess();
    const isLast = killed >= kills;
    const running = processes.start(isLast);
    const { child } = running;
    const exit = once(child, 'close');
    if (!isLast) await Promise.race([randomMoment(site, running), exit]);
    if (!isLast && child.exitCode === null) {
      child.kill('SIGKILL');
      await exit;
      if (child.signalCode === 'SIGKILL') {
        killed++;
        continue;
      }
    }
    await exit;
    if (child.exitCode !== 0) throw new Error(`the Gatherer ended with ${child.exitCode}`);
    report = running.output.trim().split('\n').at(-1) ?? '';
  }
  await processes.close();
  return { killed, report, result: await readResult(join(directory, name, 'gatherer')) };
}

/**
 * Waits for a random number of requests, or of URIs that are done, or, in one of ten cases, for the begin or
 * the end of the opening of files. A process that is killed before its first request does not advance the
 * crawl.
 */
function randomMoment(site: RecordingSite, { lines }: Running): Promise<void> {
  if (random.once(10)) return lines.reached(random.between(1, 2));
  const count = random.between(1, 14);
  return random.once(2) ? site.requests.further(count) : lines.reached(2 + count);
}

/** Returns all results of a crawl except times. */
async function readResult(gatherer: string) {
  await using store = await GathererStore.open(join(gatherer, 'working'));
  const objects: Record<string, unknown> = {};
  for await (const summaries of store.summaries.iterate()) {
    for (const { url, soif } of summaries) {
      if (url in objects) throw new Error(`${url} has two objects`);
      objects[url] = decodeSoif(soif)
        .attributes.filter(({ name }) => !/-time$/i.test(name))
        .map(({ name, value }) => `${name}: ${Buffer.from(value).toString()}`);
    }
  }
  const documents: Record<string, unknown> = {};
  for await (const { fetchTime: _, updateTime, ...document } of store.documents.iterate())
    documents[document.url] = { ...document, summarized: updateTime > 0 };
  const names = new Map<number, string>();
  for await (const page of store.links.documents()) for (const { id, url } of page) names.set(id, url);
  const links: string[] = [];
  for await (const pairs of store.links.pairs())
    for (let i = 0; i < pairs.length; i += 2)
      links.push(`${names.get(pairs[i] ?? 0)} -> ${names.get(pairs[i + 1] ?? 0)}`);
  const queues: Record<string, unknown> = {};
  for await (const page of store.queueRecords.pages())
    for (const { classKey, count, enqueued, successes, errors, bytes, totalExpenditure } of page)
      queues[classKey] = { count, enqueued, successes, errors, bytes, totalExpenditure };
  const roots = await Promise.all([0, 1, 2, 3].map((root) => readProgress(store.meta, root)));
  const state = await store.frontierState();
  const { succeeded, failed, disregarded, bytes, nextOrdinal } = state ?? {};
  return {
    objects,
    documents,
    links: links.sort(),
    queues,
    // The RootNode that a page counts for depends on the order of discovery; the sum does not.
    generated: roots.reduce((sum, root) => sum + (root?.urls ?? 0), 0),
    counters: { succeeded, failed, disregarded, bytes, nextOrdinal },
    pending: (await store.queues.survey()).count,
  };
}

/**
 * Returns the repeated requests, except those that repeat the last request to their host before a kill. A page
 * is requested once; an address without a document of its own, whose links no record has, once for each
 * RootNode that leads to it (G-68).
 */
function unnecessaryRequests({ processes, roots }: Pick<RecordingSite, 'processes' | 'roots'>): string[] {
  const completed = new Map<string, number>();
  const unnecessary: string[] = [];
  processes.forEach((pathsByHost, number) => {
    for (const [host, paths] of pathsByHost) {
      for (const [i, path] of paths.entries()) {
        const count = completed.get(host + path) ?? 0;
        const allowed = /^\/(?:gone|moved)/.test(path) ? roots.length : 1;
        if (count >= allowed) unnecessary.push(`${host}${path} in process ${number}`);
        if (i < paths.length - 1) completed.set(host + path, count + 1);
      }
    }
  });
  return unnecessary;
}

function countRequests(processes: RecordingSite['processes']): number {
  return processes.reduce(
    (sum, pathsByHost) => sum + [...pathsByHost.values()].reduce((all, paths) => all + paths.length, 0),
    0,
  );
}

/**
 * Returns the status and URL of each line of a crawl's log, the rotated ones included, and its reports without
 * times.
 */
function readRecords(gatherer: string) {
  const logs = join(gatherer, 'crawl', 'logs');
  const lines = (log: string): string[] =>
    readdirSync(logs)
      .filter((name) => name.startsWith(log))
      .flatMap((name) => readFileSync(join(logs, name), 'utf8').split('\n'))
      .filter((line) => line !== '');
  const entries = lines('crawl.log').map((line) => parseCrawlLogLine(line) ?? line);
  const reports = ['seeds', 'mimetype', 'responsecode', 'hosts'].map((name) =>
    readFileSync(join(gatherer, 'crawl', 'reports', `${name}-report.txt`), 'utf8')
      .replace(/\d{4}-\d\d-\d\dT[\d:]+Z/g, 'TIME')
      .split('\n'),
  );
  return {
    lines: entries
      .map((entry) => (typeof entry === 'string' ? entry : `${entry.status} ${entry.url}`))
      .sort(),
    uriErrors: lines('uri-errors.log')
      .map((line) => line.slice(line.indexOf(' ') + 1))
      .sort(),
    reports: reports.map((report) => report.sort()),
  };
}

/** Compares a killed crawl with an uninterrupted one. */
async function compare(
  t: Test,
  site: RecordingSite,
  order: CrawlOrderInput,
  kills: number,
): Promise<CrawlSetup> {
  const setup = await setUp(t, site, order);
  const uninterrupted = await crawl(setup, 'uninterrupted', 0);
  const pages = countRequests(site.processes);
  t.same(unnecessaryRequests(site), [], 'the uninterrupted crawl requests each page once');
  const { killed, report, result } = await crawl(setup, 'killed', kills);
  t.comment(`${killed} kills, ${pages} pages, ${countRequests(site.processes)} requests`);
  t.ok(killed >= kills * 0.9, `${killed} of ${kills} kills hit a running process`);
  t.same(JSON.parse(report), { end: 'finished', resumed: true }, 'the last process finishes the crawl');
  // Short results are compared first, so that a failure is readable.
  const keys = ['counters', 'pending', 'generated', 'queues'] as const;
  for (const key of keys)
    t.same(result[key], uninterrupted.result[key], `${key} equal those of the other crawl`);
  t.same(
    Object.keys(result.objects).sort(),
    Object.keys(uninterrupted.result.objects).sort(),
    'both crawls have the same objects',
  );
  t.same(result, uninterrupted.result, 'both crawls have the same results');
  t.same(unnecessaryRequests(site), [], 'only requests in flight at a kill are repeated');
  t.ok(
    countRequests(site.processes) <= pages + killed * WORKERS,
    `${countRequests(site.processes)} requests for ${pages} pages, ${killed} kills and ${WORKERS} workers`,
  );
  if (order.logs === false) return setup;
  const [expected, found] = ['uninterrupted', 'killed'].map((name) =>
    readRecords(join(setup.directory, name, 'gatherer')),
  );
  t.same(found?.lines, expected?.lines, 'CRAWL-16.1: each disposed URI has one line in crawl.log');
  const { succeeded = 0, failed = 0, disregarded = 0 } = result.counters;
  t.equal(found?.lines.length, succeeded + failed + disregarded, 'and there is no other line');
  t.ok(found?.uriErrors.length, 'CRAWL-16.4: links that are not URIs are logged');
  t.same(found?.uriErrors, expected?.uriErrors, 'once');
  t.same(found?.reports, expected?.reports, 'CRAWL-16.7: both crawls have the same reports');
  return setup;
}

t.test(`CRAWL-17: kill -9 many times during one crawl (seed ${SEED})`, async (t) => {
  await using site = await RecordingSite.start(PAGES_PER_KILL * KILLS);
  await compare(t, site, { logs: false }, KILLS);
});

for (const seen of byTier<readonly SeenKind[]>([], SEEN_KINDS).filter((kind) => kind !== 'level')) {
  t.test(`CRAWL-4.4: kill -9 with the seen filter ${seen} (seed ${SEED})`, async (t) => {
    await using site = await RecordingSite.start(40);
    await compare(t, site, { seen, sourceTagSeeds: true }, FILTER_KILLS);
  });
}

t.test(`CRAWL-17.1: kill -9 with logs, journal, WARC files and checkpoints (seed ${SEED})`, async (t) => {
  await using site = await RecordingSite.start(PAGES_PER_KILL * FILE_KILLS);
  const archive = await temporaryDirectory(t);
  const order: CrawlOrderInput = {
    recoveryJournal: true,
    checkpointMinutes: 0.005,
    warc: { directory: archive, maxFileBytes: 20_000, poolMaxActive: 3 },
  };
  readOrder(JSON.stringify(order), 'order.json');
  const { directory } = await compare(t, site, order, FILE_KILLS);
  const crawled = join(directory, 'killed', 'gatherer', 'crawl');
  const finished = new Set<string>();
  const logs = readdirSync(join(crawled, 'logs')).filter((name) => name.startsWith(JOURNAL_FILE));
  for (const name of logs)
    for await (const event of readJournal(join(crawled, 'logs', name)))
      if (event.tag === 'Fs') finished.add(event.url);
  t.ok(finished.size > 0, 'the journals can be read to their ends');
  const responses = new Map<string, number>();
  for (const name of readdirSync(archive)) {
    t.notOk(name.endsWith('.open'), `${name} is finished`);
    if (!name.endsWith('.warc.gz')) continue;
    const { lines, damage } = await indexArchive(join(archive, name));
    t.same(damage, [], name);
    for (const line of lines) {
      const { url = '' } = JSON.parse(line.slice(line.indexOf('{'))) as Record<string, string>;
      responses.set(url, (responses.get(url) ?? 0) + 1);
    }
  }
  const lost = [...finished].filter((url) => (responses.get(url) ?? 0) < 2);
  t.same(lost, [], 'both crawls have a record of each document, whichever file was open at a kill');
});
