// Crawls with the Gatherer for the benchmarks `crawl` and `refresh`: without politeness delays; every page is
// summarized and stored. Prints {pages, bytes, seconds, maxRssBytes, counts} as JSON.
//   node full-crawl.js --url URL --directory DIRECTORY [--connections N] [--workers N] [--force] [--found FILE]
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { configFromRoots } from '../../servers/all-in-one/index.js';
import { Gatherer } from '../../servers/gatherer/index.js';

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: 'http://127.0.0.1:8081/' },
    directory: { type: 'string', default: 'bench-data' },
    connections: { type: 'string', default: '16' },
    workers: { type: 'string' },
    force: { type: 'boolean', default: false },
    found: { type: 'string' },
  },
});
const { config } = configFromRoots([values.url], { delay: 0, urls: 1_000_000 });
const gatherer = await Gatherer.open({
  directory: values.directory,
  config,
  queuesPerHost: Number(values.connections),
  workers: Number(values.connections),
  force: values.force,
  essenceWorkers: values.workers === undefined ? undefined : Number(values.workers),
});
const begin = performance.now();
const { counts, bytes } = await gatherer.run(new AbortController().signal);
const seconds = (performance.now() - begin) / 1000;
const maxRssBytes = process.resourceUsage().maxRSS * 1024;
if (values.found !== undefined) {
  const paths: string[] = [];
  for await (const rows of gatherer.store.summaries.iterate())
    paths.push(...rows.map(({ url }) => new URL(url).pathname));
  writeFileSync(values.found, paths.filter((path) => /(?:\.html?|\/)$/i.test(path)).join('\n'));
}
await gatherer.close();
const pages = counts.summarized + counts.unchanged;
process.stdout.write(`${JSON.stringify({ pages, bytes, seconds, maxRssBytes, counts })}\n`);
