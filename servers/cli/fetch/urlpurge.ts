import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';

const HELP = `
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
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/urlpurge.js')).urlpurge));
}
