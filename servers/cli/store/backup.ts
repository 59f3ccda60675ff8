// `harvest backup` and `harvest restore`.
import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';

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

/** `harvest backup DIR TARGET`. */
export function backupCommand(): Command {
  return withOptions(new Command('backup'))
    .description('Copies a data directory while its servers run.')
    .argument('<dir>', 'the data directory')
    .argument('<target>', 'the copy; on another disk')
    .addHelpText('after', BACKUP_HELP)
    .action(lazyAction(async () => (await import('./actions/backup.js')).backup));
}

/** `harvest restore BACKUP DIR`. */
export function restoreCommand(): Command {
  return withOptions(new Command('restore'))
    .description('Brings a backup back.')
    .argument('<backup>', 'a directory that backup made')
    .argument('<dir>', 'the data directory; absent or empty')
    .addHelpText('after', RESTORE_HELP)
    .action(lazyAction(async () => (await import('./actions/backup.js')).restoreBackup));
}

function withOptions(command: Command): Command {
  return command
    .option('--no-check', 'do not read the copy to compare its checksums')
    .option('--json', 'print the counts as one JSON line', false);
}
