// The items of a page of a reply, their bytes on the wire, and how these are sent.
import { encodeResult, encodeResultHead, type ResultItem } from '../../../protocols/broker/index.js';
import type { ByteSource } from '../../../protocols/soif/index.js';
import type { HostConnection } from '../../host/index.js';
import type { PageBudget } from './reply-memory.js';

/** An item of a reply. */
export type PageItem = ResultItem & {
  /**
   * The value of a description or an attribute instead of `value`, which is empty; valid until the next page is
   * requested.
   */
  readonly large?: ByteSource;
};

/**
 * Bytes of a larger page that are passed to the connection at a time, so that the progress of its client is
 * known.
 */
const PIECE_BYTES = 128 * 1024;
/** The same while there are few replies. */
const LARGE_PIECE_BYTES = 1024 * 1024;

const NEWLINE = Buffer.from('\n');

/** Encodes items (BRK-4.1). Large values are sources between the other bytes. */
export function encodeItems(items: readonly PageItem[]): (Uint8Array | ByteSource)[] {
  const segments: (Uint8Array | ByteSource)[] = [];
  let small: Uint8Array[] = [];
  for (const item of items) {
    if (item.large === undefined) {
      small.push(encodeResult(item));
      continue;
    }
    segments.push(Buffer.concat([...small, encodeResultHead(item, item.large.length)]), item.large);
    small = [NEWLINE];
  }
  segments.push(Buffer.concat(small));
  return segments;
}

/** Sends the segments of a page. Rejects like {@link writePage}, and with the errors of the sources. */
export async function writeSegments(
  connection: HostConnection,
  segments: readonly (Uint8Array | ByteSource)[],
  pages: PageBudget,
): Promise<void> {
  for (const segment of segments) {
    if (segment instanceof Uint8Array) await writePage(connection, segment, pages);
    else for await (const piece of segment.pieces()) await writePage(connection, piece, pages);
  }
}

/**
 * Sends a page. Resolves when the connection can accept more. Rejects with ConnectionError like
 * {@link HostConnection.write}.
 */
export async function writePage(
  connection: HostConnection,
  page: Uint8Array,
  pages: PageBudget,
): Promise<void> {
  const pieceBytes = pages.mayReadAhead ? LARGE_PIECE_BYTES : PIECE_BYTES;
  if (page.length <= 2 * pieceBytes) {
    await connection.write(page);
    pages.progress(page.length);
    return;
  }
  for (let from = 0; from < page.length; from += pieceBytes) {
    const piece = page.subarray(from, from + pieceBytes);
    await connection.write(piece);
    pages.progress(piece.length);
  }
}

/** Ends the reply to a client that is too slow. */
export function cutReply(connection: HostConnection, reason: string): void {
  connection.log.info(`cut: ${reason}`);
  connection.destroy();
}
