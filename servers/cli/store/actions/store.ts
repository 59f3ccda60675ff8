import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UsageError } from '../../../../protocols/errors.js';
import { type CheckedStore, checkStores } from '../../../../storage/check/check.js';
import { type RepairedStore, repairStores } from '../../../../storage/check/repair.js';
import { checkCrawlFiles } from '../../../crawler/check-files.js';
import { StopSignal } from '../../../host/stop-signal.js';
import { complain, EXIT, untilStopped } from '../../output/exit.js';
import { mebibytes } from '../../output/printable.js';
import { Progress } from '../../output/progress.js';
import { StandardOutput } from '../../output/standard-output.js';

interface StoreTool {
  readonly directory: string;
  readonly output: StandardOutput;
  readonly signal: AbortSignal;
  readonly show: (directory: string, done: number, total: number) => void;
}

/** The action of `harvest store check`. */
export async function checkStore(dir: string, { json }: { readonly json: boolean }): Promise<number> {
  return await runStore('store check', dir, async ({ directory, output, signal, show }) => {
    let damaged = 0;
    let stores = 0;
    for (const check of [checkStores, checkCrawlFiles]) {
      for await (const store of check(directory, { signal, onProgress: show })) {
        stores++;
        if (store.problems.length > 0) damaged++;
        await output.write(json ? `${JSON.stringify(store)}\n` : checkedText(store));
      }
    }
    requireStores(stores, dir);
    return damaged > 0 ? EXIT.failure : EXIT.ok;
  });
}

/** The action of `harvest store repair`. */
export async function repairStore(
  dir: string,
  { json, ...options }: { readonly json: boolean; readonly replace: boolean; readonly force: boolean },
): Promise<number> {
  return await runStore('store repair', dir, async ({ directory, output, signal, show }) => {
    let stores = 0;
    const onProgress = (where: string, bytes: number) => show(where, bytes, bytes);
    for await (const store of repairStores(directory, { ...options, signal, onProgress })) {
      stores++;
      await output.write(json ? `${JSON.stringify(store)}\n` : repairedText(store));
    }
    requireStores(stores, dir);
    return EXIT.ok;
  });
}

async function runStore(
  name: string,
  dir: string,
  work: (tool: StoreTool) => Promise<number>,
): Promise<number> {
  using stop = new StopSignal();
  let line = '';
  using progress = new Progress({
    format: `${name}: {bar} {percentage}% of {directory}, {duration_formatted}`,
    onLine: () => complain(name, line),
  });
  const show = (directory: string, done: number, total: number) => {
    line = `${directory}: ${mebibytes(done)} of ${mebibytes(total)} MiB`;
    progress.update(done, total, { directory });
  };
  return await untilStopped(name, stop, async () => {
    const directory = resolve(dir);
    const found = await stat(directory).catch(() => undefined);
    if (found?.isDirectory() !== true) throw new UsageError(`${name}: ${dir} is not a directory`);
    return await work({ directory, output: new StandardOutput(), signal: stop.signal, show });
  });
}

function requireStores(stores: number, dir: string): void {
  if (stores === 0) throw new UsageError(`${dir} has no store, generation or index below it`);
}

function checkedText({ directory, kind, bytes, objects, problems, advice }: CheckedStore): string {
  const count = objects === undefined ? '' : `, ${objects} objects`;
  const size = `${kind}, ${mebibytes(bytes)} MiB${count}`;
  if (problems.length === 0) return `${directory}: sound (${size})\n`;
  return `${directory}: DAMAGED (${size})\n${[...problems, ...(advice === undefined ? [] : [`What to do: ${advice}.`])].map((line) => `  ${line}\n`).join('')}`;
}

function repairedText({ directory, outcome, ...saved }: RepairedStore): string {
  if (outcome === 'sound') return `${directory}: sound, left alone\n`;
  if (outcome === 'published') return `${directory}: not repaired, it is made again from the store\n`;
  const { rows = 0, objects, dropped = 0, repaired, damaged } = saved;
  const count = objects === undefined ? `${rows} rows` : `${objects} objects (${rows} rows)`;
  const lost = dropped === 0 ? '' : `, ${dropped} without their other half dropped`;
  const where =
    damaged === undefined
      ? `  the repaired store is ${repaired}; --replace would use it\n`
      : `  the damaged store is ${damaged}\n`;
  return `${directory}: ${count} saved${lost}\n${where}`;
}
