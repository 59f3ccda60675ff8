import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { defined } from '../../../protocols/defined.js';
import { QUEUE_STATES } from '../../crawler/states.js';
import { lazyAction } from '../lazy-action.js';
import { countOption, secondsOption, timeoutOption } from '../options/option-values.js';
import { storeOption } from '../options/store-option.js';
import { type ActionOptions, KINDS, withCrawlOptions } from './crawl-options.js';

/** The commands of this file by name. */
export const DEFINITIONS = { crawl };

const CRAWL_HELP = `
A running crawl has a console: a web page and the interface of these commands. They find it by the
file console.json below --data. The token in that file is readable by its owner only, so no password
is needed; from elsewhere use --url and $HARVEST_CONSOLE_PASSWORD.

Examples:
  harvest crawl watch --data DIR                 totals, rates, queues, workers, errors
  harvest crawl report queues --state snoozed    why each queue waits, and how long
  harvest crawl pause; harvest crawl checkpoint; harvest crawl resume
  harvest crawl checkpoints; harvest crawl recover newest    back to the last checkpoint
  harvest crawl order --default > order.json     a crawl order, for "Crawl-Order: order.json"
  harvest crawl report --help                    more about reports
`;

/**
 * `harvest crawl watch | report | pause | ...`: inspects and controls a running crawl, restores checkpoints of
 * a stopped one, and reads crawl orders.
 */
function crawl(): Command {
  const crawl = new Command('crawl')
    .description('Inspect and control a crawl; restore checkpoints; read crawl orders.')
    .addHelpText('after', CRAWL_HELP);
  const running = [statusCommand(), watchCommand(), reportCommand(), ...actionCommands()];
  const stopped = [joinCommand(), checkpointsCommand(), recoverCommand(), waczCommand()];
  for (const command of [...running, ...stopped, orderCommand(), settingsCommand(), openapiCommand()])
    crawl.addCommand(command);
  return crawl;
}

/** `harvest crawl status`. */
function statusCommand(): Command {
  return consoleCommand(
    'status',
    'print the totals of a running crawl',
    'Print the totals of a crawl, and the processes that share it with their parts and rates.',
  ).action(lazyAction(async () => (await import('./actions/status.js')).crawlStatus));
}

const WATCH_HELP = `
On a terminal the screen is drawn in place: totals, rates of the last ten minutes, queues with the
reason each waits, workers, errors. Elsewhere one line is written every five seconds. The command
ends when the crawl ends, or at Ctrl-C, which does not stop the crawl.

Examples:
  harvest crawl watch --data DIR
  harvest crawl watch --state snoozed             only snoozed queues
  harvest crawl watch --json --interval 60 >> progress.jsonl
  harvest crawl watch --once                      one snapshot

Exit status: 0 the crawl ended, or --once; 1 no crawl is running, or the console refused; 2 usage; 3
the console cannot be reached; 130 stopped.
`;

/** `harvest crawl watch`. */
function watchCommand(): Command {
  return withCrawlOptions(new Command('watch'))
    .summary('watch a running crawl in the terminal')
    .option(
      '--interval <seconds>',
      'time between snapshots (default: 1 on a terminal, else 5)',
      timeoutOption,
    )
    .addOption(new Option('--state <state>', 'only queues in this state').choices([...QUEUE_STATES]))
    .option('--once', 'print one snapshot', false)
    .option('--json', 'print each snapshot as one JSON line', false)
    .addHelpText('after', WATCH_HELP)
    .action(lazyAction(async () => (await import('./actions/watch.js')).watchCrawl));
}

const REPORT_HELP = `
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

With --json queues, retries, hosts, robots, chain, workers and errors are one JSON object per line,
seen and frontier one object; with "all" each line has its kind in "report".

For a stopped crawl queues, retries, seen, frontier and all are read from its store.

Examples:
  harvest crawl report frontier
  harvest crawl report queues --state snoozed --data DIR        why does nothing happen?
  harvest crawl report queues --json | jq 'select(.reason == "retry-after")'
  HARVEST_CONSOLE_PASSWORD=... harvest crawl report all --url http://crawler.example.org:8090/

Exit status: 0 done; 1 no crawl is running, or the console refused; 2 usage; 3 the console cannot be
reached.
`;

