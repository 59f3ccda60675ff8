import { Command } from 'commander';
import { dumpCommand } from './links/dump.js';
import { loadCommand } from './links/load.js';

const HELP = `
The link graph answers who links to whom. load makes one of documents and links and publishes it in the data directory DATA, as
a generation of its own: a references server that serves DATA goes over to it at once, and a load that fails or is killed
leaves what was there. dump writes it back.

Examples:
  harvest links load --documents documents.jsonl --refs links.txt --data DATA
  harvest links dump --refs --format pairs --data DATA
  harvest help links load                        more about files and formats
`;

/** `harvest links load | dump`. */
export function linksCommand(): Command {
  return new Command('links')
    .summary('load documents and links into a published link graph, write them back')
    .description('Loads and dumps the published link graph.')
    .addCommand(loadCommand())
    .addCommand(dumpCommand())
    .addHelpText('after', HELP);
}
