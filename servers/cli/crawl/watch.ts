import { Command, Option } from 'commander';
import { QUEUE_STATES } from '../../crawler/states.js';
import { lazyAction } from '../lazy-action.js';
import { timeoutOption } from '../options/option-values.js';
import { withCrawlOptions } from './crawl-options.js';

const HELP = `
On a terminal the screen is drawn in place: totals, rates of the last ten minutes, queues with the reason each waits, workers,
errors. Elsewhere one line is written every five seconds. The command ends when the crawl ends, or at Ctrl-C, which does
not stop the crawl.

Examples:
  harvest crawl watch --data DIR
  harvest crawl watch --state snoozed             only snoozed queues
  harvest crawl watch --json --interval 60 >> progress.jsonl
  harvest crawl watch --once                      one snapshot

Exit status: 0 the crawl ended, or --once; 1 no crawl is running, or the console refused; 2 usage; 3 the console cannot be reached;
130 stopped.
`;

/** `harvest crawl watch`. */
export function watchCommand(): Command {
  return withCrawlOptions(new Command('watch'))
    .summary('watch a running crawl in the terminal')
    .description('Shows a running crawl.')
    .option(
      '--interval <seconds>',
      'time between snapshots (default: 1 on a terminal, else 5)',
      timeoutOption,
    )
    .addOption(new Option('--state <state>', 'only queues in this state').choices([...QUEUE_STATES]))
    .option('--once', 'print one snapshot', false)
    .option('--json', 'print each snapshot as one JSON line', false)
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/watch.js')).watchCrawl));
}
