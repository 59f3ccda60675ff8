import { StorageError, UsageError } from '../../protocols/errors.js';
import { berkeleyFile, dumpBerkeleyFile } from './berkeley-db.js';
import { type PublishedReferences, ReferencesBuilder, type ReferencesBuilderOptions } from './builder.js';
import { DocumentLines } from './document-lines.js';
import { readInput } from './line-input.js';
import { type ByteOrder, PairParser } from './pair-parser.js';

export interface LoadOptions extends ReferencesBuilderOptions {
  /** The data directory. */
  readonly data: string;
  /**
   * The file of documents, in the format of {@link DocumentLines}. In all three names `-` is standard input;
   * `.gz` files are decompressed.
   */
  readonly documents?: string | undefined;
  /**
   * The file of links, in a format of {@link PairParser}, or a Berkeley DB file, which its own `db_dump` reads
   * (R-8).
   */
  readonly refs: string;
  /**
   * The file of the reverse database, whose order is kept. It must hold the pairs of `refs` reversed.
   */
  readonly hubs?: string | undefined;
  readonly byteOrder?: ByteOrder | undefined;
  /** Called with the number of bytes read so far from a file. */
  readonly onRead?: ((file: string, bytes: number) => void) | undefined;
}

/**
 * Builds a references generation from files and publishes it.
 *
 * @throws StorageError if a file cannot be read or is malformed, or the disk fails
 * @throws UsageError if more than one file is standard input
 */
export async function loadReferences(options: LoadOptions): Promise<PublishedReferences> {
  const { documents, refs, hubs, byteOrder, signal } = options;
  if ([documents, refs, hubs].filter((file) => file === '-').length > 1)
    throw new UsageError('only one file can be standard input');
  const feed = async (
    file: string,
    parser: { push(chunk: Uint8Array): void; end(): void },
  ): Promise<void> => {
    let bytes = 0;
    const berkeley = file === '-' ? undefined : await berkeleyFile(file);
    if (berkeley !== undefined && file === documents) {
      throw new StorageError(
        `${file} is ${berkeley.description}, and the layout of its records is not recorded (R-16): documents are JSON lines`,
      );
    }
    const input = berkeley === undefined ? readInput(file, signal) : dumpBerkeleyFile(file, berkeley, signal);
    for await (const chunk of input) {
      parser.push(chunk);
      bytes += chunk.length;
      options.onRead?.(file, bytes);
    }
    parser.end();
  };
  await using builder = await ReferencesBuilder.create(options.data, options);
  if (documents !== undefined)
    await feed(documents, new DocumentLines(documents, (document) => builder.addDocument(document)));
  await feed(refs, new PairParser(refs, (pairs) => builder.addLinks(pairs), { byteOrder }));
  if (hubs !== undefined)
    await feed(hubs, new PairParser(hubs, (pairs) => builder.addReversed(pairs), { byteOrder }));
  return await builder.publish();
}
