// Crawls the thousand sites with the public Gatherer, as a separate process so that its memory can be measured.
// Prints {report, maxRssBytes} as JSON.
//   node gather.js CONFIGURATION DIRECTORY MAX_ATTEMPTS
import { readFileSync } from 'node:fs';
import { parseGathererConf } from '../../../protocols/config/index.js';
import { Gatherer, type GatherReport } from '../../../servers/gatherer/index.js';

/** The output of the process. */
export interface Gathered {
  readonly report: GatherReport;
  readonly maxRssBytes: number;
}

const [file = '', directory = '', maxAttempts = '4'] = process.argv.slice(2);
const { config } = parseGathererConf(readFileSync(file, 'utf8'), file, {});
const gatherer = await Gatherer.open({
  directory,
  config,
  // Each hanging site occupies a worker until the read times out.
  workers: 200,
  maxRetries: Number(maxAttempts),
  retryDelayMs: 1000,
  readTimeoutMs: 2500,
});
const report = await gatherer.run(new AbortController().signal);
await gatherer.close();
const gathered: Gathered = { report, maxRssBytes: process.resourceUsage().maxRSS * 1024 };
process.stdout.write(`${JSON.stringify(gathered)}\n`);
