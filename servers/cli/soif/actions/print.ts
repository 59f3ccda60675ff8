import type { StreamObject } from '../../../../clients/soif-tools/objects.js';
import {
  attributeOf,
  bytesOfUrl,
  encodeSoif,
  rangeOf,
  rewriteLarge,
  type SoifBytes,
  urlProblem,
} from '../../../../protocols/soif/index.js';
import { EXIT } from '../../output/exit.js';
import { OUTPUT_BUFFER_BYTES, StandardOutput } from '../../output/standard-output.js';
import { filesOf } from '../files.js';
import { ObjectReader } from '../reader.js';
import { writeBytes } from '../write-objects.js';

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
