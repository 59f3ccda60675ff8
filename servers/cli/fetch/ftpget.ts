import { Argument, Command } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { rawOption } from '../output/standard-output.js';

const HELP = `
Fetches a file or a directory listing by FTP and writes it to LOCALFILE (- is standard output). Type A lets the server convert
line ends, I transfers the file unchanged. FILENAME is relative to the login directory unless it begins with a slash; a
FILENAME that ends in a slash must be a directory. -htmlify writes a directory as an HTML page of links.

Examples:
  ftpget paper.ps ftp.example.org pub/paper.ps I anonymous me@example.org
  ftpget -htmlify pub.html ftp.example.org pub/ I
  ftpget --password-file ~/.ftp - ftp.example.org:2121 README A joe

Other users can see a PASSWORD on the command line; --password-file and $HARVEST_FTP_PASSWORD hide it.

Exit status: 0 fetched; 1 refused, not found or truncated; 2 usage; 3 no connection, or no answer in time.
`;

/** `ftpget [-htmlify] localfile hostname filename A,I username password` (G-89). */
export function ftpgetCommand(): Command {
  return new Command('ftpget')
    .description('Fetches a file by FTP.')
    .argument('<localfile>', 'file to write; - is standard output')
    .argument('<hostname>', 'HOST or HOST:PORT')
    .argument('<filename>', 'path at the server')
    .addArgument(new Argument('[type]', 'A: text, I: binary').choices(['A', 'I']).default('I'))
    .argument('[username]', 'login name', 'anonymous')
    .argument('[password]', 'the password; visible in the list of processes (default: "harvest@")')
    .option('--password-file <file>', 'file whose first line is the password; - is standard input')
    .option('--htmlify', 'write a directory as an HTML page (-htmlify)', false)
    .option('--json', 'print metadata of the file as one JSON line', false)
    .addOption(rawOption())
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/ftpget.js')).ftpget));
}
