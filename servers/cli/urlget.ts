import { Command } from 'commander';
import { cacheSettings, DiskCache, defaultCacheDirectory } from '../../clients/fetch/index.js';
import { countOption, timeoutOption } from './option-values.js';
import { retrieve } from './retrieve.js';

const HELP = `
Retrieves one document by http, https, ftp, gopher, news, nntp or file and writes it to standard output. Redirects are followed, up
to five, but not to files of this machine and not from a public host to a private address. A directory, listed, is the
URLs in it, one a line. What was retrieved lately comes from the disk cache, which the Gatherer's tools share; urlpurge empties it.

The cache is below $TMPDIR or /tmp. GATHERER_CACHE_TTL is how long it keeps documents, in seconds (at most 7 days),
HARVEST_MAX_LOCAL_CACHE its size: up to 65535 are megabytes, more are bytes (default: 32 megabytes).
A news: URL without a host asks $NNTPSERVER, or the host "news".

Examples:
  urlget http://www.example.org/ > page.html
  urlget --json ftp://ftp.example.org/pub/ | jq -r '.links[]'     what is in a directory
  urlget --json -o paper.ps ftp://ftp.example.org/pub/paper.ps    the document into a file, what is known about it as JSON
  urlget gopher://gopher.example.org/1/ | cut -f 1                a menu
  urlget news:comp.lang.c                                         a group's overview

Exit status: 0 retrieved; 1 refused, not found or cut off; 2 usage; 3 no connection, or the server fell silent.
`;

interface UrlgetOptions {
  readonly output?: string;
  readonly json: boolean;
  readonly reload: boolean;
  readonly cache: string | boolean;
  readonly maxBytes: number;
  readonly timeout: number;
  readonly proxy?: string;
}

/** `urlget URL` (G-89). */
export function urlgetCommand(): Command {
  return new Command('urlget')
    .description('Retrieves one document, whatever the access method.')
    .argument('<url>', 'http, https, ftp, gopher, news, nntp or file')
    .option('-o, --output <file>', 'write the document there')
    .option('--json', 'print what is known about the document as one JSON line', false)
    .option('--reload', 'ask the server even if the cache has the document', false)
    .option('--cache <directory>', 'the disk cache (default: one for each user below $TMPDIR or /tmp)')
    .option('--no-cache', 'neither read nor write a cache')
    .option('--max-bytes <count>', 'cut longer documents off', countOption, 10 * 1024 * 1024)
    .option('--timeout <seconds>', 'give up when nothing comes for so long', timeoutOption, 120)
    .option('--proxy <host:port>', 'HTTP proxy for http, https and ftp')
    .addHelpText('after', HELP)
    .action(async (url: string, options: UrlgetOptions) => {
      const directory = typeof options.cache === 'string' ? options.cache : defaultCacheDirectory();
      const cache =
        options.cache === false ? undefined : await DiskCache.open(directory, cacheSettings(process.env));
      process.exitCode = await retrieve({
        command: 'urlget',
        url,
        fetcher: { cache, httpProxy: options.proxy, ftpProxy: options.proxy },
        request: {
          maxBytes: options.maxBytes,
          timeoutMs: Math.ceil(options.timeout * 1000),
          reload: options.reload,
        },
        file: options.output,
        json: options.json,
      });
    });
}
