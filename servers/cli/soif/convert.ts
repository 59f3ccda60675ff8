import { Command, Option } from 'commander';
import { STANDARD_INPUT } from '../../../clients/soif-tools/input.js';
import { lazyAction } from '../lazy-action.js';
import { objectBytesOption } from '../options/option-values.js';
import { rawOption } from '../output/standard-output.js';

const HELP = `
Converts SOIF into JSON lines and back. One line is one object:

  {"type":"FILE","url":"http://a.example/","attributes":[{"name":"Title","value":"Hello"},{"name":"Icon","base64":"AP8="}]}

Values that are not UTF-8 are in "base64", such a URL in "urlBase64". Objects of @DELETE and @REFRESH groups have
"section":"delete" or "refresh"; the conversion back writes these groups again. Objects in the exact layout of SOIF writers
are restored byte for byte.

Examples:
  harvest soif convert --to jsonl objects.soif | grep -v '"type":"GATHERER"' | harvest soif convert --to soif
  harvest gather localhost | harvest soif convert --to jsonl

Exit status: 0 done; 1 something could not be read (with the number of the JSON line); 2 usage.
`;

/** `harvest soif convert`: SOIF to JSON lines and back. */
export function convertCommand(): Command {
  return new Command('convert')
    .summary('convert SOIF into JSON lines and back')
    .argument('[file]', 'SOIF, plain or gzip, or JSON lines; - is standard input', STANDARD_INPUT)
    .addOption(new Option('--to <format>', 'output format').choices(['jsonl', 'soif']).makeOptionMandatory())
    .option('--max-object <bytes>', 'skip objects larger than this (default: 64 MiB)', objectBytesOption)
    .addOption(rawOption())
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/convert.js')).convertSoif));
}
