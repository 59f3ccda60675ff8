import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { configFromRoots } from '../../servers/all-in-one/index.js';
import { Gatherer } from '../../servers/gatherer/index.js';

/** A Gatherer that waits for the signal to begin, gathers once and reports its end: `CONFIGURATION DIRECTORY [WORKERS]`. */
const [file = '', directory = '', workers = '8'] = process.argv.slice(2);
const { config } = configFromRoots([file], {}, directory);
await new Promise((resolve) => process.stdin.once('data', resolve));
process.stdin.destroy();
const gatherer = await Gatherer.open({
  directory: join(directory, 'gatherer'),
  config,
  workers: Number(workers),
  essenceWorkers: 0,
  configFile: file,
});
// Lets the parent kill this process before the first request, too.
writeSync(1, 'open\n');
const { end, resumed } = await gatherer.run(new AbortController().signal);
await gatherer.close();
writeSync(1, `${JSON.stringify({ end, resumed })}\n`);
