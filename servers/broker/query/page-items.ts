// The items of a page of a reply, and their bytes on the wire.
import { encodeResult, encodeResultHead, type ResultItem } from '../../../protocols/broker/index.js';
import type { ByteSource } from '../../../protocols/soif/index.js';
import type { HostConnection } from '../../host/index.js';
import type { PageBudget } from './reply-memory.js';
import { writePage } from './write-page.js';

/** An item of a reply. */
export type PageItem = ResultItem & {
  /** The value of a description or an attribute instead of `value`, which is empty; valid until the next page is requested. */
  readonly large?: ByteSource;
};

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
