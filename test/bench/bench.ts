// Runs one benchmark: `npm run bench -- NAME [options]`.
import { readdir } from 'node:fs/promises';
import { words } from '../helpers/words.js';

/** The function that every benchmark exports; `args` are the arguments after its name. */
type BenchModule = { readonly run: (args: string[]) => Promise<void> };

/** Modules of this folder that are not benchmarks: programs that these start, and shared code. */
const HELPERS = words`bench harness discard-client file-server full-crawl plain-crawl references-graph fairness-kinds fairness-flood`;

/** Lists the benchmarks of this folder. */
async function listBenchmarks(): Promise<string[]> {
  const files = await readdir(new URL('.', import.meta.url));
  return files
    .filter((file) => file.endsWith('.js'))
    .map((file) => file.slice(0, -3))
    .filter((name) => !HELPERS.includes(name))
    .sort();
}

function isBenchModule(module: object): module is BenchModule {
  return 'run' in module && typeof module.run === 'function';
}

const [name, ...args] = process.argv.slice(2);
const names = await listBenchmarks();
if (name === undefined || !names.includes(name)) {
  process.stdout.write(`usage: bench NAME [options]; NAME is one of: ${names.join(', ')}\n`);
  process.exitCode = name === undefined ? 0 : 2;
} else {
  const module: object = await import(`./${name}.js`);
  if (!isBenchModule(module)) throw new Error(`${name} exports no function "run"`);
  await module.run(args);
}
