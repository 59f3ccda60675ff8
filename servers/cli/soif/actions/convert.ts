import { SECTION_CLOSE, SECTION_OPEN, type SectionName } from '../../../../protocols/soif/index.js';
import { EXIT } from '../../output/exit.js';
import { OUTPUT_BUFFER_BYTES, StandardOutput } from '../../output/standard-output.js';
import { openFile } from '../files.js';
import { ObjectReader } from '../reader.js';
import { jsonWriter } from '../write-objects.js';

interface ConvertOptions {
  readonly to: 'jsonl' | 'soif';
  readonly maxObject?: number;
  readonly raw: boolean;
}

/** The action of `harvest soif convert`. */
export async function convertSoif(file: string, options: ConvertOptions): Promise<number> {
  return options.to === 'jsonl' ? await toJson(file, options) : await toSoif(file, options);
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
  const { readJsonLines } = await import('../../../../clients/soif-tools/json-lines.js');
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
