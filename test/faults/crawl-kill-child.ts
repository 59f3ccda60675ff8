// The process that crawl-kill.test.ts kills: it waits for input, gathers once and reports the end. A line says
// that it begins to open files, another one that they are open, and one each that a URI is returned to the
// frontier. Arguments: CONFIGURATION DIRECTORY [WORKERS].
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { configFromRoots } from '../../servers/all-in-one/index.js';
import { documentChannel, Gatherer } from '../../servers/gatherer/index.js';

const [file = '', directory = '', workers = '8'] = process.argv.slice(2);
const { config } = configFromRoots([file], {});
await new Promise((resolve) => process.stdin.once('data', resolve));
process.stdin.destroy();
// The parent may kill this process after any of the lines.
writeSync(1, '{}\n');
const gatherer = await Gatherer.open({
  directory: join(directory, 'gatherer'),
  config,
  workers: Number(workers),
  essenceWorkers: 0,
  configFile: file,
});
writeSync(1, '{}\n');
documentChannel.subscribe(() => writeSync(1, '{}\n'));
const { end, resumed } = await gatherer.run(new AbortController().signal);
await gatherer.close();
writeSync(1, `${JSON.stringify({ end, resumed })}\n`);
