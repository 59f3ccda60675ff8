import { exactBytes, type StreamObject } from '../../../../clients/soif-tools/objects.js';
import { ProtocolError, UsageError } from '../../../../protocols/errors.js';
import type { Pattern } from '../../../../protocols/patterns/index.js';
import {
  attributeOf,
  bytesOfUrl,
  encodeSoif,
  rangeOf,
  rewriteLarge,
  SECTION_CLOSE,
  SECTION_OPEN,
  type SectionName,
  type SoifBytes,
  urlProblem,
} from '../../../../protocols/soif/index.js';
import { EXIT } from '../../output/exit.js';
import { OUTPUT_BUFFER_BYTES, StandardOutput } from '../../output/standard-output.js';
import { filesOf, openFile } from '../files.js';
import { jsonWriter, ObjectReader, writeBytes } from '../reader.js';

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

interface RawOptions {
  readonly raw: boolean;
}

type Piece = string | SoifBytes;

/** The action of `harvest print-attr`. */
export async function printAttr(attribute: string, files: string[], { raw }: RawOptions): Promise<number> {
  return await print('print-attr', files, raw, ({ object, large }) => {
    if (large !== undefined) {
      const found = attributeOf(large.outline, attribute);
      return found === undefined ? [] : [rangeOf(large.source, found.start, found.end), '\n'];
    }
    const value = object.get(attribute);
    return value === undefined ? [] : [value, '\n'];
  });
}

/** The action of `harvest print-template`. */
export async function printTemplate(
  files: string[],
  { printTime, raw }: RawOptions & { readonly printTime: boolean },
): Promise<number> {
  return await print('print-template', files, raw, ({ object, offset, large }, reader) => {
    const message = urlProblem(object.urlBytes, object.type);
    if (message !== undefined) {
      reader.leaveOut({ kind: 'warning', rule: 'SOIF-2.9', offset, message });
      return [];
    }
    const now = String(Math.floor(Date.now() / 1000));
    const added = printTime ? ([['Print-Time', now]] as const) : [];
    if (large !== undefined) return [rewriteLarge(large.source, large.outline, added)];
    return [encodeSoif(printTime ? object.with(added) : object)];
  });
}

/** The action of `harvest print-urlrefs`. */
export async function printUrlrefs(files: string[], { raw }: RawOptions): Promise<number> {
  const { urlReferences, largeUrlReferences } = await import('../../../../clients/soif-tools/index.js');
  return await print('print-urlrefs', files, raw, ({ object, large }) =>
    bytesOfLines(large === undefined ? urlReferences(object) : largeUrlReferences(large)),
  );
}

/** The lines of URLs with one character a byte. */
async function* bytesOfLines(
  urls: Iterable<string> | AsyncIterable<string>,
): AsyncGenerator<string | Uint8Array> {
  for await (const url of urls) yield* [bytesOfUrl(url), '\n'];
}

/** Prints the result of `render` for each object; returns the exit status. */
async function print(
  command: string,
  files: readonly string[],
  raw: boolean,
  render: (item: StreamObject, reader: ObjectReader) => Iterable<Piece> | AsyncIterable<Piece>,
): Promise<number> {
  await using output = new StandardOutput({ bufferBytes: OUTPUT_BUFFER_BYTES, raw });
  const reader = new ObjectReader(command);
  for await (const item of reader.objects(filesOf(files))) {
    for await (const piece of render(item, reader)) {
      const written = typeof piece === 'string' ? output.write(piece) : writeBytes(output, piece);
      if (!(await written)) return EXIT.ok;
    }
  }
  return reader.incomplete ? EXIT.failure : EXIT.ok;
}
