// The process that crawl-kill.test.ts kills: it waits for input, gathers once and reports the end. Arguments: CONFIGURATION DIRECTORY [WORKERS].
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { configFromRoots } from '../../servers/all-in-one/index.js';
import { Gatherer } from '../../servers/gatherer/index.js';

const [file = '', directory = '', workers = '8'] = process.argv.slice(2);
const { config } = configFromRoots([file], {});
await new Promise((resolve) => process.stdin.once('data', resolve));
process.stdin.destroy();
const gatherer = await Gatherer.open({
  directory: join(directory, 'gatherer'),
  config,
  workers: Number(workers),
  essenceWorkers: 0,
  configFile: file,
});
// After this line the parent may kill this process, even before the first request.
writeSync(1, 'open\n');
const { end, resumed } = await gatherer.run(new AbortController().signal);
await gatherer.close();
writeSync(1, `${JSON.stringify({ end, resumed })}\n`);
