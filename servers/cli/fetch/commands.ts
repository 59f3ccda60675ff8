import { Argument, Command } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { countOption, portOption, timeoutOption } from '../options/option-values.js';
import { rawOption } from '../output/standard-output.js';

/** The commands of this file by name. */
export const DEFINITIONS = { urlget, urlpurge, ftpget, gopherget, newsget };

const URLGET_HELP = `
Fetches one document by http, https, ftp, gopher, news, nntp or file and writes it to standard
output. Up to five redirects are followed, but never to local files, and never from a public host to
a private address. A directory is written as the URLs in it, one per line. Recently fetched
documents come from the disk cache, which is shared with the Gatherer; urlpurge empties it.

The cache is below $TMPDIR or /tmp. GATHERER_CACHE_TTL is the lifetime of documents in seconds (at
most 7 days), HARVEST_MAX_LOCAL_CACHE the maximum size: values up to 65535 are megabytes, others
bytes (default: 32 megabytes). The server of a news: URL without a host is $NNTPSERVER, or the host
"news".

Examples:
  urlget http://www.example.org/ > page.html
  urlget --json ftp://ftp.example.org/pub/ | jq -r '.links[]'
                                           the contents of a directory
  urlget --json -o paper.ps ftp://ftp.example.org/pub/paper.ps
                                           the document into a file, its metadata as JSON
  urlget gopher://gopher.example.org/1/ | cut -f 1
                                           a menu
  urlget news:comp.lang.c                  the overview of a group
  urlget - < FILE                          a URL with a login, which other users could see on the
                                           command line

Exit status: 0 fetched; 1 refused, not found or truncated; 2 usage; 3 no connection, or no answer in
time.
`;

/** `urlget URL` (G-89). */
function urlget(): Command {
  return new Command('urlget')
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
    .addHelpText('after', URLGET_HELP)
    .action(lazyAction(async () => (await import('./actions/fetch.js')).urlget));
}

const PURGE_HELP = `
The disk cache keeps documents that urlget and the Gatherer fetched, for at most 7 days
(GATHERER_CACHE_TTL shortens this). Empty it if it hides changes to documents. Only the cache's own
files are removed; other programs may use the cache meanwhile.

Examples:
  urlpurge
  urlpurge --expired                                  only entries that are too old
  urlpurge --cache gatherers/sample/tmp/cache         the cache of a Gatherer

Exit status: 0 done; 1 the directory cannot be used; 2 usage.
`;

/** `urlpurge` (G-89). */
function urlpurge(): Command {
  return new Command('urlpurge')
    .option('--cache <directory>', 'the cache (default: the one of urlget)')
    .option('--expired', 'remove only entries that are too old', false)
    .option('--json', 'print the numbers as one JSON line', false)
    .addHelpText('after', PURGE_HELP)
    .action(lazyAction(async () => (await import('./actions/fetch.js')).urlpurge));
}

const FTPGET_HELP = `
Fetches a file or a directory listing by FTP and writes it to LOCALFILE (- is standard output). Type
A lets the server convert line ends, I transfers the file unchanged. FILENAME is relative to the
login directory unless it begins with a slash; a FILENAME that ends in a slash must be a directory.
-htmlify writes a directory as an HTML page of links.

Examples:
  ftpget paper.ps ftp.example.org pub/paper.ps I anonymous me@example.org
  ftpget -htmlify pub.html ftp.example.org pub/ I
  ftpget --password-file ~/.ftp - ftp.example.org:2121 README A joe

Other users can see a PASSWORD on the command line; --password-file and $HARVEST_FTP_PASSWORD hide
it.

Exit status: 0 fetched; 1 refused, not found or truncated; 2 usage; 3 no connection, or no answer in
time.
`;

/** `ftpget [-htmlify] localfile hostname filename A,I username password` (G-89). */
function ftpget(): Command {
  return new Command('ftpget')
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
    .addHelpText('after', FTPGET_HELP)
    .action(lazyAction(async () => (await import('./actions/fetch.js')).ftpget));
}

const GOPHERGET_HELP = `
Sends COMMAND, a Gopher selector, to a Gopher server and writes the raw answer to LOCALFILE (- is
standard output). An empty COMMAND requests the top menu; the words of a search follow after a tab.
(urlget understands gopher: URLs.)

Examples:
  gopherget menu.txt gopher.example.org 70 ''
  gopherget - gopher.example.org 70 /about.txt
  gopherget - gopher.example.org 70 "$(printf '/search\\twheat')"

Exit status: 0 fetched; 1 refused, not found or truncated; 2 usage; 3 no connection, or no answer in
time.
`;

/** `gopherget.pl localfile hostname port command` (G-89). */
function gopherget(): Command {
  return new Command('gopherget')
    .argument('<localfile>', 'file to write; - is standard output')
    .argument('<hostname>', 'the server')
    .argument('<port>', 'its TCP port', portOption)
    .argument('<command>', 'the selector')
    .option('--json', 'print metadata of the answer as one JSON line', false)
    .addOption(rawOption())
    .addHelpText('after', GOPHERGET_HELP)
    .action(lazyAction(async () => (await import('./actions/fetch.js')).gopherget));
}

const NEWSGET_HELP = `
Fetches an article, the summary of a group or the list of groups from a news server and writes it to
LOCALFILE (- is standard output). The server is that of the URL, else $NNTPSERVER, else the host
"news". The summary of a group has one line per article: number, subject, author, date, message-id,
references, bytes, lines, separated by tabs.

Examples:
  newsget group.txt news:comp.lang.c                        a group's summary
  newsget article.txt 'news:1994Nov6.084937@example.org'    an article by its message-id
  newsget - nntp://news.example.org/comp.lang.c/1234        an article by its number at that server
  newsget - 'news:comp.lang.*'                              the groups whose names match

Exit status: 0 fetched; 1 refused, not found or truncated; 2 usage; 3 no connection, or no answer in
time.
`;

/** `newsget.pl localfile news-URL` (G-89). */
function newsget(): Command {
  return new Command('newsget')
    .argument('<localfile>', 'file to write; - is standard output')
    .argument('<url>', 'news: or nntp:')
    .option('--json', 'print metadata of the answer as one JSON line', false)
    .addOption(rawOption())
    .addHelpText('after', NEWSGET_HELP)
    .action(lazyAction(async () => (await import('./actions/fetch.js')).newsget));
}
