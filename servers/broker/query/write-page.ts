// Sends the pages of a reply.
import type { HostConnection } from '../../host/index.js';
import type { PageBudget } from './reply-memory.js';

/** Bytes of a larger page that are passed to the connection at a time, so that the progress of its client is known. */
const PIECE_BYTES = 128 * 1024;
/** The same while there are few replies. */
const LARGE_PIECE_BYTES = 1024 * 1024;

/** Sends a page. Resolves when the connection can accept more. Rejects with ConnectionError like {@link HostConnection.write}. */
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
