// Runs one input in code without counters and measures it: the process behind `--replay`, which also confirms
// hangs.
import { readFile } from 'node:fs/promises';
import { messageOf } from '../../protocols/errors.js';
import { loadTarget } from './targets/index.js';

/** Processor seconds and MiB that one input may take. */
const MAX_SECONDS = 1;
const MAX_GROWTH = 300;

const [name = '', file = '', mode] = process.argv.slice(2);
const isConfirming = mode === 'confirm';
let stray: unknown;
process.on('unhandledRejection', (error) => {
  stray ??= error;
});
const target = await loadTarget(name);
const input = new Uint8Array(await readFile(file));
const before = process.resourceUsage().maxRSS;
const cpu = process.cpuUsage();
let problem: string | undefined;
try {
  await (isConfirming && target.confirm !== undefined ? target.confirm : target.run)(input);
  await new Promise(setImmediate);
  if (stray !== undefined) throw stray;
} catch (error) {
  problem = error instanceof Error ? (error.stack ?? error.message) : messageOf(error);
}
const used = process.cpuUsage(cpu);
const seconds = (used.user + used.system) / 1e6;
const growth = (process.resourceUsage().maxRSS - before) / 1024;
console.log(
  `${name}: ${input.length} bytes, ${seconds.toFixed(2)} s of processor time, ${Math.round(growth)} MiB more`,
);
if (problem !== undefined) console.log(problem);
process.exit(problem !== undefined || seconds > MAX_SECONDS || growth > MAX_GROWTH ? 1 : 0);
