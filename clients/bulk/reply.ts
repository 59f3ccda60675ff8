// Turns the bytes of a bulk reply into events and inflates compressed groups.
import {
  type BulkEvent,
  BulkReplyDecoder,
  type BulkReplyDecoderOptions,
} from '../../protocols/bulk/index.js';
import { ProtocolError } from '../../protocols/errors.js';
import type { AbortOptions } from '../connection/index.js';
import { TransferReader, type TransferReaderOptions } from '../gatherd/inflater.js';

export interface ReplyOptions extends TransferReaderOptions, AbortOptions {
  readonly decoder: BulkReplyDecoderOptions;
}

/** A defect that the reader tolerated, or data that it left out. */
export type BulkWarning = Omit<Extract<BulkEvent, { kind: 'warning' }>, 'kind'>;

/**
 * Yields the events of a reply, those of one chunk together; inflates compressed data and closes the log of
 * large objects at its end. Reads a chunk only when the next events are requested.
 * @throws ProtocolError; an error of `chunks`; the signal's reason
 */
export async function* readReply(
  chunks: AsyncIterable<Uint8Array>,
  options: ReplyOptions,
): AsyncGenerator<readonly BulkEvent[], void, undefined> {
  const decoder = new BulkReplyDecoder(options.decoder);
  await using reader = new TransferReader(decoder, { ...options, asError: asBulkError });
  for await (const chunk of chunks) yield* reader.read(decoder.push(chunk), options.signal);
  // The decoder returns the events before an error first and throws with the next call.
  while (!decoder.done) yield* reader.read(decoder.end(), options.signal);
}

/** Replaces the inflater's error, which cites the rules of a Gatherer's update, with one that cites BP-16. */
function asBulkError(error: unknown): unknown {
  if (!(error instanceof ProtocolError)) return error;
  return new ProtocolError('the compressed groups are damaged or exceed a limit', {
    protocol: 'bulk',
    rule: 'BP-16',
    offset: error.offset,
    cause: error,
  });
}
