import { statSync } from 'node:fs';
import { Command, Option } from 'commander';
import { type BuildPhase, type ByteOrder, loadReferences } from '../../../storage/references/index.js';
import { EXIT_HELP, report, runTool } from '../db/run-tool.js';
import { countOption } from '../option-values.js';
import { Progress } from '../progress.js';

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

interface LoadCommandOptions {
  readonly documents?: string;
  readonly refs: string;
  readonly hubs?: string;
  readonly data: string;
  readonly byteOrder: ByteOrder;
  readonly memory: number;
  readonly json: boolean;
}

const MEBIBYTE = 1024 * 1024;
const DEFAULT_MEMORY = 256;

/** Labels of the phases of building a link graph. */
export const PHASE_LABELS: Readonly<Record<BuildPhase, string>> = {
  documents: 'sorting documents',
  refs: 'sorting links',
  hubs: 'sorting reverse links',
  siterefs: 'links of sites',
  sitehubs: 'links to sites',
  ranks: 'numbering links',
};

/** Returns a function from a file to its size in bytes, cached; 0 for standard input, whose size is not known. */
function createSizeLookup(): (file: string) => number {
  const sizes = new Map<string, number>();
  return (file) => {
    const known = sizes.get(file);
    if (known !== undefined) return known;
    const size = file === '-' ? 0 : (statSync(file, { throwIfNoEntry: false })?.size ?? 0);
    sizes.set(file, size);
    return size;
  };
}

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
    .action(async ({ memory, json, ...files }: LoadCommandOptions) => {
      await runTool('links load', async (tool) => {
        using progress = new Progress({ format: 'links load: {bar} {percentage}%  {what}' });
        const sizeOf = createSizeLookup();
        const published = await loadReferences({
          ...files,
          memoryBytes: memory * MEBIBYTE,
          signal: tool.signal,
          onRead: (file, bytes) =>
            progress.update(bytes, Math.max(bytes, sizeOf(file)), { what: `reading ${file}` }),
          onProgress: (phase, done, total) => progress.update(done, total, { what: PHASE_LABELS[phase] }),
        });
        const { documents, servers, links, repeated, generation } = published;
        progress.clear();
        await report(tool, json, 'links load', { documents, servers, links, repeated, generation });
      });
    });
}
