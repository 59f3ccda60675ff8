import { Command } from 'commander';
import { checkpointsCommand } from './checkpoints.js';
import { actionCommands } from './controls.js';
import { openapiCommand } from './openapi.js';
import { orderCommand, settingsCommand } from './order.js';
import { recoverCommand } from './recover.js';
import { reportCommand } from './report.js';
import { waczCommand } from './wacz.js';
import { watchCommand } from './watch.js';

const HELP = `
A running crawl has a console: a web page and the interface of these commands. They find it by the file console.json below
--data. The token in that file is readable by its owner only, so no password is needed; from elsewhere use --url and
$HARVEST_CONSOLE_PASSWORD.

Examples:
  harvest crawl watch --data DIR                 totals, rates, queues, workers, errors, every second
  harvest crawl report queues --state snoozed    why each queue waits, and how long
  harvest crawl pause; harvest crawl checkpoint; harvest crawl resume
  harvest crawl checkpoints; harvest crawl recover newest    restore the last checkpoint of a stopped crawl
  harvest crawl order --default > order.json     a crawl order, for "Crawl-Order: order.json" in a configuration file
  harvest crawl report --help                      more about reports
`;

/**
 * `harvest crawl watch | report | pause | ...`: inspects and controls a running crawl, restores checkpoints of
 * a stopped one, and reads crawl orders.
 */
export function crawlCommand(): Command {
  const crawl = new Command('crawl')
    .description('Inspects and controls a crawl; restores checkpoints; reads crawl orders.')
    .addHelpText('after', HELP);
  const running = [watchCommand(), reportCommand(), ...actionCommands()];
  const stopped = [checkpointsCommand(), recoverCommand(), waczCommand()];
  for (const command of [...running, ...stopped, orderCommand(), settingsCommand(), openapiCommand()])
    crawl.addCommand(command);
  return crawl;
}
