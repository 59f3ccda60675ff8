import { Command } from 'commander';
import { actCommands } from './crawl/actions.js';
import { checkpointsCommand } from './crawl/checkpoints.js';
import { orderCommand, settingsCommand } from './crawl/order.js';
import { recoverCommand } from './crawl/recover.js';
import { reportCommand } from './crawl/report.js';
import { watchCommand } from './crawl/watch.js';

const HELP = `
A crawl that runs has a console: a page, and these commands. They find it by the file console.json below --data, whose token
only its owner can read, so no password is needed; elsewhere --url and $HARVEST_CONSOLE_PASSWORD do it.

Examples:
  harvest crawl watch --data DIR                 totals, rates, queues, workers, errors, every second
  harvest crawl report queues --state snoozed    why each of them waits, and how long still
  harvest crawl pause; harvest crawl checkpoint; harvest crawl resume
  harvest crawl checkpoints; harvest crawl recover newest    go back to the last checkpoint of a crawl that does not run
  harvest crawl order --default > order.json     a crawl order, for "Crawl-Order: order.json" in a configuration file
  harvest help crawl report                      more about reports
`;

/**
 * `harvest crawl watch | report | pause | ...`: looks at a running crawl and tells it what to do (issue 7, points 8 and 9); goes back
 * to checkpoints and reads orders.
 */
export function crawlCommand(): Command {
  const crawl = new Command('crawl')
    .summary('look at a crawl, pause it, end it, go back to a checkpoint')
    .description('Looks at a crawl and tells it what to do; goes back to checkpoints; reads crawl orders.')
    .addHelpText('after', HELP);
  const running = [watchCommand(), reportCommand(), ...actCommands()];
  const stopped = [checkpointsCommand(), recoverCommand()];
  for (const command of [...running, ...stopped, orderCommand(), settingsCommand()])
    crawl.addCommand(command);
  return crawl;
}
