import { Command, Option } from 'commander';
import { EXIT_HELP } from '../db/exit-help.js';
import { lazyAction } from '../lazy-action.js';
import { countOption } from '../options/option-values.js';

const HELP = `
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
export function loadCommand(): Command {
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
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/links-load.js')).loadLinks));
}
