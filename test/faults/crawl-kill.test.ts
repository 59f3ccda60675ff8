// kill -9 at random moments of one crawl: the result is that of an undisturbed crawl, and few pages are fetched twice (CRAWL-17).
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { decodeSoif } from '../../protocols/soif/index.js';
import { JOURNAL_FILE, readJournal } from '../../servers/crawler/journal/index.js';
import { type CrawlOrderInput, readOrder } from '../../servers/crawler/order/index.js';
import { readProgress } from '../../servers/gatherer/root-limits.js';
import { GathererStore } from '../../storage/index.js';
import { SEEN_KINDS } from '../../storage/seen/index.js';
import { PLAIN_NODE } from '../helpers/plain-node.js';
import { KillSite } from './crawl-kill-site.js';

const CHILD = fileURLToPath(new URL('crawl-kill-child.js', import.meta.url));
const WORKERS = 6;

// Each kill needs a new process, which takes a second on a busy machine.
t.setTimeout(600_000);
t.jobs = 1;

/** A sequence of Gatherers on the same directory; the next process is loaded while one runs. */
class Lives {
  #next: ChildProcess;

  constructor(readonly argv: readonly string[]) {
    this.#next = this.#load();
  }

  #load(): ChildProcess {
    return spawn('env', [...PLAIN_NODE, CHILD, ...this.argv], { stdio: ['pipe', 'pipe', 'inherit'] });
  }

  /** Starts the next process; `last`: no other one follows. */
  begin(last = false): { readonly child: ChildProcess; readonly output: string[] } {
    const child = this.#next;
    const output: string[] = [];
    child.stdout?.setEncoding('utf8').on('data', (text: string) => output.push(text));
    child.stdin?.end('go\n');
    if (!last) this.#next = this.#load();
    return { child, output };
  }

  async end(): Promise<void> {
    if (this.#next.exitCode !== null || this.#next.signalCode !== null) return;
    const gone = once(this.#next, 'exit');
    this.#next.kill('SIGKILL');
    await gone;
  }
}

interface Scene {
  readonly site: KillSite;
  readonly directory: string;
  readonly configuration: string;
}

function scene(t: Test, site: KillSite, order: CrawlOrderInput): Scene {
  const directory = mkdtempSync(join(tmpdir(), 'harvest-crawl-kill-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
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

/** Runs the crawl from its beginning to its end, with at most `kills` kills. */
async function crawl({ site, directory, configuration }: Scene, name: string, kills: number) {
  const lives = new Lives([configuration, join(directory, name), String(WORKERS)]);
  site.forget();
  let killed = 0;
  let ended = '';
  while (ended === '') {
    site.begin();
    const last = killed >= kills;
    const { child, output } = lives.begin(last);
    const exit = once(child, 'exit');
    if (!last) await moment(site, exit);
    if (!last && child.exitCode === null) {
      child.kill('SIGKILL');
      await exit;
      if (child.signalCode === 'SIGKILL') {
        killed++;
        continue;
      }
    }
    await exit;
    if (child.exitCode !== 0) throw new Error(`the Gatherer ended with ${child.exitCode}`);
    ended = output.join('');
  }
  await lives.end();
  return { killed, ended, result: await resultOf(join(directory, name, 'gatherer')) };
}

/**
 * Resolves after some requests and milliseconds, or early, while files are opened, or when the process has ended. The limit is for
 * a crawl that waits: on a busy machine seconds pass before the first request, and a kill before it is no progress.
 */
async function moment(site: KillSite, exit: Promise<unknown>): Promise<void> {
  if (Math.random() < 0.1) return pause(Math.random() * 150);
  const wanted = 1 + Math.floor(Math.random() * 14);
  const asked = new Promise<void>((resolve) => {
    site.onRequest = () => {
      if (site.requests >= wanted) resolve();
    };
  });
  await Promise.race([asked, exit, pause(60_000)]);
  await pause(Math.random() * 25);
}

/** All results of a crawl except times. */
async function resultOf(gatherer: string) {
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
    for (let at = 0; at < pairs.length; at += 2)
      links.push(`${names.get(pairs[at] ?? 0)} -> ${names.get(pairs[at + 1] ?? 0)}`);
  const queues: Record<string, unknown> = {};
  for await (const page of store.queueRecords.pages())
    for (const { classKey, count, enqueued, successes, errors, bytes, totalExpenditure } of page)
      queues[classKey] = { count, enqueued, successes, errors, bytes, totalExpenditure };
  const roots = await Promise.all([0, 1, 2, 3].map((root) => readProgress(store.meta, root)));
  const state = await store.queueRecords.state();
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

/** Paths requested twice that were not the last request to their host before a kill. */
function needless(lives: KillSite['lives']): string[] {
  const done = new Set<string>();
  const needless: string[] = [];
  lives.forEach((life, number) => {
    for (const [host, paths] of life) {
      for (const path of paths) if (done.has(host + path)) needless.push(`${host}${path} in life ${number}`);
      for (const path of paths.slice(0, -1)) done.add(host + path);
    }
  });
  return needless;
}

function requestsOf(lives: KillSite['lives']): number {
  return lives.reduce(
    (sum, life) => sum + [...life.values()].reduce((all, paths) => all + paths.length, 0),
    0,
  );
}

/** Compares a killed crawl with an undisturbed one. */
async function compare(t: Test, site: KillSite, order: CrawlOrderInput, kills: number): Promise<Scene> {
  const one = scene(t, site, order);
  const quiet = await crawl(one, 'quiet', 0);
  const pages = requestsOf(site.lives);
  t.same(needless(site.lives), [], 'the quiet crawl asks once for each page');
  const { killed, ended, result } = await crawl(one, 'killed', kills);
  t.comment(`${killed} kills, ${pages} pages, ${requestsOf(site.lives)} requests`);
  t.ok(killed >= kills * 0.9, `killed ${killed} times of ${kills}`);
  t.same(
    JSON.parse(ended.split('\n')[1] ?? '{}'),
    { end: 'finished', resumed: true },
    'the last life ends well',
  );
  // Short results first, so that a failure is readable.
  const parts = ['counters', 'pending', 'generated', 'queues'] as const;
  for (const part of parts) t.same(result[part], quiet.result[part], `${part} are those of a quiet crawl`);
  t.same(Object.keys(result.objects).sort(), Object.keys(quiet.result.objects).sort(), 'the same objects');
  t.same(result, quiet.result, 'all that comes out is what a quiet crawl gives');
  t.same(needless(site.lives), [], 'twice only what was at a worker when it was killed');
  t.ok(
    requestsOf(site.lives) <= pages + killed * WORKERS,
    `${requestsOf(site.lives)} requests for ${pages} pages, ${killed} kills and ${WORKERS} workers`,
  );
  return one;
}

t.test('CRAWL-17 kill -9 a hundred times during one crawl', async (t) => {
  await using site = await KillSite.start(200);
  await compare(t, site, { logs: false }, 100);
});

for (const seen of SEEN_KINDS.filter((kind) => kind !== 'level')) {
  t.test(`CRAWL-4.4 kill -9 with the seen filter ${seen}`, async (t) => {
    await using site = await KillSite.start(40);
    await compare(t, site, { logs: false, seen }, 12);
  });
}

t.test('CRAWL-17.1 kill -9 with logs, journal, WARC files and checkpoints', async (t) => {
  await using site = await KillSite.start(40);
  const archive = mkdtempSync(join(tmpdir(), 'harvest-crawl-kill-warc-'));
  t.teardown(() => rmSync(archive, { recursive: true, force: true }));
  const order: CrawlOrderInput = {
    recoveryJournal: true,
    checkpointMinutes: 0.005,
    warc: { directory: archive, maxFileBytes: 20_000 },
  };
  readOrder(JSON.stringify(order), 'order.json');
  const { directory } = await compare(t, site, order, 20);
  const crawled = join(directory, 'killed', 'gatherer', 'crawl');
  const finished = new Set<string>();
  const logs = readdirSync(join(crawled, 'logs')).filter((name) => name.startsWith(JOURNAL_FILE));
  for (const name of logs)
    for await (const event of readJournal(join(crawled, 'logs', name)))
      if (event.tag === 'Fs') finished.add(event.url);
  t.ok(finished.size > 0, 'the journals can be read to their ends');
});
