import { Command, CommanderError, Option } from 'commander';
import { DEFAULT_DELAY } from '../../../protocols/config/root-node-defaults.js';
import { MIRROR_DATA } from '../../gatherer/mirror/file-names.js';
import { lazyAction } from '../lazy-action.js';
import { monitorOption } from '../options/connection-options.js';
import {
  countOption,
  integerOption,
  LOOPBACK,
  repeatedOption,
  secondsOption,
  stopLimitOption,
} from '../options/option-values.js';
import { publishOption, storeOption } from '../options/store-option.js';
import { EXIT } from '../output/exit.js';
import { StandardOutput } from '../output/standard-output.js';

/** The commands of this file by name. */
export const DEFINITIONS = { mirror, gatherer, enum: enumCommand };

const GATHERER_HELP = `
FILE is a Gatherer's configuration file. The command gathers its documents once, publishes the
summaries, and starts gatherd in the background on Gatherer-Port. gatherd is not started if FILE
sets Gatherd-Inetd, or if one is already running; that one serves the new summaries. The links of
the documents are published too, for "harvest refererd --data DIR" (unless FILE says References:
off). The next run finishes an interrupted one; documents that are not yet due (Refresh-Rate) are
skipped.

The options of the original program: -background checks FILE and gathers in the background; its
messages go to log.errors. -export gathers nothing: it publishes what was gathered, writes the
export files, and starts gatherd. -manual stops after each phase (gather, publish, gatherd) and
continues when you press Enter; q or the end of the input ends the run, which the next run
continues. -debug shows the debugging messages of all sections, also those of gatherd, and removes
no temporary files.

Top-Directory (default: FILE's directory) receives log.gatherer, log.errors, and the scripts
RunGatherer, for cron, and RunGatherd, for system startup; an edited script (without its "Written
by" line) is not overwritten.

--only gathers just these URLs, whatever their Refresh-Rate, and enumerates nothing: for programs
that know which documents have changed. All other objects stay unchanged.

Debugging: -Dsection,level, Debug-Options in FILE, or $HARVEST_DEBUG. A level includes lower ones;
-Dsection shows all levels. Messages go to log.gatherer; gatherd gets the same flags.
  20 1,5,9  URLs: Local-Mapping (1), requests (5), answers (9)    60 1      retrieved documents
  21 1,5,9  HTTP: requests (1), logins (5), headers (9)           61 1      the database
  22 1,5    the disk cache                                        62 1      each document's outcome
  23 1      FTP                                                   63 1      recognition of types
  24 1      Gopher                                                64 1      summaries
  40 1,5,9  enumeration: links (1), depth (5), queue (9)          65 1      extracted objects
  41 1      stored state of a URL, invalid URLs                   66 1,2,5  post-summarizing rules
  42, 43    links of HTTP and Gopher (1), each (5), embeds (9)    67 1      URL and MD5
  44 1,5    filters: denied (1), allowed (5) URLs, with the line  69 1,5,9  SOIF: objects (1),
  45, 46 1  FTP and file listings                                           attributes (5), all (9)
  48 1,5    robots.txt: denied (1) and allowed (5) URLs

Examples:
  harvest gatherer sample.cf
  harvest gatherer -force sample.cf        also documents that are not yet due (Refresh-Rate)
  harvest gatherer --no-daemon sample.cf   gather and publish only
  harvest gatherer sample.cf --only http://www.example.org/news.html http://www.example.org/
  harvest gatherer -D20,1 sample.cf        how Local-Mapping maps URLs to files, and why it fails
  harvest gatherer --help-variables        describe every variable of FILE
  harvest kill-gatherd -d data             stop the started gatherd

Exit status: 0 done; 1 failure; 2 usage or configuration; 130 stopped while gathering.
`;

/** `Gatherer FILE` (G-5, G-117). */
function gatherer(): Command {
  return (
    new Command('gatherer')
      .argument('<file>', 'configuration file')
      .option('--force', 'also gather documents that are not yet due (Refresh-Rate) (-force)', false)
      .option('--background', 'gather in the background (-background)', false)
      .option('--export', 'gather nothing; publish and start gatherd (-export)', false)
      .option('--manual', 'stop after each phase (-manual)', false)
      .option('--debug-all', 'show all debugging messages, keep temporary files (-debug)', false)
      .addOption(new Option('--in-background', 'run by --background').hideHelp().default(false))
      .option('--data <directory>', 'directory of the database (default: Data-Directory)')
      .addOption(storeOption('keep the store in a database (default: Store-URL, or files)'))
      .addOption(publishOption())
      .option('--no-daemon', 'do not start gatherd')
      .option('--host <address>', 'address that gatherd listens on', LOOPBACK)
      .option('--only <url...>', 'gather these URLs and nothing else')
      .option('--json', 'print the counts as one JSON line', false)
      .option('--json-log', 'write the logs as JSON lines', false)
      .addOption(
        new Option('--log-json', 'the former name of --json-log').hideHelp().implies({ jsonLog: true }),
      )
      .option('--help-variables', "describe the configuration file's variables")
      .option('-D, --debug <section,level>', 'show debugging messages (may be repeated)', repeatedOption, [])
      .addHelpText('after', GATHERER_HELP)
      .option(
        '--low-disk <MiB>',
        'pause while less space is free; 0 = never (default: that of Crawl-Order, 512)',
        integerOption,
      )
      .addOption(stopLimitOption())
      .addOption(monitorOption())
      // Like --help, it needs no FILE.
      .on('option:help-variables', () => {
        void printVariables();
        throw new CommanderError(EXIT.ok, 'harvest.helpVariables', '(the variables)');
      })
      .action(lazyAction(async () => (await import('./actions/gatherer.js')).runGatherer))
  );
}