/** `harvest crawl report KIND`. */
function reportCommand(): Command {
  return withCrawlOptions(new Command('report'))
    .summary('print queues with the reason each waits, hosts, robots, seen, chain, frontier')
    .description('Report on a crawl.')
    .addArgument(new Argument('<kind>', 'what to report').choices([...KINDS, 'all']))
    .option('--json', 'JSON lines', false)
    .addOption(new Option('--state <state>', 'only queues in this state').choices([...QUEUE_STATES]))
    .addHelpText('after', REPORT_HELP)
    .action(lazyAction(async () => (await import('./actions/report.js')).reportCrawl));
}

const EXIT_HELP = `
Exit status: 0 done; 1 no crawl is running, or the console refused; 2 usage; 3 the console cannot be
reached.
`;

const DELETE_EXAMPLES = `
Examples:
  harvest crawl delete '/calendar/[0-9]{4}/'
  harvest crawl delete . --queues '^trap\\.example\\.org$'    all pending URIs of one host
`;

/** Commands without parameters: name, the console's name of the action, summary, description. */
const PLAIN_ACTIONS: readonly (readonly [string, string, string, string])[] = [
  ['pause', 'pause', 'pause a crawl', 'Pause a crawl: URIs in flight are finished; no new ones are started.'],
  ['resume', 'resume', 'continue a paused crawl', ''],
  [
    'checkpoint',
    'checkpoint',
    'take a checkpoint of a running crawl',
    'Take a checkpoint, verify it, and print its name. The crawl continues meanwhile.',
  ],
  [
    'stop',
    'stop',
    'end a crawl',
    'End a crawl: URIs in flight are finished; the others stay queued for the next run.',
  ],
  [
    'wake',
    'force-wake',
    'wake snoozed queues immediately',
    'Wake snoozed queues, whatever pause their servers requested. Use it only on your own hosts.',
  ],
  [
    'reconsider',
    'reconsider-retired',
    'reconsider retired queues',
    'Return retired queues to the crawl and read their budgets again; a queue over its budget retires again.',
  ],
];

/** `harvest crawl pause`, `stop`, `delete` ...: actions on a running crawl. */
function actionCommands(): Command[] {
  const plain = PLAIN_ACTIONS.map(([name, action, summary, description]) =>
    consoleCommand(name, summary, description).action(
      lazyAction(async () => {
        const { sendAction } = await import('./find-crawl.js');
        return (options: ActionOptions) => sendAction(action, {}, options);
      }),
    ),
  );
  const remove = consoleCommand(
    'delete',
    'delete pending URIs',
    'Delete pending URIs that match.',
    DELETE_EXAMPLES,
  )
    .argument('<pattern>', 'regular expression (RE2) that matches somewhere in the URI')
    .option('--queues <pattern>', 'only in queues whose name matches')
    .action(
      lazyAction(async () => {
        const { sendAction } = await import('./find-crawl.js');
        return (pattern: string, options: ActionOptions & { readonly queues?: string }) =>
          sendAction('delete-uris', { pattern, ...defined({ queuePattern: options.queues }) }, options);
      }),
    );
  const kill = consoleCommand(
    'kill',
    "abort a worker's URI",
    'Abort the URI that a worker is processing; it ends with status -7000 (killed).',
  )
    .argument('<worker>', 'number of the worker, from harvest crawl report workers', workerArgument)
    .action(
      lazyAction(async () => {
        const { sendAction } = await import('./find-crawl.js');
        return (worker: string, options: ActionOptions) => sendAction('kill-worker', { worker }, options);
      }),
    );
  return [...plain, remove, kill];
}

/** @param examples - shown before the exit statuses */
function consoleCommand(name: string, summary: string, description: string, examples = ''): Command {
  return withCrawlOptions(new Command(name))
    .summary(summary)
    .description(description)
    .option('--json', 'print the result as one JSON line', false)
    .addHelpText('after', `${examples}${EXIT_HELP}`);
}

function workerArgument(text: string): string {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('must be the number of a worker');
  return text;
}

const CHECKPOINTS_HELP = `
Lists checkpoints, the newest last. A checkpoint is verified when it is taken; --verify repeats
this: all files exist and are unchanged, and the store opens. It reads every file and changes
nothing.

Examples:
  harvest crawl checkpoints --data DIR
  harvest crawl checkpoints --data DIR --verify --json
  harvest crawl recover newest --data DIR          restore the last one

Exit status: 0 done; 1 a checkpoint is damaged; 2 usage.
`;

