import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { countOption } from '../options/option-values.js';

/** The commands of this file by name. */
export const DEFINITIONS = { store, backup, restore };

const STORE_HELP = `
A disk may return other bytes than were written, and files may be cut or deleted. The servers
compare checksums when they open a store, and refuse a damaged one without changing it. DIR is the
directory of a Gatherer or a Broker, or any directory below it.

What to do when a server reports damage:
  1. Stop the server, and copy DIR if you can: a failing disk gets worse.
  2. harvest store check DIR             what is damaged?
  3. harvest store repair DIR            how much can be saved?
  4. harvest store repair --replace DIR  use the repaired store
  5. Start the server. The Gatherer fetches, or the Broker collects, the lost documents.

Exit status: 0 the stores are sound, or were repaired; 1 damage, or a failure; 2 usage; 130
interrupted.
`;

/** `harvest store check|repair`. */
function store(): Command {
  return new Command('store')
    .addHelpText('after', STORE_HELP)
    .addCommand(checkCommand())
    .addCommand(repairCommand());
}

const CHECK_HELP = `
Compares every file of a data directory with its list, FILES, which is sealed when the program of
the directory ends, and notes its changes until then, so that it is right after kill -9, too:
missing, changed and added files are named, also configurations that you edited.
Logs may have grown; pid files, drafts, hidden files and LevelDB's LOG are ignored. Then reads every
file below DIR that has checksums: stores, published generations and references, closed
indexes; checkpoints, recovery journals, WARC files and seen filters of crawls. Then compares the
tables of each store: objects with the Registry and the lists of URLs and times, summaries with
their URLs, counters with rows. Changes nothing. Stop the server first; only its published
generations can be checked while it runs: name their directory.

An index has checksums after two seconds without a change; if its Broker was killed before, it
compares the pages when it starts. A damaged index needs no repair: the Broker makes it again.

--json prints a line for each store: directory, kind, bytes, objects, problems, advice.

Examples:
  harvest store check ./broker
  harvest store check ./gatherer/generations
  harvest store check --json ./gatherer | jq -r '.problems[]'

Exit status: 0 sound; 1 damage; 2 usage; 130 interrupted.
`;

function checkCommand(): Command {
  return new Command('check')
    .summary('read all stores of a directory and compare them with their checksums')
    .argument('<dir>', 'directory of a gatherer or a broker')
    .option('--json', 'print a JSON line for each store', false)
    .addHelpText('after', CHECK_HELP)
    .action(lazyAction(async () => (await import('./actions/store.js')).checkStore));
}

const REPAIR_HELP = `
Copies the rows that match their checksums into a new store beside the damaged one,
DIR/store.repaired-TIME, makes its tables agree with each other, and says how many objects were
saved. The damaged files are only read. With --replace the repaired store takes the place of the
damaged one, which is kept as DIR/store.damaged-TIME; delete it when everything works.

Lost objects return without further commands: a Broker collects everything at its next collection, a
Gatherer fetches the documents without a summary again. Stores without damage are left alone;
--force also repairs those whose tables contradict each other. Generations, references and indexes
are not repaired, because they are made again from the store: generations and references at the next
publication, the index when the Broker starts.

Examples:
  harvest store repair ./broker
  harvest store repair --replace ./broker

Exit status: 0 done; 1 failure; 2 usage; 130 interrupted.
`;

function repairCommand(): Command {
  return new Command('repair')
    .summary('save the readable objects of damaged stores')
    .argument('<dir>', 'directory of a gatherer or a broker')
    .option('--replace', 'put the repaired store in the place of the damaged one', false)
    .option('--force', 'also repair stores whose files are sound', false)
    .option('--json', 'print a JSON line for each store', false)
    .addHelpText('after', REPAIR_HELP)
    .action(lazyAction(async () => (await import('./actions/store.js')).repairStore));
}

const BACKUP_HELP = `
Copies DIR, the data of a Gatherer, a Broker, a References Server or of \`harvest run\`, to TARGET,
which must not exist. The servers may run and write meanwhile: each database is copied as it is at
one moment. The copy gets the name TARGET when it is complete, on the disk, and checked as \`harvest
store check\` does. Configuration files outside of DIR are not copied.

TARGET may be s3://BUCKET/PREFIX (docs/publish.md): the copy is made in --scratch, sent, and removed.
Files that the backup before it has are not sent again. Backups there have numbers.

Logins of URLs are encrypted in the data; their key is in the backup too. Keep it as private as the
data.

Examples:
  harvest backup ./data /backups/$(date +%F)
  harvest backup --json /var/lib/harvest /backups/today && rm -rf /backups/yesterday
  harvest restore /backups/today ./data
  harvest backup ./data s3://backups/harvest --keep 14
  harvest restore s3://backups/harvest ./data

Exit status: 0 done; 1 failure, and no TARGET; 2 usage; 130 interrupted.
`;

const RESTORE_HELP = `
Copies BACKUP, made by \`harvest backup\`, to DIR, which must be absent or empty: nothing is
overwritten. Stop the servers of DIR and move it away first. Then start them: a Broker brings its
index up to date, a Gatherer continues an interrupted run.

Example:
  mv data data.lost
  harvest restore /backups/2026-11-27 data

Exit status: 0 done; 1 failure, and no DIR; 2 usage; 130 interrupted.
`;

/** `harvest backup DIR TARGET`. */
function backup(): Command {
  return withOptions(new Command('backup'))
    .argument('<dir>', 'the data directory')
    .argument('<target>', 'the copy, on another disk; or s3://BUCKET/PREFIX')
    .option(
      '--keep <number>',
      'with s3: delete older backups than this many (default: keep all)',
      countOption,
    )
    .option('--scratch <directory>', 'with s3: room for the copy until it is sent (default: $TMPDIR)')
    .addHelpText('after', BACKUP_HELP)
    .action(lazyAction(async () => (await import('./actions/backup.js')).backup));
}

/** `harvest restore BACKUP DIR`. */
function restore(): Command {
  return withOptions(new Command('restore'))
    .argument('<backup>', 'a directory that backup made, or its s3://BUCKET/PREFIX')
    .option('--number <number>', 'with s3: this backup (default: the newest)', countOption)
    .argument('<dir>', 'the data directory; absent or empty')
    .addHelpText('after', RESTORE_HELP)
    .action(lazyAction(async () => (await import('./actions/backup.js')).restoreBackup));
}

function withOptions(command: Command): Command {
  return command
    .option('--no-check', 'do not read the copy to compare its checksums')
    .option('--json', 'print the counts as one JSON line', false);
}
