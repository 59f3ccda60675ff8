import { Command, CommanderError, Option } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { monitorOption } from '../options/connection-options.js';
import { integerOption, LOOPBACK, repeatedOption, stopLimitOption } from '../options/option-values.js';
import { EXIT } from '../output/exit.js';
import { StandardOutput } from '../output/standard-output.js';

const HELP = `
FILE is a Gatherer's configuration file. The command gathers its documents once, publishes the summaries, and starts gatherd
in the background on Gatherer-Port. gatherd is not started if FILE sets Gatherd-Inetd, or if one is already running; that
one serves the new summaries. The links of the documents are published too, for "harvest refererd --data DIR" (unless FILE
says References: off). The next run finishes an interrupted one; documents that are not yet due (Refresh-Rate) are skipped.

The options of the original program: -background checks FILE and gathers in the background; its messages go to log.errors. -export
gathers nothing: it publishes what was gathered, writes the export files, and starts gatherd. -manual stops after each phase (gather,
publish, gatherd) and goes on when you press Enter; q or the end of the input ends it there, and the next run continues. -debug shows the
debugging messages of all sections, also those of gatherd, and removes no temporary files.

Top-Directory (default: FILE's directory) receives log.gatherer, log.errors, and the scripts RunGatherer, for cron, and
RunGatherd, for system startup; an edited script (without its "Written by" line) is not overwritten.

--only gathers just these URLs, whatever their Refresh-Rate, and enumerates nothing: for programs that know which documents
have changed. All other objects stay unchanged.

Debugging: -Dsection,level, Debug-Options in FILE, or $HARVEST_DEBUG. A level includes lower ones; -Dsection shows all levels.
Messages go to log.gatherer; gatherd gets the same flags.
  20 1,5,9  URLs: Local-Mapping (1), requests (5), answers (9)             60 1      retrieved documents
  21 1,5,9  HTTP: requests (1), logins (5), headers (9)                    61 1      the database
  22 1,5    the disk cache                                                 62 1      the outcome for each document
  23 1      FTP                                                            63 1      recognition of types
  24 1      Gopher                                                         64 1      summaries
  40 1,5,9  enumeration: links (1), depth (5), queue (9)                   65 1      extracted objects
  41 1      stored state of a URL, invalid URLs                            66 1,2,5  post-summarizing rules
  42, 43    links of HTTP and Gopher documents (1), each (5), embeds (9)   67 1      URL and MD5
  44 1,5    filters: denied (1) and allowed (5) URLs, with the line        69 1,5,9  SOIF: objects (1), attributes (5), all (9)
  45, 46 1  FTP and file listings
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
export function gathererCommand(): Command {
  return (
    new Command('gatherer')
      .description('Gathers by a configuration file, publishes the summaries, starts gatherd.')
      .argument('<file>', 'configuration file')
      .option('--force', 'also gather documents that are not yet due (Refresh-Rate) (-force)', false)
      .option('--background', 'gather in the background (-background)', false)
      .option('--export', 'gather nothing; publish and start gatherd (-export)', false)
      .option('--manual', 'stop after each phase (-manual)', false)
      .option('--debug-all', 'show all debugging messages, keep temporary files (-debug)', false)
      .addOption(new Option('--in-background', 'run by --background').hideHelp().default(false))
      .option('--data <directory>', 'directory of the database (default: Data-Directory)')
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
      .addHelpText('after', HELP)
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
