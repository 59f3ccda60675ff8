import { Command } from 'commander';
import { dumpCommand } from './links-dump.js';
import { loadCommand } from './links-load.js';

const HELP = `
The link graph records which document links to which. load builds one from documents and links and publishes it in the data directory DATA as
a new generation. A references server that serves DATA switches to it immediately; a load that fails or is killed changes
nothing. dump writes the graph as text.

Examples:
  harvest links load --documents documents.jsonl --refs links.txt --data DATA
  harvest links dump --refs --format pairs --data DATA
  harvest links load --help                        details about files and formats
`;

/** `harvest links load | dump`. */
export function linksCommand(): Command {
  return new Command('links')
    .description('Loads and dumps the published link graph.')
    .addCommand(loadCommand())
    .addCommand(dumpCommand())
    .addHelpText('after', HELP);
}
