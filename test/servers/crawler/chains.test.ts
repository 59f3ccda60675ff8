// The chains that a URI passes, what follows from its status, and the states of a whole crawl.
import t, { type Test } from 'tap';
import {
  CHAIN_NAMES,
  type ChainName,
  type Processor,
  type ProcessResult,
  runChains,
} from '../../../servers/crawler/chains.js';
import type { OutLink } from '../../../servers/crawler/crawl-uri.js';
import {
  CrawlController,
  crawlSettingsSchema,
  Frontier,
  FrontierPreparer,
  LinksScoper,
} from '../../../servers/crawler/index.js';
import { type CrawlLimits, NO_LIMITS } from '../../../servers/crawler/limits.js';
import { GathererStore } from '../../../storage/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { setUp } from './server-cache-scene.js';
import { crawlUri } from './uri-scene.js';

/** Two processors in each chain that note their names; `behave` replaces the work of some of them. */
function notingChains(behave: Record<string, Processor['process']> = {}) {
  const run: string[] = [];
  const processor = (name: string): Processor => ({
    name,
    process(uri) {
      run.push(name);
      return behave[name]?.(uri) ?? 'proceed';
    },
  });
  const pair = (chain: ChainName) => [processor(`${chain} 1`), processor(`${chain} 2`)];
  const chains = Object.fromEntries(CHAIN_NAMES.map((chain) => [chain, pair(chain)]));
  return { run, chains: chains as Record<ChainName, Processor[]> };
}

const ALL = CHAIN_NAMES.flatMap((chain) => [`${chain} 1`, `${chain} 2`]);
const without = (...names: readonly string[]) => ALL.filter((name) => !names.includes(name));

t.test(
  'CRAWL-1.4 a URI passes five chains, each with its processors in the order of the operator',
  async (t) => {
    t.same(CHAIN_NAMES, ['pre-fetch', 'fetch', 'extract', 'write', 'post-process']);
    const { run, chains } = notingChains();
    const steps: string[] = [];
    await runChains(chains, crawlUri(), (chain, processor) => steps.push(`${chain}: ${processor}`));
    t.same(run, ALL);
    t.equal(steps[2], 'fetch: fetch 1', 'each step is announced, for the reports');
    const reversed = Object.fromEntries(
      CHAIN_NAMES.map((chain) => [chain, chains[chain].toReversed()]),
    ) as Record<ChainName, Processor[]>;
    run.length = 0;
    await runChains(reversed, crawlUri());
    t.same(run.slice(0, 4), ['pre-fetch 2', 'pre-fetch 1', 'fetch 2', 'fetch 1']);
  },
);

t.test(
  'CRAWL-11.1, 11.5 a processor ends its chain, or skips to the last one, which always runs',
  async (t) => {
    const finish = notingChains({ 'extract 1': () => 'finish' });
    await runChains(finish.chains, crawlUri());
    t.same(finish.run, without('extract 2'));
    const failed = notingChains({ 'fetch 1': () => 'post' });
    await runChains(failed.chains, crawlUri());
    t.same(
      failed.run,
      without('fetch 2', 'extract 1', 'extract 2', 'write 1', 'write 2'),
      'of a failed fetch nothing is extracted or written',
    );
    const broken = notingChains({
      'write 1': () => {
        throw new TypeError('unexpected');
      },
    });
    const uri = crawlUri();
    await runChains(broken.chains, uri);
    t.same(broken.run, without('write 2'));
    t.match(uri, { status: -5, disposition: 'failed', reason: 'write 1: unexpected' }, 'CRAWL-11.6');
  },
);

t.test('CRAWL-11.7 links are followed from a status of 200 to 399 only', async (t) => {
  const links: OutLink[] = [{ url: 'http://example.org/next', hop: 'L' }];
  const scoper = new LinksScoper({
    frontier: { isKnownWithoutLookup: () => false },
    scope: {
      async prepare() {},
      candidate: (uri, { url }) => ({ ...uri.entry.uri, url }),
    },
  });
  const followed = async (status: number): Promise<number> => {
    const uri = crawlUri();
    uri.status = status;
    uri.disposition = 'summarized';
    // As a processor of the operator may leave it.
    uri.outLinks = links;
    await scoper.process(uri);
    return uri.candidates.length;
  };
  for (const status of [200, 204, 304, 399]) t.equal(await followed(status), 1, String(status));
  for (const status of [-9998, -50, 0, 1, 199, 400, 404, 500])
    t.equal(await followed(status), 0, String(status));
});

