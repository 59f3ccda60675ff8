// The example of servers/crawler/README.md; without-gatherer.test.ts runs it and compares the two texts.
import { load } from 'cheerio';
import { createFetcher } from '../../../clients/fetch/index.js';
import { canonicalUrl } from '../../../protocols/urls/index.js';
import {
  CrawlController,
  crawlSettingsSchema,
  FetchProcessor,
  Frontier,
  FrontierPreparer,
  LinksScoper,
  PreconditionEnforcer,
  type Processor,
  ResponseClassifier,
  type Scope,
  ServerCache,
} from '../../../servers/crawler/index.js';
import { GathererStore } from '../../../storage/index.js';

/** Crawls one site; returns the title of each page by its URL. */
export async function crawlTitles(directory: string, seed: string): Promise<Map<string, string>> {
  const userAgent = 'example/1.0';
  const settings = crawlSettingsSchema.parse({ delayFactor: 0, minDelayMs: 100 });
  const settingsFor = () => settings;
  await using fetcher = createFetcher({ userAgent });
  await using store = await GathererStore.open(directory);
  await using seen = await store.openSeenFilter();
  const preparer = new FrontierPreparer({ settingsFor });
  const frontier = await Frontier.open({ store, seen, prepare: (uri) => preparer.prepare(uri) });
  const servers = new ServerCache({ fetcher, settingsFor, robotsAgent: userAgent, timeoutMs: 10_000 });
  const limits = { maxBytes: 1 << 20, timeoutMs: 10_000 };

  const titles = new Map<string, string>();
  const pages: Processor = {
    name: 'Pages',
    process(uri) {
      const $ = load(Buffer.from(uri.fetched!.body));
      titles.set(uri.url, $('title').text());
      uri.disposition = 'summarized';
      uri.outLinks = $('a[href]')
        .toArray()
        .map((anchor) => canonicalUrl($(anchor).attr('href')!, uri.url))
        .filter((url) => url !== undefined)
        .map((url) => ({ url, hop: 'L' as const }));
      return 'proceed';
    },
  };

  const common = { root: 0, isLeaf: false, forceFetch: false, sourceTag: '' };
  const sameSite: Scope = {
    async prepare() {},
    candidate({ url: via, entry }, { url, hop }) {
      if (new URL(url).origin !== new URL(seed).origin) return undefined;
      return { ...common, url, via, pathFromSeed: entry.uri.pathFromSeed + hop, depth: entry.uri.depth + 1 };
    },
  };

  const controller = new CrawlController({
    name: 'titles',
    store,
    directory,
    frontier,
    seen,
    servers,
    settingsFor,
    workers: 4,
    chains: {
      'pre-fetch': [new PreconditionEnforcer(servers)],
      fetch: [new FetchProcessor(fetcher, limits, servers), new ResponseClassifier(limits)],
      extract: [pages],
      write: [],
      'post-process': [new LinksScoper({ frontier, scope: sameSite })],
    },
  });
  // A crawl that was interrupted continues with its queues; its seed is known to the seen filter.
  await frontier.schedule([{ ...common, url: seed, via: '', pathFromSeed: '', depth: 0 }], store.batch());
  await controller.run(new AbortController().signal);
  return titles;
}
