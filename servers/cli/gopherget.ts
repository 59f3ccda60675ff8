import { Command } from 'commander';
import { UsageError } from '../../protocols/errors.js';
import { portOption } from './option-values.js';
import { retrieve } from './retrieve.js';

const HELP = `
Sends COMMAND, a Gopher selector, to a Gopher server and writes the answer as it comes to LOCALFILE (- is standard output). An
empty COMMAND is the server's top menu; behind a tab follow the words of a search. (urlget understands gopher: URLs.)

Examples:
  gopherget menu.txt gopher.example.org 70 ''
  gopherget - gopher.example.org 70 /about.txt
  gopherget - gopher.example.org 70 "$(printf '/search\\twheat')"

Exit status: 0 retrieved; 1 refused, not found or cut off; 2 usage; 3 no connection, or the server fell silent.
`;

/** `gopherget.pl localfile hostname port command` (G-89). */
export function gophergetCommand(): Command {
  return new Command('gopherget')
    .description('Retrieves a document or a menu by Gopher.')
    .argument('<localfile>', 'where to write it; - is standard output')
    .argument('<hostname>', 'the server')
    .argument('<port>', 'its TCP port', portOption)
    .argument('<command>', 'the selector')
    .option('--json', 'print what is known about the answer as one JSON line', false)
    .addHelpText('after', HELP)
    .action(
      async (file: string, host: string, port: number, selector: string, options: { json: boolean }) => {
        if (!/^(\[[0-9a-f:.]+\]|[^:/?@]+)$/i.test(host))
          throw new UsageError(`gopherget: ${host} is no host`);
        process.exitCode = await retrieve({
          command: 'gopherget',
          // Type 9 is taken as it comes. Slashes are escaped too: a selector is no path.
          url: `gopher://${host}:${port}/9${encodeURIComponent(selector)}`,
          file,
          json: options.json,
        });
      },
    );
}
