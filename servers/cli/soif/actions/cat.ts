import { exactBytes, type StreamObject } from '../../../../clients/soif-tools/objects.js';
import { ProtocolError, UsageError } from '../../../../protocols/errors.js';
import type { Pattern } from '../../../../protocols/patterns/index.js';
import type { SectionName } from '../../../../protocols/soif/index.js';
import { EXIT } from '../../output/exit.js';
import { OUTPUT_BUFFER_BYTES, StandardOutput } from '../../output/standard-output.js';
import { filesOf } from '../files.js';
import { ObjectReader } from '../reader.js';
import { jsonWriter, writeBytes } from '../write-objects.js';

interface CatOptions {
  readonly json: boolean;
  readonly type?: string;
  readonly url?: string;
  readonly section?: SectionName;
  readonly maxObject?: number;
  readonly raw: boolean;
}

/** The action of `harvest soif cat`; returns the exit status. */
export async function cat(files: readonly string[], options: CatOptions): Promise<number> {
  const isSelected = await createSelection(options);
  await using output = new StandardOutput({ bufferBytes: OUTPUT_BUFFER_BYTES, raw: options.raw });
  const reader = new ObjectReader('cat', options.maxObject);
  const writeJson = options.json ? await jsonWriter(output) : undefined;
  for await (const item of reader.objects(filesOf(files))) {
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
  const { compilePattern } = await import('../../../../protocols/patterns/index.js');
  try {
    return compilePattern(source);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    throw new UsageError(`--url: the expression ${error.message}`);
  }
}
