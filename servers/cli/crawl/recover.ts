import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';

const HELP = `
With the name of a checkpoint ("newest" for the last one) the crawl returns to it: store, queues, seen URIs, counters. The
checkpoint stays usable; the previous state is kept under the printed names. The crawl must be stopped; start it again
as before.

With --journal a new run of the configuration file WHAT is created from a recovery journal: finished URIs of the journal count
as seen, queued ones are queued if the RootNodes and the scope still accept them. Give all parts, the oldest first, then start
the Gatherer. A crawl that was only killed needs neither: its next run continues.

Examples:
  harvest crawl checkpoints --data DIR
  harvest crawl recover cp00007-20261121183000 --data DIR
  harvest crawl recover --journal logs/recover.gz.cp00001-20261121183000 logs/recover.gz --data DIR sample.cf

Exit status: 0 done; 1 the checkpoint is damaged or the crawl runs; 2 usage or configuration; 130 stopped.
`;

/**
 * `harvest crawl recover CHECKPOINT`, `harvest crawl recover --journal FILE... CONFIGURATION` (CRAWL-17.1.2,
 * 17.2.2).
 */
export function recoverCommand(): Command {
  return new Command('recover')
    .summary('restore a checkpoint, or create a run from a recovery journal')
    .description('Restores a checkpoint, or creates a run from a recovery journal.')
    .argument('<what>', 'name of a checkpoint, or newest; with --journal: the configuration file')
    .option('--data <dir>', 'data directory of the crawl', './data')
    .option('--journal <file...>', 'parts of a recovery journal, the oldest first')
    .option('--retain-failures', 'with --journal: do not retry failed URIs', false)
    .option('--replace', 'with --journal: discard an interrupted run', false)
    .option('--json', 'print the result as one JSON line', false)
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/recover.js')).recover));
}
