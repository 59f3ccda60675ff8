import { Command } from 'commander';
import { UsageError } from '../../../protocols/errors.js';
import { rawOption } from '../output/standard-output.js';

const HELP = `
Fetches an article, the summary of a group or the list of groups from a news server and writes it to LOCALFILE (- is standard
output). The server is that of the URL, else $NNTPSERVER, else the host "news". The summary of a group has one line per article:
number, subject, author, date, message-id, references, bytes, lines, separated by tabs.

Examples:
  newsget group.txt news:comp.lang.c                        a group's summary
  newsget article.txt 'news:1994Nov6.084937@example.org'    an article by its message-id
  newsget - nntp://news.example.org/comp.lang.c/1234        an article by its number at that server
  newsget - 'news:comp.lang.*'                              the groups whose names match

Exit status: 0 fetched; 1 refused, not found or truncated; 2 usage; 3 no connection, or no answer in time.
`;

/** `newsget.pl localfile news-URL` (G-89). */
export function newsgetCommand(): Command {
  return new Command('newsget')
    .description('Fetches articles and group summaries by NNTP.')
    .argument('<localfile>', 'file to write; - is standard output')
    .argument('<url>', 'news: or nntp:')
    .option('--json', 'print metadata of the answer as one JSON line', false)
    .addOption(rawOption())
    .addHelpText('after', HELP)
    .action(async (file: string, url: string, { json, raw }: { json: boolean; raw: boolean }) => {
      if (!/^(?:news|nntp):/i.test(url)) throw new UsageError(`newsget: ${url} is not a news: or nntp: URL`);
      const { retrieve } = await import('./retrieve.js');
      process.exitCode = await retrieve({ command: 'newsget', url, file, json, raw });
    });
}
