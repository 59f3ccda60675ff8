// Crawls with crawlee's CheerioCrawler, everything in memory, for benchmark `crawl`. Prints {pages, bytes,
// seconds, maxRssBytes} as JSON.
//   node crawlee-crawl.js --url URL --connections N --modules FOLDER --found FILE
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { resolveModuleIn } from './contestants.js';

/** The used part of its interface. */
interface Crawlee {
  readonly CheerioCrawler: new (
    options: object,
    configuration: object,
  ) => { run(urls: readonly string[]): Promise<object> };
  readonly Configuration: new (options: object) => object;
  readonly log: { setLevel(level: number): void; readonly LEVELS: Readonly<Record<string, number>> };
}
interface MemoryModule {
  readonly MemoryStorage: new (options: object) => object;
}
interface HandlerContext {
  readonly request: { readonly loadedUrl?: string; readonly url: string };
  readonly response: { readonly statusCode?: number };
  readonly body: string | Buffer;
  readonly enqueueLinks: (options: object) => Promise<object>;
}

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: '' },
    connections: { type: 'string', default: '16' },
    modules: { type: 'string', default: '.' },
    found: { type: 'string', default: '/dev/null' },
  },
});
const load = async (name: string): Promise<object> =>
  import(pathToFileURL(resolveModuleIn(values.modules, name)).href);
const { CheerioCrawler, Configuration, log } = (await load('@crawlee/cheerio')) as Crawlee;
const { MemoryStorage } = (await load('@crawlee/memory-storage')) as MemoryModule;
log.setLevel(log.LEVELS.ERROR ?? 1);
const configuration = new Configuration({
  persistStorage: false,
  storageClient: new MemoryStorage({ persistStorage: false }),
  availableMemoryRatio: 0.6,
});
const paths: string[] = [];
let bytes = 0;
const crawler = new CheerioCrawler(
  {
    minConcurrency: Number(values.connections),
    maxConcurrency: Number(values.connections),
    maxRequestRetries: 1,
    useSessionPool: false,
    autoscaledPoolOptions: { loggingIntervalSecs: null },
    async requestHandler({ request, response, body, enqueueLinks }: HandlerContext) {
      // The handler is also called for status 404.
      if (response.statusCode !== 200) return;
      paths.push(new URL(request.loadedUrl ?? request.url).pathname);
      bytes += body.length;
      await enqueueLinks({ strategy: 'same-hostname' });
    },
  },
  configuration,
);
const begin = performance.now();
await crawler.run([values.url]);
const seconds = (performance.now() - begin) / 1000;
writeFileSync(values.found, paths.join('\n'));
const maxRssBytes = process.resourceUsage().maxRSS * 1024;
process.stdout.write(`\n${JSON.stringify({ pages: paths.length, bytes, seconds, maxRssBytes })}\n`);
process.exit();
