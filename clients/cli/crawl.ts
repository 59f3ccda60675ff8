import { Command } from 'commander';
import { actCommands } from './crawl/acts.js';
import { reportCommand } from './crawl/report.js';
import { watchCommand } from './crawl/watch.js';

const HELP = `
A crawl that runs has a console: a page, and these commands. They find it by the file console.json below --data, whose token
only its owner can read, so no password is needed; elsewhere --url and $HARVEST_CONSOLE_PASSWORD do it.

Examples:
  harvest crawl watch --data DIR                 totals, rates, queues, workers, errors, every second
  harvest crawl report queues --state snoozed    why each of them waits, and how long still
  harvest crawl pause; harvest crawl checkpoint; harvest crawl resume
  harvest help crawl report                      more about reports
`;

/** `harvest crawl watch | report | pause | ...`: looks at a running crawl and tells it what to do (issue 7, points 8 and 9). */
export function crawlCommand(): Command {
  const crawl = new Command('crawl')
    .summary('look at a running crawl, pause it, end it')
    .description('Looks at a running crawl, and tells it what to do.')
    .addHelpText('after', HELP);
  for (const command of [watchCommand(), reportCommand(), ...actCommands()]) crawl.addCommand(command);
  return crawl;
}
