// Our side of bench `crawl`: the Gatherer with politeness off; everything is summarized and stored.
// Prints {pages, bytes, seconds} as JSON.
//   node full-crawl.js URL DIRECTORY CONNECTIONS [ESSENCE_WORKERS]
import { configFromRoots } from '../../servers/all-in-one/index.js';
import { Gatherer } from '../../servers/gatherer/index.js';

const [, , url = 'http://127.0.0.1:8081/', directory = 'bench-data', connections = '16', workers] =
  process.argv;
const { config } = configFromRoots([url], { delay: 0, urls: 1_000_000 }, directory);
const gatherer = await Gatherer.open({
  directory,
  config,
  queuesPerHost: Number(connections),
  workers: Number(connections),
  ...(workers === undefined ? {} : { essenceWorkers: Number(workers) }),
});
const begin = performance.now();
const report = await gatherer.run(new AbortController().signal);
const seconds = (performance.now() - begin) / 1000;
process.stdout.write(
  `${JSON.stringify({ pages: report.counts.summarized, bytes: report.bytes, seconds, counts: report.counts })}\n`,
);
await gatherer.close();
