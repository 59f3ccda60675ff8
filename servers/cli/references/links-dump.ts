import { Command, Option } from 'commander';
import { EXIT_HELP } from '../db/exit-help.js';
import { lazyAction } from '../lazy-action.js';

const HELP = `
Writes the published link graph to standard output: the links (--refs, the default), the reverse links (--hubs), the documents or the
servers, one of these at a time. Keys ascend; the links of a key are in stored order. --format bytevalue is the input of
Berkeley DB's db_load, little-endian; pairs is one link per line. Documents and servers are JSON lines. load reads these
formats: documents, refs and hubs together restore the same graph with every list in its order.

Examples:
  harvest links dump --data DATA | db_load refs.db
  harvest links dump --hubs --format pairs --data DATA
  harvest links dump --documents --data DATA | gzip > documents.jsonl.gz
${EXIT_HELP.slice(0, EXIT_HELP.indexOf(' A tool'))}
`;

/** `harvest links dump`. */
export function dumpCommand(): Command {
  return new Command('dump')
    .summary('write a published link graph as text')
    .description('Writes the published link graph as text.')
    .requiredOption('--data <dir>', 'the data directory')
    .option('--refs', 'the links of each document (default)')
    .option('--hubs', 'the links to each document')
    .option('--documents', 'the documents')
    .option('--servers', 'the servers')
    .addOption(
      new Option('--format <format>', 'format of links').choices(['bytevalue', 'pairs']).default('bytevalue'),
    )
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/links-dump.js')).printGraph));
}
