import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';

const HELP = `
A WACZ file is a zip file with WARC files, their index, a list of pages and digests. Programs such as ReplayWeb.page open it without a server.
Files that a crawl still writes (.open) and ARC files are left out. The WARC files stay where they are. Files in Zstandard (.zst) are packed, but many programs
cannot read them. Damaged records are named on standard error; the index has the others.

Examples:
  harvest crawl wacz warc/ --output site.wacz
  harvest crawl wacz warc/ --output site.wacz --title 'Our site, autumn 2026'

Exit status: 0 done; 1 a file cannot be read or written, or has damaged records; 2 usage, or no finished WARC files.
`;

/** `harvest crawl wacz`: packs the WARC files of a crawl (CRAWL-18.6). */
export function waczCommand(): Command {
  return new Command('wacz')
    .summary('pack the WARC files of a crawl as one WACZ file')
    .description('Packs the finished WARC files of a directory as one WACZ file.')
    .argument('<dir>', 'directory of the WARC files')
    .requiredOption('--output <file>', 'the WACZ file; an existing one is replaced')
    .option('--title <text>', 'title of the collection')
    .option('--json', 'the counts as JSON', false)
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/wacz.js')).wacz));
}
