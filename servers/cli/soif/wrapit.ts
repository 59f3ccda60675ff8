import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { countOption } from '../options/option-values.js';

const HELP = `
Reads raw data from standard input and prints it as one SOIF attribute with its byte count, the output format of summarizer
programs. All bytes are counted, including a final newline. Without data no attribute is printed.

Example (a summarizer Abstract.sum):
  head -50 "$1" | wrapit Abstract

Exit status: 0 done; 1 too much data; 2 usage, or an invalid attribute name.
`;

/** `wrapit Attribute` (E-62). */
export function wrapitCommand(): Command {
  return new Command('wrapit')
    .summary('convert standard input into one SOIF attribute')
    .argument('<attribute>', "the attribute's name: letters, digits, - _ . < >")
    .option('--max-bytes <bytes>', 'maximum number of bytes (default: 64 MiB)', countOption)
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/wrapit.js')).wrapit));
}
