import { Command, Option } from 'commander';
import { EXIT_HELP } from '../db/exit-help.js';
import { lazyAction } from '../lazy-action.js';
import { countOption } from '../options/option-values.js';

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

const LOAD_HELP = `
Documents are lines of JSON:
  {"id":10,"url":"http://a.example/","time":1000000100,"checktime":1000001000,"length":1000}
time and checktime are seconds since 1970-01-01 UTC, length is bytes; all three are optional. URLs are made canonical. "server"
may give the ID of the server; otherwise servers (host and port) are numbered in order of appearance.

Links are either lines of two document IDs, the linking one first,
  10 20
or the output of Berkeley DB's db_dump for refdb, with or without -p; the first line determines the format. A Berkeley DB file itself is
read through db_dump, if that is installed (Debian: db-util or db5.3-util); one of an older version is upgraded as a copy. Answers keep their order. A
repeated pair is skipped and counted. --hubs takes the dump of the reverse database to keep its order too; it must contain the
same pairs. A link may begin or end at an ID without a document.

FILE may be - for standard input; a file whose name ends in .gz is decompressed.

Examples:
  harvest links load --documents documents.jsonl --refs links.txt --data DATA
  db_dump refs.db | harvest links load --documents documents.jsonl.gz --refs - --data DATA
  harvest links load --documents d.jsonl --refs refs.dump --hubs hubs.dump --byte-order big --data DATA
${EXIT_HELP.replace('the database', 'what was published')}`;
const DEFAULT_MEMORY = 256;

/** `harvest links load`. */
function loadCommand(): Command {
  return new Command('load')
    .summary('build a link graph from files and publish it')
    .description('Builds a link graph from documents and links and publishes it.')
    .option('--documents <file>', 'documents, one JSON object per line')
    .requiredOption('--refs <file>', 'links: pairs of IDs, or the text of db_dump')
    .option('--hubs <file>', 'the reverse links, to keep their order')
    .requiredOption('--data <dir>', 'the data directory')
    .addOption(
      new Option('--byte-order <order>', 'byte order of the IDs in a dump of db_dump')
        .choices(['little', 'big'])
        .default('little'),
    )
    .option('--memory <mib>', 'memory for sorting, MiB', countOption, DEFAULT_MEMORY)
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', LOAD_HELP)
    .action(lazyAction(async () => (await import('./actions/links-load.js')).loadLinks));
}

const DUMP_HELP = `
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
function dumpCommand(): Command {
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
    .addHelpText('after', DUMP_HELP)
    .action(lazyAction(async () => (await import('./actions/links-dump.js')).printGraph));
}
