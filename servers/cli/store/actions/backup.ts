import {
  type BackupReport,
  type BlobBackupReport,
  backUp,
  backUpToBlobs,
  restore,
  restoreFromBlobs,
} from '../../../../storage/backup/index.js';
import { isBucketUrl } from '../../../../storage/blobs/place.js';
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

interface BackupCliOptions extends Options {
  readonly keep?: number;
  readonly scratch?: string;
}

interface RestoreCliOptions extends Options {
  readonly number?: number;
}

/** The action of `harvest backup`. */
export async function backup(dir: string, target: string, options: BackupCliOptions): Promise<number> {
  const { keep, scratch } = options;
  return await run('backup', target, options, async (given, check) => {
    if (isBucketUrl(target))
      return await backUpToBlobs(dir, target, { ...given, keep, scratch, onCopy: check });
    const report = await backUp(dir, target, given);
    await check(target);
    return report;
  });
}

/** The action of `harvest restore`. */
export async function restoreBackup(
  backup: string,
  dir: string,
  options: RestoreCliOptions,
): Promise<number> {
  return await run('restore', dir, options, async (given, check) => {
    const report = isBucketUrl(backup)
      ? await restoreFromBlobs(backup, dir, { ...given, number: options.number })
      : await restore(backup, dir, given);
    await check(dir);
    return report;
  });
}

async function run(
  name: string,
  to: string,
  { check, json }: Options,
  copy: (
    options: { readonly signal: AbortSignal; readonly onPath: (path: string) => void },
    check: (directory: string) => Promise<void>,
  ) => Promise<BackupReport & Partial<BlobBackupReport>>,
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
    const problems: string[] = [];
    const examine = async (directory: string): Promise<void> => {
      if (!check) return;
      const onProgress = (path: string): void => onPath(`checking ${path}`);
      for await (const store of checkStores(directory, { signal, onProgress }))
        problems.push(...store.problems.map((problem) => `${store.directory}: ${problem}`));
    };
    const report = await copy({ signal, onPath }, examine);
    for (const problem of problems) complain(name, problem);
    await printResult({ json }, report, text(name, withoutQuery(to), report));
    return problems.length > 0 ? EXIT.failure : EXIT.ok;
  });
}

function text(
  name: string,
  to: string,
  { databases, files, bytes, number, sentBytes }: BackupReport & Partial<BlobBackupReport>,
): string {
  const of = number === undefined ? '' : ` backup ${number},`;
  const sent = sentBytes === undefined ? '' : `; ${mebibytes(sentBytes)} MiB were sent`;
  const copied = databases === 0 && number !== undefined ? '' : ` ${databases} databases,`;
  return `${name}: ${to}:${of}${copied} ${files} files, ${mebibytes(bytes)} MiB${sent}\n`;
}

function withoutQuery(place: string): string {
  return isBucketUrl(place) ? place.replace(/\?.*/s, '') : place;
}
