import { Argument, Command, Option } from 'commander';
import { QUEUE_STATES } from '../../crawler/states.js';
import { lazyAction } from '../lazy-action.js';
import { withCrawlOptions } from './crawl-options.js';
import { KINDS } from './report-kinds.js';

const HELP = `
KIND is one of
  queues     every queue: state, URIs, and why and how long it waits
  retries    the URIs that wait for another attempt, at most 1000: status, attempts, when
  hosts      the servers contacted last, at most 10000: successes, failures, bytes
  robots     the state of their robots.txt
  seen       the filter of seen URIs
  chain      the processors, and the number of URIs of each
  frontier   the frontier in one line
  workers    the current URI and step of each worker
  errors     the latest failures
  all        the totals and all of these

With --json queues, retries, hosts, robots, chain, workers and errors are one JSON object per line, seen and frontier one object; with
"all" each line has its kind in "report".

For a stopped crawl queues, retries, seen, frontier and all are read from its store.

Examples:
  harvest crawl report frontier
  harvest crawl report queues --state snoozed --data DIR        why does nothing happen?
  harvest crawl report queues --json | jq 'select(.reason == "retry-after")'
  HARVEST_CONSOLE_PASSWORD=... harvest crawl report all --url http://crawler.example.org:8090/

Exit status: 0 done; 1 no crawl is running, or the console refused; 2 usage; 3 the console cannot be reached.
`;

/** `harvest crawl report KIND`. */
export function reportCommand(): Command {
  return withCrawlOptions(new Command('report'))
    .summary('print queues with the reason each waits, hosts, robots, seen, chain, frontier')
    .description('Reports on a crawl.')
    .addArgument(new Argument('<kind>', 'what to report').choices([...KINDS, 'all']))
    .option('--json', 'JSON lines', false)
    .addOption(new Option('--state <state>', 'only queues in this state').choices([...QUEUE_STATES]))
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/report.js')).reportCrawl));
}
