import { type BackupReport, backUp, restore } from '../../../../storage/backup/index.js';
import { checkStores } from '../../../../storage/check/check.js';
import { StopSignal } from '../../../host/stop-signal.js';
import { complain, EXIT, untilStopped } from '../../output/exit.js';
import { mebibytes } from '../../output/printable.js';
import { Progress } from '../../output/progress.js';
import { printResult } from '../../output/standard-output.js';

interface Options {
  readonly check: boolean;
  readonly json: boolean;
}

/** The action of `harvest backup`. */
export async function backup(dir: string, target: string, options: Options): Promise<number> {
  return await run('backup', backUp, dir, target, options);
}

/** The action of `harvest restore`. */
export async function restoreBackup(backup: string, dir: string, options: Options): Promise<number> {
  return await run('restore', restore, backup, dir, options);
}

async function run(
  name: string,
  copy: typeof backUp,
  from: string,
  to: string,
  { check, json }: Options,
): Promise<number> {
  using stop = new StopSignal();
  const { signal } = stop;
  let where = '';
  using progress = new Progress({ format: `${name}: {path}`, onLine: () => complain(name, where) });
  const onPath = (path: string): void => {
    where = path;
    progress.update(1, 1, { path });
  };
  return await untilStopped(name, stop, async () => {
    const report = await copy(from, to, { signal, onPath });
    const problems: string[] = [];
    if (check)
      for await (const store of checkStores(to, { signal, onProgress: (path) => onPath(`checking ${path}`) }))
        problems.push(...store.problems.map((problem) => `${store.directory}: ${problem}`));
    for (const problem of problems) complain(name, problem);
    await printResult({ json }, report, text(name, to, report));
    return problems.length > 0 ? EXIT.failure : EXIT.ok;
  });
}

function text(name: string, to: string, { databases, files, bytes }: BackupReport): string {
  return `${name}: ${to}: ${databases} databases, ${files} files, ${mebibytes(bytes)} MiB\n`;
}
