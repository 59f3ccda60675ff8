import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { countOption, timeoutOption } from '../options/option-values.js';
import { rawOption } from '../output/standard-output.js';

const HELP = `
Fetches one document by http, https, ftp, gopher, news, nntp or file and writes it to standard output. Up to five redirects
are followed, but never to local files, and never from a public host to a private address. A directory is written as the
URLs in it, one per line. Recently fetched documents come from the disk cache, which is shared with the Gatherer; urlpurge
empties it.

The cache is below $TMPDIR or /tmp. GATHERER_CACHE_TTL is the lifetime of documents in seconds (at most 7 days),
HARVEST_MAX_LOCAL_CACHE the maximum size: values up to 65535 are megabytes, others bytes (default: 32 megabytes).
The server of a news: URL without a host is $NNTPSERVER, or the host "news".

Examples:
  urlget http://www.example.org/ > page.html
  urlget --json ftp://ftp.example.org/pub/ | jq -r '.links[]'     the contents of a directory
  urlget --json -o paper.ps ftp://ftp.example.org/pub/paper.ps    the document into a file, its metadata as JSON
  urlget gopher://gopher.example.org/1/ | cut -f 1                a menu
  urlget news:comp.lang.c                                         the overview of a group
  urlget - < FILE                                                 a URL with a login, which the command line shows to other users

Exit status: 0 fetched; 1 refused, not found or truncated; 2 usage; 3 no connection, or no answer in time.
`;

/** `urlget URL` (G-89). */
export function urlgetCommand(): Command {
  return new Command('urlget')
    .description('Fetches one document by any access method.')
    .argument('<url>', 'http, https, ftp, gopher, news, nntp or file; - is the first line of standard input')
    .option('-o, --output <file>', 'write the document to this file')
    .option('--json', 'print metadata of the document as one JSON line', false)
    .option('--reload', 'fetch the document even if the cache has it', false)
    .option('--cache <directory>', 'the disk cache (default: one for each user below $TMPDIR or /tmp)')
    .option('--no-cache', 'neither read nor write a cache')
    .option('--max-bytes <count>', 'truncate longer documents', countOption, 10 * 1024 * 1024)
    .option('--timeout <seconds>', 'give up after this time without data', timeoutOption, 120)
    .option('--proxy <host:port>', 'HTTP proxy for http, https and ftp')
    .addOption(rawOption())
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/urlget.js')).urlget));
}

const PURGE_HELP = `
The disk cache keeps documents that urlget and the Gatherer fetched, for at most 7 days (GATHERER_CACHE_TTL shortens this).
Empty it if it hides changes to documents. Only the cache's own files are removed; other programs may use the cache
meanwhile.

Examples:
  urlpurge
  urlpurge --expired                                  only entries that are too old
  urlpurge --cache gatherers/sample/tmp/cache         the cache of a Gatherer

Exit status: 0 done; 1 the directory cannot be used; 2 usage.
`;

/** `urlpurge` (G-89). */
export function urlpurgeCommand(): Command {
  return new Command('urlpurge')
    .description('Empties the disk cache of urlget and the Gatherer.')
    .option('--cache <directory>', 'the cache (default: the one of urlget)')
    .option('--expired', 'remove only entries that are too old', false)
    .option('--json', 'print the numbers as one JSON line', false)
    .addHelpText('after', PURGE_HELP)
    .action(lazyAction(async () => (await import('./actions/urlpurge.js')).urlpurge));
}
