// The crawler of the thousand sites: the public Gatherer in a process of its own, so that its memory is its own.
// Prints {report, maxRssBytes} as JSON.
//   node gather.js CONFIGURATION DIRECTORY TRIES
import { readFileSync } from 'node:fs';
import { parseGathererConf } from '../../../protocols/config/index.js';
import { Gatherer, type GatherReport } from '../../../servers/gatherer/index.js';

/** What the process prints. */
export interface Gathered {
  readonly report: GatherReport;
  readonly maxRssBytes: number;
}

const [file = '', directory = '', tries = '4'] = process.argv.slice(2);
const { config } = parseGathererConf(readFileSync(file, 'utf8'), file, {});
const gatherer = await Gatherer.open({
  directory,
  config,
  // Sites that hang hold a worker each, for as long as a read may take.
  workers: 200,
  maxRetries: Number(tries),
  retryDelayMs: 1000,
  readTimeoutMs: 2500,
});
const report = await gatherer.run(new AbortController().signal);
await gatherer.close();
const gathered: Gathered = { report, maxRssBytes: process.resourceUsage().maxRSS * 1024 };
process.stdout.write(`${JSON.stringify(gathered)}\n`);
