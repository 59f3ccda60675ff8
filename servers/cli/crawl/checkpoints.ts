import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';

const HELP = `
Lists checkpoints, the newest last. A checkpoint is verified when it is taken; --verify repeats this: all files exist and are
unchanged, and the store opens. It reads every file and changes nothing.

Examples:
  harvest crawl checkpoints --data DIR
  harvest crawl checkpoints --data DIR --verify --json
  harvest crawl recover newest --data DIR          restore the last one

Exit status: 0 done; 1 a checkpoint is damaged; 2 usage.
`;

/** `harvest crawl checkpoints` (CRAWL-17.3). */
export function checkpointsCommand(): Command {
  return new Command('checkpoints')
    .summary('list and verify the checkpoints of a crawl')
    .description('Lists the checkpoints of a running or stopped crawl.')
    .option('--data <dir>', 'data directory of the crawl', './data')
    .option('--verify', 'check every file of each', false)
    .option('--json', 'JSON lines', false)
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/checkpoints.js')).checkpoints));
}
