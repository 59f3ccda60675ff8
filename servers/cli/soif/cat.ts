import { Command, Option } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { objectBytesOption } from '../options/option-values.js';
import { rawOption } from '../output/standard-output.js';

const HELP = `
Prints the objects of SOIF files in the exact layout of SOIF writers. The @DELETE, @REFRESH and @UPDATE groups of update streams
are removed, gzip files are decompressed; - or no file is standard input. Unreadable parts are reported on standard error and
skipped.

Examples:
  harvest soif cat old.soif new.soif.gz > all.soif
  harvest soif cat --url '^http://www\\.example\\.org/' All-Templates.gz
  harvest soif cat --json objects.soif | head -1
  harvest gather localhost | harvest soif cat --section delete

Exit status: 0 all objects were read; 1 some were not; 2 usage.
`;

/** `harvest soif cat`: objects of several streams, unwrapped, in the layout of SOIF-2.2. */
export function catCommand(): Command {
  return new Command('cat')
    .summary('print the objects of SOIF files in the exact layout, or as JSON')
    .argument('[files...]', 'SOIF files, plain or gzip; - is standard input')
    .option('--json', 'print JSON lines, as `harvest soif convert --to jsonl` does', false)
    .option('--type <type>', 'only objects of this template type, e.g. FILE')
    .option('--url <pattern>', 'only objects whose URL matches this regular expression (POSIX extended)')
    .addOption(
      new Option('--section <name>', 'only objects of this group of an update stream').choices([
        'delete',
        'refresh',
        'update',
      ]),
    )
    .option('--max-object <bytes>', 'skip objects larger than this (default: 64 MiB)', objectBytesOption)
    .addOption(rawOption())
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/cat.js')).cat));
}
