import { Command } from 'commander';
import { DEFAULT_DELAY } from '../../../protocols/config/values.js';
import { MIRROR_DATA } from '../../gatherer/mirror/file-names.js';
import { lazyAction } from '../lazy-action.js';
import { countOption, integerOption, secondsOption } from '../options/option-values.js';

const HELP = `
Copies all documents that links reach from each ROOT into DIRECTORY, as HOST/PATH of their URLs. A ROOT is a URL or a
Gatherer's configuration file. robots.txt and the delay between requests are obeyed. Documents of all types are copied.

DIRECTORY/${MIRROR_DATA} contains the summaries with full text, for "harvest gatherd -d DIRECTORY/${MIRROR_DATA}", and the
logs log.gatherer and log.errors.

The next run checks the documents whose Refresh-Rate has passed (a week; --check: all) and fetches only changed ones. A file
that you deleted is fetched again. A run that was stopped or killed continues. Files whose documents no longer exist are
counted as stale; --delete removes them: those that the server reports as gone and, if nothing failed and no limit was
reached, those without any link to them.

Examples:
  harvest mirror http://www.example.org/ ./copy
  harvest mirror --urls 5000 --delay 0.5 http://a.example.org/ http://b.example.org/ ./copies
  harvest mirror --check --delete http://www.example.org/ ./copy      like rsync: files removed there are removed here
  harvest mirror sample.cf ./copy                                     RootNodes with their own limits and filters

Exit status: 0 all documents are copied; 1 some documents failed, or the run failed; 2 usage; 130 stopped.
`;

/** The default of --urls: G-32 has no value for "unlimited". */
const MANY_URLS = 1_000_000;

/** `harvest mirror ROOT... DIRECTORY` (G-8). */
export function mirrorCommand(): Command {
  return new Command('mirror')
    .description('Keeps a copy of the documents of sites as files, with their summaries.')
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
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/mirror.js')).mirror));
}
