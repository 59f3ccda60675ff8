// Benchmark `frontier`: URIs per second of the frontier alone, with queues and seen filter on disk. N URIs of 1
// 000 hosts are scheduled, some of them twice, and drained by `next` and `finished` without any fetch. Prints
// rates and memory for each tenth, which shows whether the cost of a URI stays constant.
//   npm run bench -- frontier [--uris N] [--hosts N] [--links N] [--workers N] [--scratch DIR]
import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Frontier } from '../../servers/crawler/frontier/frontier.js';
import { GathererStore } from '../../storage/index.js';
import { print, scratchDirectory, writeResult } from './harness.js';

/** The figures of a tenth of the work. */
interface Tenth {
  readonly uris: number;
  readonly perSecond: number;
  readonly rssBytes: number;
  readonly heapBytes: number;
}

const TENTHS = 10;

/** Runs the benchmark; see the head of the file. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      uris: { type: 'string', default: '1000000' },
      hosts: { type: 'string', default: '1000' },
      links: { type: 'string', default: '100' },
      workers: { type: 'string', default: '64' },
      scratch: { type: 'string' },
    },
  });
  const uris = Number(values.uris);
  const hosts = Number(values.hosts);
  using directory = scratchDirectory(values.scratch);
  await using store = await GathererStore.open(join(directory.path, 'working'));
  const frontier = await openFrontier(store);
  print(`frontier: ${uris.toLocaleString('en')} URIs of ${hosts.toLocaleString('en')} hosts`);
  const scheduled = await measure('scheduled', uris, (report) =>
    schedule(frontier, { uris, hosts, links: Number(values.links) }, report),
  );
  if (frontier.counts.queued !== uris) throw new Error(`${frontier.counts.queued} are queued, not ${uris}`);
  const drained = await measure('drained', uris, (report) =>
    drain(frontier, store, Number(values.workers), report),
  );
  if (!frontier.empty) throw new Error('not everything was drained');
  await frontier.settled();
  frontier.close();
  await writeResult(`frontier-${uris}`, { uris, hosts, scheduled, drained });
}

/** One queue per host, no delays: only the frontier is measured. */
async function openFrontier(store: GathererStore): Promise<Frontier> {
  const seen = await store.openSeenFilter();
  return Frontier.open({
    store,
    seen,
    prepare: ({ url, directive = 3 }) => ({
      classKey: url.slice(7, url.indexOf('/', 7)),
      seenKey: url,
      directive,
      cost: 1,
      precedence: 1,
      budgets: { replenish: 3000, totalBudget: -1 },
    }),
  });
}

/** Schedules the links of pages: each page has new URIs of several hosts, and as many known ones. */
async function schedule(
  frontier: Frontier,
  { uris, hosts, links }: { readonly uris: number; readonly hosts: number; readonly links: number },
  done: (count: number) => void,
): Promise<void> {
  for (let from = 0; from < uris; from += links) {
    const count = Math.min(links, uris - from);
    const numbers = Array.from({ length: count }, (_, i) => from + i);
    // URIs that were scheduled before, at any time.
    const known = from === 0 ? [] : numbers.map((number) => (Math.imul(number, 0x9e3779b1) >>> 0) % from);
    const candidates = [...numbers, ...known].map((number) => ({
      url: `http://www${number % hosts}.example.org/department/${number % 31}/page-${number}.html`,
      via: `http://www${from % hosts}.example.org/department/`,
      pathFromSeed: 'LL',
      root: 0,
      depth: 2,
      isLeaf: false,
      forceFetch: false,
      sourceTag: '',
    }));
    const fresh = await frontier.schedule(candidates);
    if (fresh !== count) throw new Error(`${fresh} of ${count} are new`);
    done(count);
  }
}

/** Takes URIs and finishes them until the frontier is empty. */
async function drain(
  frontier: Frontier,
  store: GathererStore,
  workers: number,
  done: (count: number) => void,
): Promise<void> {
  const { signal } = new AbortController();
  // All workers listen to it.
  setMaxListeners(0, signal);
  const work = async (): Promise<void> => {
    for (let entry = await frontier.next(signal); entry !== undefined; entry = await frontier.next(signal)) {
      await frontier.finished(entry, { outcome: 'success', delayMs: 0 }, store.batch());
      done(1);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
}

/** Does the work and prints the figures of each tenth. */
async function measure(
  label: string,
  uris: number,
  work: (report: (count: number) => void) => Promise<void>,
): Promise<Tenth[]> {
  const tenths: Tenth[] = [];
  let done = 0;
  let last = { done: 0, timeMs: performance.now() };
  await work((count) => {
    done += count;
    if (done < ((tenths.length + 1) * uris) / TENTHS) return;
    const timeMs = performance.now();
    const perSecond = ((done - last.done) / (timeMs - last.timeMs)) * 1000;
    last = { done, timeMs };
    const { rss, heapUsed } = process.memoryUsage();
    tenths.push({ uris: done, perSecond, rssBytes: rss, heapBytes: heapUsed });
    print(
      `  ${label} ${done.toLocaleString('en').padStart(12)}  ${Math.round(perSecond).toLocaleString('en').padStart(9)} URIs/s` +
        `  rss ${(rss / 1e6).toFixed(0).padStart(5)} MB  heap ${(heapUsed / 1e6).toFixed(0).padStart(5)} MB`,
    );
  });
  return tenths;
}
