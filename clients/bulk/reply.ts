// Turns the bytes of a bulk reply into events and inflates compressed groups.
import {
  type BulkEvent,
  BulkReplyDecoder,
  type BulkReplyDecoderOptions,
} from '../../protocols/bulk/index.js';
import { ProtocolError } from '../../protocols/errors.js';
import type { LargeLog, ReceiveBudget } from '../connection/index.js';
import { InflateBudget, type InflateLimits, MemberInflater } from '../gatherd/inflater.js';

export interface ReplyOptions extends InflateLimits {
  /** The large objects of the reply. */
  readonly large: LargeLog;
  readonly decoder: BulkReplyDecoderOptions;
  /** Counts the inflated bytes. */
  readonly budget: ReceiveBudget;
  readonly signal: AbortSignal | undefined;
}

/** A defect that the reader tolerated, or data that it left out. */
export type BulkWarning = Omit<Extract<BulkEvent, { kind: 'warning' }>, 'kind'>;

/**
 * Yields the events of a reply, those of one chunk together; inflates compressed data. Reads a chunk only when
 * the next events are requested.
 * @throws ProtocolError; an error of `chunks`; the signal's reason
 */
export async function* readReply(
  chunks: AsyncIterable<Uint8Array>,
  options: ReplyOptions,
): AsyncGenerator<readonly BulkEvent[], void, undefined> {
  const decoder = new BulkReplyDecoder(options.decoder);
  const member = new MemberReader(decoder, options);
  try {
    for await (const chunk of chunks) yield* member.inflateEvents(decoder.push(chunk));
    // The decoder returns the events before an error first and throws with the next call.
    while (!decoder.done) yield* member.inflateEvents(decoder.end());
  } finally {
    member.close();
  }
}

/** Inflates the gzip member that is being read, if any. */
class MemberReader {
  readonly #decoder: BulkReplyDecoder;
  readonly #options: ReplyOptions;
  readonly #budget: InflateBudget;
  #inflater: MemberInflater | undefined;

  constructor(decoder: BulkReplyDecoder, options: ReplyOptions) {
    this.#decoder = decoder;
    this.#options = options;
    this.#budget = new InflateBudget(options);
  }

  close(): void {
    this.#inflater?.close();
    this.#inflater = undefined;
  }

  /** Yields the events, and in place of `inflate` the events of the inflated data. */
  async *inflateEvents(first: readonly BulkEvent[]): AsyncGenerator<readonly BulkEvent[], void, undefined> {
    let events = first;
    for (;;) {
      const last = events.at(-1);
      if (last?.kind !== 'inflate') {
        yield* this.#follow(events, (bytes) => this.#decoder.push(bytes));
        return;
      }
      if (events.length > 1) yield events.slice(0, -1);
      this.#inflater ??= new MemberInflater(this.#budget);
      const inflater = this.#inflater;
      const rest = yield* this.#decodeOutputs(inflater.push(last.bytes));
      if (!inflater.ended) return;
      this.close();
      events = this.#decoder.inflateEnd(rest, inflater.crc, inflater.size);
    }
  }

  async *#decodeOutputs(
    outputs: AsyncGenerator<Uint8Array, Uint8Array, undefined>,
  ): AsyncGenerator<readonly BulkEvent[], Uint8Array, undefined> {
    for (;;) {
      const output = await outputs.next().catch((error: unknown) => {
        throw asBulkError(error);
      });
      if (output.done === true) return output.value;
      this.#options.signal?.throwIfAborted();
      this.#options.budget.count(output.value.length);
      const events = this.#decoder.inflated(output.value);
      yield* this.#follow(events, (bytes) => this.#decoder.inflated(bytes));
    }
  }

  /** Yields the events, and those of bytes that the decoder needs again. */
  async *#follow(
    events: readonly BulkEvent[],
    feed: (bytes: Uint8Array) => readonly BulkEvent[],
  ): AsyncGenerator<readonly BulkEvent[], void, undefined> {
    for await (const some of this.#options.large.follow(events, { itemOf, feed })) {
      if (some.length > 0) yield some;
    }
  }
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

function itemOf(event: BulkEvent) {
  return event.kind === 'large' ? event.item : undefined;
}