/** `harvest crawl checkpoints` (CRAWL-17.3). */
function checkpointsCommand(): Command {
  return new Command('checkpoints')
    .summary('list and verify the checkpoints of a crawl')
    .description('List the checkpoints of a running or stopped crawl.')
    .option('--data <dir>', 'data directory of the crawl', './data')
    .option('--verify', 'check every file of each', false)
    .option('--json', 'JSON lines', false)
    .addHelpText('after', CHECKPOINTS_HELP)
    .action(lazyAction(async () => (await import('./actions/checkpoints.js')).checkpoints));
}

const RECOVER_HELP = `
With the name of a checkpoint ("newest" for the last one) the crawl returns to it: store, queues,
seen URIs, counters. The checkpoint stays usable; the previous state is kept under the printed
names. The crawl must be stopped; start it again as before.

With --journal a new run of the configuration file WHAT is created from a recovery journal: finished
URIs of the journal count as seen, queued ones are queued if the RootNodes and the scope still
accept them. Give all parts, the oldest first, then start the Gatherer. A crawl that was only killed
needs neither: its next run continues.

Examples:
  harvest crawl checkpoints --data DIR
  harvest crawl recover cp00007-20261121183000 --data DIR
  harvest crawl recover --journal recover.gz.cp00001-20261121183000 recover.gz --data DIR sample.cf

Exit status: 0 done; 1 the checkpoint is damaged or the crawl runs; 2 usage or configuration; 130
stopped.
`;

/**
 * `harvest crawl recover CHECKPOINT`, `harvest crawl recover --journal FILE... CONFIGURATION` (CRAWL-17.1.2,
 * 17.2.2).
 */
function recoverCommand(): Command {
  return new Command('recover')
    .summary('restore a checkpoint, or create a run from a recovery journal')
    .argument('<what>', 'name of a checkpoint, or newest; with --journal: the configuration file')
    .option('--data <dir>', 'data directory of the crawl', './data')
    .option('--journal <file...>', 'parts of a recovery journal, the oldest first')
    .option('--retain-failures', 'with --journal: do not retry failed URIs', false)
    .option('--replace', 'with --journal: discard an interrupted run', false)
    .option('--json', 'print the result as one JSON line', false)
    .addHelpText('after', RECOVER_HELP)
    .action(lazyAction(async () => (await import('./actions/recover.js')).recover));
}

const JOIN_HELP = `
FILE is a Gatherer's configuration, the same for all processes. The store is in the PostgreSQL
database that Store-URL or --store names. Each process has a share of the queues, by leases; one
that joins gets its share from the others, and what a process leaves behind that ends or is killed
the others take over. No host is requested by two of them at a time. The crawl is over when no
process has a URI left; then "harvest gatherer -export FILE" publishes it.

harvest crawl pause, resume and stop at one process are for all of them, and limits of the order
and of RootNodes count what all have done. Logs, WARC files and the console of each process are in
its own --data. There are no checkpoints of a shared crawl.

Examples:
  harvest crawl join sample.cf --begin --data a     begins a crawl, or joins the one in progress
  harvest crawl join sample.cf --data b             another process, here or on another machine

Exit status: 0 the crawl is over; 1 failure; 2 usage, configuration, or no crawl in progress; 130
left by SIGINT or SIGTERM.
`;

/** `harvest crawl join FILE`. */
function joinCommand(): Command {
  return new Command('join')
    .summary('take part in a crawl that several processes share')
    .description('Take part in a crawl whose store is in a database.')
    .argument('<file>', "the Gatherer's configuration")
    .option('--data <directory>', 'directory of this process (default: Data-Directory)')
    .addOption(storeOption('the database (default: Store-URL)'))
    .option('--begin', 'begin a crawl if none is in progress', false)
    .option(
      '--partitions <number>',
      'with --begin: parts into which the queues are divided',
      countOption,
      256,
    )
    .option(
      '--lease <seconds>',
      'time for which a process has its parts unless it renews them',
      secondsOption,
      15,
    )
    .option('--json', 'print the counts as one JSON line', false)
    .addHelpText('after', JOIN_HELP)
    .action(lazyAction(async () => (await import('./actions/join.js')).join));
}

