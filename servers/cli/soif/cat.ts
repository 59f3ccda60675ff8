import { Command, Option } from 'commander';
import { exactBytes, type StreamObject } from '../../../clients/soif-tools/objects.js';
import { ProtocolError, UsageError } from '../../../protocols/errors.js';
import type { Pattern } from '../../../protocols/patterns/index.js';
import type { SectionName } from '../../../protocols/soif/index.js';
import { EXIT } from '../exit.js';
import { objectBytesOption } from '../option-values.js';
import { OUTPUT_BUFFER_BYTES, rawOption, StandardOutput } from '../standard-output.js';
import { filesOf } from './files.js';
import { ObjectReader } from './reader.js';
import { jsonWriter, writeBytes } from './write-objects.js';

const HELP = `
Prints the objects of SOIF files in the exact layout of SOIF writers. The @DELETE, @REFRESH and @UPDATE groups of update streams
are removed, gzip files are decompressed; - or no file is standard input. Unreadable parts are reported on standard error and
skipped.

Examples:
  harvest soif cat old.soif new.soif.gz > all.soif
  harvest soif cat --url '^http://www\\.example\\.org/' All-Templates.gz
  harvest soif cat --json objects.soif | head -1
  harvest gather localhost | harvest soif cat --section delete

Exit status: 0 all objects were read; 1 some were not; 2 usage.
`;

interface CatOptions {
  readonly json: boolean;
  readonly type?: string;
  readonly url?: string;
  readonly section?: SectionName;
  readonly maxObject?: number;
  readonly raw: boolean;
}

/** `harvest soif cat`: objects of several streams, unwrapped, in the layout of SOIF-2.2. */
export function catCommand(): Command {
  return new Command('cat')
    .summary('print the objects of SOIF files in the exact layout, or as JSON')
    .argument('[files...]', 'SOIF files, plain or gzip; - is standard input')
    .option('--json', 'print JSON lines, as `harvest soif convert --to jsonl` does', false)
    .option('--type <type>', 'only objects of this template type, e.g. FILE')
    .option('--url <pattern>', 'only objects whose URL matches this regular expression (POSIX extended)')
    .addOption(
      new Option('--section <name>', 'only objects of this group of an update stream').choices([
        'delete',
        'refresh',
        'update',
      ]),
    )
    .option('--max-object <bytes>', 'skip objects larger than this (default: 64 MiB)', objectBytesOption)
    .addOption(rawOption())
    .addHelpText('after', HELP)
    .action(async (files: string[], options: CatOptions) => {
      process.exitCode = await cat(filesOf(files), options);
    });
}

async function cat(files: readonly string[], options: CatOptions): Promise<number> {
  const isSelected = await createSelection(options);
  await using output = new StandardOutput({ bufferBytes: OUTPUT_BUFFER_BYTES, raw: options.raw });
  const reader = new ObjectReader('cat', options.maxObject);
  const writeJson = options.json ? await jsonWriter(output) : undefined;
  for await (const item of reader.objects(files)) {
    if (!isSelected(item)) continue;
    if (writeJson !== undefined) {
      if (!(await writeJson(item))) return EXIT.ok;
      continue;
    }
    const bytes = exactBytes(item, reader.leaveOut);
    if (bytes !== undefined && !(await writeBytes(output, bytes))) return EXIT.ok;
  }
  return reader.incomplete ? EXIT.failure : EXIT.ok;
}

/** Returns a test for the objects that the options select. */
async function createSelection({ type, url, section }: CatOptions): Promise<(item: StreamObject) => boolean> {
  const pattern = url === undefined ? undefined : await patternOf(url);
  const lowerType = type?.toLowerCase();
  return (item) =>
    (lowerType === undefined || item.object.type.toLowerCase() === lowerType) &&
    (section === undefined || item.section === section) &&
    (pattern === undefined || pattern.test(item.object.url));
}

/** Compiles the pattern of --url. @throws UsageError if it is not a valid regular expression */
async function patternOf(source: string): Promise<Pattern> {
  // Imported only when needed: the engine takes a while to load.
  const { compilePattern } = await import('../../../protocols/patterns/index.js');
  try {
    return compilePattern(source);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    throw new UsageError(`--url: the expression ${error.message}`);
  }
}
