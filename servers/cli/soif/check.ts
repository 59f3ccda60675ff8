import { Command } from 'commander';
import { STANDARD_INPUT } from '../../../clients/soif-tools/input.js';
import { lazyAction } from '../lazy-action.js';
import { objectBytesOption } from '../options/option-values.js';

const HELP = `
Prints for each attempt at an object whether it is valid, in the format of the original cksoif; an invalid one is followed by the
rule it breaks, the byte offset and the reason. Objects must have the exact layout of SOIF writers. With --lenient everything
that a tolerant reader of network data accepts is valid, and each tolerated fault is listed. Update streams with @DELETE,
@REFRESH and @UPDATE groups and gzip files are recognized.

Examples:
  harvest soif check objects.soif
  harvest gather localhost | harvest soif check -
  harvest soif check --lenient --json All-Templates.gz

--json prints one object per line: {"attempt":1,"valid":true,"offset":0,"type":"FILE","url":"http://..."}, with "rule",
"message" and the offset of the offending byte if it is not valid, with "warnings" for --lenient; the last line has the counts.

Exit status: 0 everything is valid; 1 something is not, or the file cannot be read; 2 usage.
`;

const ORIGINAL_HELP = `
The original validator: reads SOIF on standard input and prints one line for each attempt at an object. Its verdicts are those of
the original reader, which tolerates some faults (CR LF, blank lines, a size like {1x}) but not others (a blank instead of the
tab, a URL of more than 8190 bytes, an "@" in text before an object), and does not mention an object that is truncated at the end
of the input. \`harvest soif check\` is strict and prints the fault and its position.

It does not know the @DELETE, @REFRESH and @UPDATE groups of an update stream and loses objects after them; \`harvest soif cat\`
removes the groups.

Example:
  cksoif < objects.soif
  harvest gather localhost | harvest soif cat | cksoif

Exit status: 0 for any input, as the original; 1 the input cannot be read.
`;

/** `harvest soif check` (SOIF-4.9). */
export function checkCommand(): Command {
  return new Command('check')
    .summary('report for each object whether it is valid, and which rule it breaks')
    .argument('[file]', 'a SOIF file, plain or gzip; - is standard input', STANDARD_INPUT)
    .option('--lenient', 'accept faults that readers tolerate, with warnings', false)
    .option('--json', 'print JSON lines', false)
    .option(
      '--max-object <bytes>',
      'an object larger than this is invalid (default: 64 MiB)',
      objectBytesOption,
    )
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/check.js')).check));
}

/** `cksoif` (SOIF-4.9, G-131). */
export function cksoifCommand(): Command {
  return new Command('cksoif')
    .summary('the original validator: one line for each attempt at an object')
    .argument('[file]', 'a SOIF file, plain or gzip; - is standard input', STANDARD_INPUT)
    .addHelpText('after', ORIGINAL_HELP)
    .action(lazyAction(async () => (await import('./actions/check.js')).cksoif));
}