/** A crawl of URIs whose only processor waits until the test lets it go on. */
async function gatedCrawl(
  t: Test,
  count: number,
  options: { readonly limits?: Partial<CrawlLimits>; readonly pauseAtFinish?: boolean } = {},
) {
  const settings = crawlSettingsSchema.parse({ minDelayMs: 0, delayFactor: 0 });
  const settingsFor = () => settings;
  const directory = await temporaryDirectory(t);
  const store = await GathererStore.open(directory);
  const seen = await store.openSeenFilter();
  t.teardown(async () => {
    await seen.close();
    await store.close();
  });
  const preparer = new FrontierPreparer({ settingsFor });
  const frontier = await Frontier.open({ store, seen, prepare: (uri) => preparer.prepare(uri) });
  const waiting: (() => void)[] = [];
  const arrivals: (() => void)[] = [];
  const gate: Processor = {
    name: 'Gate',
    async process(uri): Promise<ProcessResult> {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        arrivals.shift()?.();
      });
      uri.status = 200;
      uri.size = 10;
      uri.disposition = 'summarized';
      return 'proceed';
    },
  };
  const controller = new CrawlController({
    ...{ name: 'gated', store, directory, frontier, seen, settingsFor, workers: 2 },
    servers: setUp({}).servers,
    chains: { 'pre-fetch': [], fetch: [gate], extract: [], write: [], 'post-process': [] },
    limits: { ...NO_LIMITS, ...options.limits },
    pauseAtFinish: options.pauseAtFinish ?? false,
  });
  const common = { via: '', pathFromSeed: '', root: 0, depth: 0, isLeaf: false, forceFetch: false };
  const urls = Array.from({ length: count }, (_, i) => `http://h${i}.test/`);
  await frontier.schedule(urls.map((url) => ({ ...common, sourceTag: '', url })));
  return {
    controller,
    state: () => controller.snapshot().state,
    /** Resolves when `count` URIs wait in the gate. */
    arrived: async (count: number) => {
      while (waiting.length < count) await new Promise<void>((resolve) => arrivals.push(resolve));
    },
    release: () => waiting.shift()!(),
    /** Resolves when the crawl is in this state. */
    reached: async (state: string) => {
      while (controller.snapshot().state !== state) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

t.test(
  'CRAWL-20.1 a crawl is paused when no worker is busy, empty when it waits for more, then finished',
  async (t) => {
    const s = await gatedCrawl(t, 3, { pauseAtFinish: true });
    t.equal(s.state(), 'preparing');
    const end = s.controller.run(new AbortController().signal);
    t.equal(s.state(), 'running');
    await s.arrived(2);
    s.controller.pause();
    t.equal(s.state(), 'pausing');
    s.release();
    s.release();
    await s.reached('paused');
    t.equal(s.controller.snapshot().queued, 1, 'no URI was given out meanwhile');
    s.controller.resume();
    t.equal(s.state(), 'running');
    await s.arrived(1);
    s.release();
    await s.reached('empty');
    s.controller.stop();
    t.equal(s.state(), 'stopping');
    t.equal(await end, 'ended by operator', 'CRAWL-20.2');
    t.equal(s.state(), 'finished');
  },
);

t.test(
  'CRAWL-20.1 stopping becomes finished when the URIs in flight are done; the others stay queued',
  async (t) => {
    const s = await gatedCrawl(t, 5);
    const end = s.controller.run(new AbortController().signal);
    await s.arrived(2);
    s.controller.stop();
    t.equal(s.state(), 'stopping');
    s.release();
    t.equal(s.state(), 'stopping');
    s.release();
    await end;
    t.match(s.controller.snapshot(), {
      state: 'finished',
      end: 'ended by operator',
      queued: 3,
      succeeded: 2,
    });
  },
);

t.test('CRAWL-20.2 a crawl ends by itself, or by its limit of documents or bytes', async (t) => {
  const endOf = async (limits: Partial<CrawlLimits>): Promise<[string, number]> => {
    const s = await gatedCrawl(t, 4, { limits });
    let over = false;
    const end = s.controller.run(new AbortController().signal).finally(() => {
      over = true;
    });
    while (!over) {
      await Promise.race([s.arrived(1), end]);
      if (!over) s.release();
    }
    return [await end, s.controller.snapshot().succeeded];
  };
  t.equal((await endOf({}))[0], 'finished');
  const [byDocuments, documents] = await endOf({ maxDocuments: 2 });
  t.equal(byDocuments, 'document limit');
  t.ok(documents >= 2 && documents <= 3, 'the URIs in flight are finished');
  t.equal((await endOf({ maxBytes: 15 }))[0], 'data limit');
});