async function printVariables(): Promise<void> {
  const { GATHERER_VARIABLES, variablesText } = await import('../../../protocols/config/index.js');
  await new StandardOutput().write(variablesText(GATHERER_VARIABLES.describe()));
}

const MIRROR_HELP = `
Copies all documents that links reach from each ROOT into DIRECTORY, as HOST/PATH of their URLs. A
ROOT is a URL or a Gatherer's configuration file. robots.txt and the delay between requests are
obeyed. Documents of all types are copied.

DIRECTORY/${MIRROR_DATA} contains the summaries with full text, for "harvest gatherd -d
DIRECTORY/${MIRROR_DATA}", and the logs log.gatherer and log.errors.

The next run checks the documents whose Refresh-Rate has passed (a week; --check: all) and fetches
only changed ones. A file that you deleted is fetched again. A run that was stopped or killed
continues. Files whose documents no longer exist are counted as stale; --delete removes them: those
that the server reports as gone and, if nothing failed and no limit was reached, those without any
link to them.

Examples:
  harvest mirror http://www.example.org/ ./copy
  harvest mirror --urls 5000 --delay 0.5 http://a.example.org/ http://b.example.org/ ./copies
  harvest mirror --check --delete http://www.example.org/ ./copy   as rsync --delete does
  harvest mirror sample.cf ./copy                                  RootNodes with their own limits

Exit status: 0 all documents are copied; 1 some documents failed, or the run failed; 2 usage; 130
stopped.
`;

/** The default of --urls: G-32 has no value for "unlimited". */
const MANY_URLS = 1_000_000;

/** `harvest mirror ROOT... DIRECTORY` (G-8). */
function mirror(): Command {
  return new Command('mirror')
    .argument('<root-and-directory...>', 'URLs or configuration files to mirror; then the directory')
    .option('--delete', 'remove files whose documents no longer exist', false)
    .option('--check', 'also check documents that are not yet due (Refresh-Rate)', false)
    .option('--urls <number>', 'maximum number of URLs of each ROOT', countOption, MANY_URLS)
    .option('--hosts <number>', 'maximum number of hosts of each ROOT', countOption, 1)
    .option('--depth <steps>', 'maximum number of steps from each ROOT; 0 = no limit', integerOption, 0)
    .option(
      '--delay <seconds>',
      `time between requests to a server (default: ${DEFAULT_DELAY}; local files 0)`,
      secondsOption,
    )
    .option(
      '--connections <number>',
      'connections per host; more than 1 only for your own hosts',
      countOption,
      1,
    )
    .option('--max-size <MiB>', 'skip larger documents, with an error in the log', countOption, 64)
    .option('--json', 'print the counts as one JSON line', false)
    .addHelpText('after', MIRROR_HELP)
    .action(lazyAction(async () => (await import('./actions/mirror.js')).mirror));
}

const ENUM_HELP = `
Expands a RootNode as the Gatherer does (limits, filters, robots.txt, pauses), and prints the URLs
of the documents that it finds, in the order in which they are visited. Nothing is summarized or
kept. A modifier is one of a RootNode line: URL=, Host=, Access=, Delay=, Depth=, Search=. URLs that
fail are named on standard error.

Examples:
  httpenum http://www.example.org/ Depth=1
  httpenum -D20,1 -D21,1 -D42,1 http://www.example.org/     with debugging messages
  httpenum-depth http://www.example.org/ URL=20
  fileenum file://localhost/usr/share/doc/ Depth=2

Exit status: 0 done; 1 no URL was found; 2 usage; 130 stopped.
`;

/** `httpenum URL` and its relatives (G-3, G-4, G-149). */
function enumCommand(): Command {
  return new Command('enum')
    .argument('<url>', 'the RootNode')
    .argument('[modifiers...]', 'its limits, e.g. Depth=1 URL=50')
    .option('-D, --debug <section,level>', 'show debugging messages (may be repeated)', repeatedOption, [])
    .addHelpText('after', ENUM_HELP)
    .action(lazyAction(async () => (await import('./actions/enum.js')).enumerate));
}
