import { Command } from 'commander';
import { UsageError } from '../../../protocols/errors.js';
import { portOption } from '../options/option-values.js';
import { rawOption } from '../output/standard-output.js';

const HELP = `
Sends COMMAND, a Gopher selector, to a Gopher server and writes the raw answer to LOCALFILE (- is standard output). An empty
COMMAND requests the top menu; the words of a search follow after a tab. (urlget understands gopher: URLs.)

Examples:
  gopherget menu.txt gopher.example.org 70 ''
  gopherget - gopher.example.org 70 /about.txt
  gopherget - gopher.example.org 70 "$(printf '/search\\twheat')"

Exit status: 0 fetched; 1 refused, not found or truncated; 2 usage; 3 no connection, or no answer in time.
`;

/** `gopherget.pl localfile hostname port command` (G-89). */
export function gophergetCommand(): Command {
  return new Command('gopherget')
    .description('Fetches a document or a menu by Gopher.')
    .argument('<localfile>', 'file to write; - is standard output')
    .argument('<hostname>', 'the server')
    .argument('<port>', 'its TCP port', portOption)
    .argument('<command>', 'the selector')
    .option('--json', 'print metadata of the answer as one JSON line', false)
    .addOption(rawOption())
    .addHelpText('after', HELP)
    .action(
      async (
        file: string,
        host: string,
        port: number,
        selector: string,
        options: { json: boolean; raw: boolean },
      ) => {
        if (!/^(\[[0-9a-f:.]+\]|[^:/?@]+)$/i.test(host))
          throw new UsageError(`gopherget: ${host} is not a host name`);
        const { retrieve } = await import('./retrieve.js');
        process.exitCode = await retrieve({
          command: 'gopherget',
          // Type 9 is binary, so the answer stays unchanged. Slashes are escaped too: a selector is not a path.
          url: `gopher://${host}:${port}/9${encodeURIComponent(selector)}`,
          file,
          json: options.json,
          raw: options.raw,
        });
      },
    );
}