const WACZ_HELP = `
A WACZ file is a zip file with WARC files, their index, a list of pages and digests. Programs such
as ReplayWeb.page open it without a server. Files that a crawl still writes (.open) and ARC files
are left out. The WARC files stay where they are. Files in Zstandard (.zst) are packed, but many
programs cannot read them. Damaged records are named on standard error; the index has the others.

Examples:
  harvest crawl wacz warc/ --output site.wacz
  harvest crawl wacz warc/ --output site.wacz --title 'Our site, autumn 2026'

Exit status: 0 done; 1 a file cannot be read or written, or has damaged records; 2 usage, or no
finished WARC files.
`;

/** `harvest crawl wacz`: packs the WARC files of a crawl (CRAWL-18.6). */
function waczCommand(): Command {
  return new Command('wacz')
    .summary('pack the WARC files of a crawl as one WACZ file')
    .description('Pack the finished WARC files of a directory as one WACZ file.')
    .argument('<dir>', 'directory of the WARC files')
    .requiredOption('--output <file>', 'the WACZ file; an existing one is replaced')
    .option('--title <text>', 'title of the collection')
    .option('--json', 'the counts as JSON', false)
    .addHelpText('after', WACZ_HELP)
    .action(lazyAction(async () => (await import('./actions/wacz.js')).wacz));
}

const ORDER_HELP = `
A configuration file names its order with "Crawl-Order: FILE". An order is JSON with comments, or
the order.xml of Heritrix 1.x.

Examples:
  harvest crawl order --default > order.json     a file to start from
  harvest crawl order --table | less             every setting: default, unit, legal values, rule
  harvest crawl order --check order.json
  harvest crawl settings http://www.example.org/ --order order.json

Exit status: 0 done; 2 the order is wrong, or usage.
`;

/** `harvest crawl order` (CRAWL-19): the default order, the table of settings, or a check of an order. */
function orderCommand(): Command {
  return new Command('order')
    .summary('print the default crawl order, or check one')
    .description('Print the default crawl order with comments, or check one.')
    .addOption(new Option('--default', 'print the default order (the default)').conflicts(['check', 'table']))
    .addOption(new Option('--table', 'print all settings as a table').conflicts('check'))
    .option(
      '--check <file>',
      'read an order, load its modules, report the first error and settings without effect',
    )
    .option('--json', 'print the table as JSON lines, or the checked order with all defaults', false)
    .addHelpText('after', ORDER_HELP)
    .action(lazyAction(async () => (await import('./actions/order.js')).printOrder));
}

const SETTINGS_HELP = `
Settings that differ from those of the order are marked with *; --all shows the others too. The last
sheet listed wins.

Examples:
  harvest crawl settings http://www.example.org/a --order order.json
  harvest crawl settings http://a.example/b --order order.json --hops LLL --via http://a.example/

Exit status: 0 done; 2 the order is wrong, or usage.
`;

/** `harvest crawl settings URL` (CRAWL-19.5, 19.6): the settings of a URL, and the sheets that set them. */
function settingsCommand(): Command {
  return new Command('settings')
    .summary('print the settings of a URL and the sheets that set them')
    .argument('<url>', 'the URL', urlArgument)
    .requiredOption('--order <file>', 'the crawl order')
    .option('--via <url>', 'the URL of the page with the link', urlArgument)
    .option('--hops <letters>', 'the path from the seed, e.g. LLE; empty: a seed', '')
    .option('--all', 'also show settings that no sheet changes', false)
    .option('--json', 'one JSON line', false)
    .addHelpText('after', SETTINGS_HELP)
    .action(lazyAction(async () => (await import('./actions/order.js')).printSettings));
}

function urlArgument(text: string): string {
  if (!URL.canParse(text)) throw new InvalidArgumentError('must be a URL');
  return text;
}

const OPENAPI_HELP = `
A running crawl serves the same document at /api/openapi.json of its console. console.json below the
crawl's directory has the console's address and the token for the header "Authorization: Bearer
TOKEN".

Examples:
  harvest crawl openapi > console.openapi.json
  cd DIR/crawl
  token=$(jq -r .token console.json)
  curl -H "Authorization: Bearer $token" "$(jq -r .url console.json)api/snapshot"

Exit status: 0 done.
`;

/** `harvest crawl openapi`: prints the description of the console's interface for programs. */
function openapiCommand(): Command {
  return new Command('openapi')
    .summary("print the OpenAPI document of the console's interface")
    .description("Print the OpenAPI 3.1 document of the console's interface for programs.")
    .addHelpText('after', OPENAPI_HELP)
    .action(lazyAction(async () => (await import('./actions/openapi.js')).openapi));
}
