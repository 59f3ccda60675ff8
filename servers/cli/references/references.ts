import { Command, InvalidArgumentError, Option } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { longFlag, peerAddress, timeoutOption } from '../options/option-values.js';

/** The command of this file by name. */
export const DEFINITIONS = { references };

const HELP = `
Asks a References Server (refererd) over SSTP who links to whom. WHAT is a document, given by URL or
ID. With --site-to and --site-from it is a site, given by any URL of it, HOST, HOST:PORT, or the ID
of a server. Links inside a site do not count; a.example:80 and a.example:81 are different sites.

The answer is the URLs of documents, one per line, in the order of the server; their number goes to
standard error. The protocol itself knows only their IDs: the URLs are read over HTTP from the same
port. A server without such pages, as those of others, gives IDs, and so do --ids and --json.
Without --count the first 1000 URLs are printed; a server limits the IDs of one answer, usually to
10000. --all prints all of them.

Examples:
  harvest references localhost http://a.example/           who links to this page
  harvest references --from localhost 10                   the documents that document 10 links to
  harvest references --site-to localhost:3324 a.example    who links to the site a.example, port 80
  harvest references --start 100 --count 50 localhost 10   the 101st to the 150th
  harvest references --count 0 localhost 10                only their number
  harvest references --all --json localhost 10 | jq .ids[]
                                                           all IDs, one JSON object per page
  harvest references --ids localhost http://a.example/     IDs instead of URLs
  harvest references --describe localhost http://a.example:81/
                                                           the server's record of the URL

With --all all IDs are of the same data: if the server publishes other links meanwhile, the reading
begins again. With --json a page is one line with known, found, start and ids; known is false if the
server has no such document. With --json --urls it has found, start and results, each with id and
url, which is null if the server does not know it.

Exit status: 0 something was found; 1 nothing; 2 usage; 3 the server cannot be reached, refused or
failed.
`;

/** `harvest references [options] HOST[:PORT] URL|ID`: asks a References Server. */
function references(): Command {
  const choice = (flag: string, text: string) =>
    new Option(flag, text).conflicts(
      ['to', 'from', 'siteTo', 'siteFrom', 'describe'].filter((name) => flag !== longFlag(name)),
    );
  return new Command('references')
    .argument('<server>', 'host of refererd: HOST or HOST:PORT (default port 3324)', peerAddress)
    .argument('<what>', 'URL or ID of a document; of a site with --site-to and --site-from')
    .addOption(choice('--to', 'who links to the document (default)'))
    .addOption(choice('--from', 'the documents that the document links to'))
    .addOption(choice('--site-to', 'who links to the site from outside'))
    .addOption(choice('--site-from', 'the documents outside that the site links to'))
    .addOption(choice('--describe', "the server's record of the URL: IDs, times, length"))
    .option('--start <number>', 'position of the first result, from 0', u32Option)
    .addOption(
      new Option('--count <number>', 'number of results; 0 = only count them')
        .argParser(u32Option)
        .conflicts('all'),
    )
    .option('--all', 'all results, page by page', false)
    .addOption(new Option('--ids', 'print IDs instead of URLs').default(false).conflicts('urls'))
    .option('--urls', 'print URLs or nothing (default: IDs if the server does not give URLs)', false)
    .option('--json', 'print one JSON object per page', false)
    .option('--timeout <seconds>', 'maximum time to wait for the server', timeoutOption, 60)
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/references.js')).run));
}

/** A number of 32 bits (S-34). */
function u32Option(value: string): number {
  if (!/^\d{1,10}$/.test(value) || Number(value) > 0xffff_ffff)
    throw new InvalidArgumentError('must be a whole number up to 4294967295');
  return Number(value);
}
