import { Command, Option } from 'commander';
import { STANDARD_INPUT } from '../../../clients/soif-tools/input.js';
import { SECTION_CLOSE, SECTION_OPEN, type SectionName } from '../../../protocols/soif/index.js';
import { EXIT } from '../exit.js';
import { objectBytesOption } from '../option-values.js';
import { OUTPUT_BUFFER_BYTES, rawOption, StandardOutput } from '../standard-output.js';
import { openFile } from './files.js';
import { ObjectReader } from './reader.js';
import { jsonWriter } from './write-objects.js';

const HELP = `
Converts SOIF into JSON lines and back. One line is one object:

  {"type":"FILE","url":"http://a.example/","attributes":[{"name":"Title","value":"Hello"},{"name":"Icon","base64":"AP8="}]}

Values that are not UTF-8 are in "base64", such a URL in "urlBase64". Objects of @DELETE and @REFRESH groups have
"section":"delete" or "refresh"; the conversion back writes these groups again. Objects in the exact layout of SOIF writers
are restored byte for byte.

Examples:
  harvest soif convert --to jsonl objects.soif | grep -v '"type":"GATHERER"' | harvest soif convert --to soif
  harvest gather localhost | harvest soif convert --to jsonl

Exit status: 0 done; 1 something could not be read (with the number of the JSON line); 2 usage.
`;

interface ConvertOptions {
  readonly to: 'jsonl' | 'soif';
  readonly maxObject?: number;
  readonly raw: boolean;
}

/** `harvest soif convert`: SOIF to JSON lines and back. */
export function convertCommand(): Command {
  return new Command('convert')
    .summary('convert SOIF into JSON lines and back')
    .argument('[file]', 'SOIF, plain or gzip, or JSON lines; - is standard input', STANDARD_INPUT)
    .addOption(new Option('--to <format>', 'output format').choices(['jsonl', 'soif']).makeOptionMandatory())
    .option('--max-object <bytes>', 'skip objects larger than this (default: 64 MiB)', objectBytesOption)
    .addOption(rawOption())
    .addHelpText('after', HELP)
    .action(async (file: string, options: ConvertOptions) => {
      process.exitCode = options.to === 'jsonl' ? await toJson(file, options) : await toSoif(file, options);
    });
}

async function toJson(file: string, { maxObject, raw }: ConvertOptions): Promise<number> {
  await using output = new StandardOutput({ bufferBytes: OUTPUT_BUFFER_BYTES, raw });
  const writeJson = await jsonWriter(output);
  const reader = new ObjectReader('convert', maxObject);
  for await (const item of reader.objects([file])) {
    if (!(await writeJson(item))) return EXIT.ok;
  }
  return reader.incomplete ? EXIT.failure : EXIT.ok;
}

async function toSoif(file: string, { maxObject, raw }: ConvertOptions): Promise<number> {
  const { readJsonLines } = await import('../../../clients/soif-tools/json-lines.js');
  await using output = new StandardOutput({ bufferBytes: OUTPUT_BUFFER_BYTES, raw });
  // Objects of no group count as updates (SOIF-8.9), so only the other groups are written.
  let open: SectionName = 'update';
  const enter = async (section: SectionName): Promise<void> => {
    if (section === open) return;
    if (open !== 'update') await output.write(SECTION_CLOSE);
    if (section !== 'update') await output.write(SECTION_OPEN[section]);
    open = section;
  };
  const limits = maxObject === undefined ? {} : { maxLineBytes: maxObject };
  try {
    for await (const { bytes, section } of readJsonLines(openFile(file), limits)) {
      await enter(section);
      if (!(await output.write(bytes))) return EXIT.ok;
    }
  } finally {
    // After a wrong line too, so that the output before it is complete.
    await enter('update');
  }
  return EXIT.ok;
}
