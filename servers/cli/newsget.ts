import { Command } from 'commander';
import { UsageError } from '../../protocols/errors.js';
import { retrieve } from './retrieve.js';

const HELP = `
Retrieves an article, a group's summary or the list of groups from a news server and writes it to LOCALFILE (- is standard output). The
server is the one in the URL, else $NNTPSERVER, else the host "news". A group's summary has one line an article: number, subject,
author, date, message-id, references, bytes, lines, with tabs between.

Examples:
  newsget group.txt news:comp.lang.c                        a group's summary
  newsget article.txt 'news:1994Nov6.084937@example.org'    an article by its message-id
  newsget - nntp://news.example.org/comp.lang.c/1234        an article by its number at that server
  newsget - 'news:comp.lang.*'                              the groups whose names fit

Exit status: 0 retrieved; 1 refused, not found or cut off; 2 usage; 3 no connection, or the server fell silent.
`;

/** `newsget.pl localfile news-URL` (G-89). */
export function newsgetCommand(): Command {
  return new Command('newsget')
    .description('Retrieves articles and group summaries by NNTP.')
    .argument('<localfile>', 'where to write it; - is standard output')
    .argument('<url>', 'news: or nntp:')
    .option('--json', 'print what is known about the answer as one JSON line', false)
    .addHelpText('after', HELP)
    .action(async (file: string, url: string, options: { json: boolean }) => {
      if (!/^(?:news|nntp):/i.test(url)) throw new UsageError(`newsget: ${url} is not a news: or nntp: URL`);
      process.exitCode = await retrieve({ command: 'newsget', url, file, json: options.json });
    });
}
