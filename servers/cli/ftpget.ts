import { Argument, Command } from 'commander';
import { entryUrl, type FetchResult } from '../../clients/fetch/index.js';
import { UsageError } from '../../protocols/errors.js';
import { readFirstLine } from './hidden-answer.js';
import { documentOf, retrieve } from './retrieve.js';
import { rawOption } from './standard-output.js';

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

/** Environment variable that may contain the password. */
const PASSWORD_VARIABLE = 'HARVEST_FTP_PASSWORD';

interface FtpgetOptions {
  readonly passwordFile?: string;
  readonly raw: boolean;
  readonly htmlify: boolean;
  readonly json: boolean;
}

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
    .action(
      async (
        file: string,
        server: string,
        name: string,
        type: string,
        user: string,
        given: string | undefined,
        options: FtpgetOptions,
      ) => {
        const [, host, port] = /^(\[[0-9a-f:.]+\]|[^:/?@]+)(?::(\d{1,5}))?$/i.exec(server) ?? [];
        if (host === undefined) throw new UsageError(`ftpget: ${server} is not HOST or HOST:PORT`);
        const password = await passwordOf(given, options);
        const escaped = name.replace(/^\/+/, '%2F').split('/').map(escapeOnce).join('/');
        process.exitCode = await retrieve({
          command: 'ftpget',
          url: `ftp://${host}${port === undefined ? '' : `:${port}`}/${escaped}${type === 'A' ? ';type=a' : ''}`,
          fetcher: { ftpAuth: [{ host: host.replace(/^\[|\]$/g, ''), ...portOf(port), user, password }] },
          file,
          json: options.json,
          raw: options.raw,
          render: options.htmlify ? htmlOf : documentOf,
        });
      },
    );
}

async function passwordOf(given: string | undefined, { passwordFile }: FtpgetOptions): Promise<string> {
  if (given !== undefined && passwordFile !== undefined)
    throw new UsageError('ftpget: the password and --password-file are mutually exclusive');
  if (passwordFile !== undefined) return readFirstLine(passwordFile);
  return given ?? process.env[PASSWORD_VARIABLE] ?? 'harvest@';
}

function portOf(port: string | undefined): { readonly port?: number } {
  return port === undefined ? {} : { port: Number(port) };
}

function escapeOnce(segment: string): string {
  const [, slash = '', rest = ''] = /^(%2F)?(.*)$/s.exec(segment)!;
  return slash + encodeURIComponent(rest);
}

function htmlOf(result: FetchResult): Uint8Array {
  if (result.entries === undefined) return result.body;
  const title = `Directory ${escapeHtml(result.url)}`;
  const items = result.entries.map(
    (entry) => `<li><a href="${escapeHtml(entryUrl(result.url, entry))}">${escapeHtml(entry)}</a></li>\n`,
  );
  return Buffer.from(
    `<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>${title}</title></head>\n<body><h1>${title}</h1>\n` +
      `<ul>\n${items.join('')}</ul>\n</body></html>\n`,
  );
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
