// `harvest backup` and `harvest restore`.
import { Command } from 'commander';
import { type BackupReport, backUp, restore } from '../../storage/backup/index.js';
import { checkStores } from '../../storage/check/index.js';
import { StopSignal } from '../host/index.js';
import { complain, complainOrThrow, EXIT } from './exit.js';
import { Progress } from './progress.js';
import { StandardOutput } from './standard-output.js';

const BACKUP_HELP = `
Copies DIR, the data of a Gatherer, a Broker, a References Server or of \`harvest run\`, to TARGET, which must not exist. The servers may run and
write meanwhile: each database is copied as it is at one moment. TARGET has its name only when it is whole, on the disk, and checked like
\`harvest store check\` does. Configuration files outside of DIR are not copied.

Logins of URLs are encrypted in the data; their key is in the backup too. Keep it as private as the data.

Examples:
  harvest backup ./data /backups/$(date +%F)
  harvest backup --json /var/lib/harvest /backups/today && rm -rf /backups/yesterday
  harvest restore /backups/today ./data

Exit status: 0 done; 1 failure, and no TARGET; 2 usage; 130 interrupted.
`;

const RESTORE_HELP = `
Copies BACKUP, made by \`harvest backup\`, to DIR, which must not exist or be empty: nothing is overwritten. Stop the servers of DIR and move it
away first. Then start them: a Broker brings its index up to date, a Gatherer continues an interrupted run.

Example:
  mv data data.lost
  harvest restore /backups/2026-11-27 data

Exit status: 0 done; 1 failure, and no DIR; 2 usage; 130 interrupted.
`;

interface Options {
  readonly check: boolean;
  readonly json: boolean;
}

/** `harvest backup DIR TARGET`. */
export function backupCommand(): Command {
  return withOptions(new Command('backup'))
    .description('Copies a data directory while its servers run.')
    .argument('<dir>', 'the data directory')
    .argument('<target>', 'the copy; on another disk')
    .addHelpText('after', BACKUP_HELP)
    .action((dir: string, target: string, options: Options) => run('backup', backUp, dir, target, options));
}

/** `harvest restore BACKUP DIR`. */
export function restoreCommand(): Command {
  return withOptions(new Command('restore'))
    .description('Brings a backup back.')
    .argument('<backup>', 'a directory that backup made')
    .argument('<dir>', 'the data directory; absent or empty')
    .addHelpText('after', RESTORE_HELP)
    .action((backup: string, dir: string, options: Options) => run('restore', restore, backup, dir, options));
}

function withOptions(command: Command): Command {
  return command
    .option('--no-check', 'do not read the copy to compare its checksums')
    .option('--json', 'print the counts as one JSON line', false);
}

async function run(
  name: string,
  copy: typeof backUp,
  from: string,
  to: string,
  { check, json }: Options,
): Promise<void> {
  using stop = new StopSignal();
  const { signal } = stop;
  let where = '';
  using progress = new Progress({ format: `${name}: {path}`, onLine: () => complain(name, where) });
  const onPath = (path: string): void => {
    where = path;
    progress.update(1, 1, { path });
  };
  try {
    const report = await copy(from, to, { signal, onPath });
    const problems: string[] = [];
    if (check)
      for await (const store of checkStores(to, { signal, onProgress: (path) => onPath(`checking ${path}`) }))
        problems.push(...store.problems.map((problem) => `${store.directory}: ${problem}`));
    for (const problem of problems) complain(name, problem);
    await new StandardOutput().write(json ? `${JSON.stringify(report)}\n` : text(name, to, report));
    process.exitCode = problems.length > 0 ? EXIT.failure : EXIT.ok;
  } catch (error) {
    if (signal.aborted) {
      complain(name, 'interrupted');
      process.exitCode = EXIT.interrupted;
      return;
    }
    process.exitCode = complainOrThrow(name, error, EXIT.failure);
  }
}

function text(name: string, to: string, { databases, files, bytes }: BackupReport): string {
  return `${name}: ${to}: ${databases} databases, ${files} files, ${(bytes / 2 ** 20).toFixed(1)} MiB\n`;
}
