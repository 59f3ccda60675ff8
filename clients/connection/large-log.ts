// Keeps the bytes of objects that are too large for the memory while they arrive, and passes them again to a
// decoder that asks for them.
import type { ByteSource, SectionItem } from '../../protocols/soif/index.js';

/** Where bytes are kept outside the memory, e.g. a file. */
export interface ByteLog {
  append(bytes: Uint8Array): Promise<void>;
  /** Yields bytes in pieces; each is valid until the next one is requested. */
  pieces(start: number, end: number): AsyncIterable<Uint8Array>;
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** How objects are received that are not held in memory. */
export interface LargeObjects {
  /** Bytes above which an object is kept in a log. Default 1 MiB. */
  readonly fromBytes?: number | undefined;
  /** Opens a log, when the first such object arrives. */
  readonly open: () => Promise<ByteLog>;
}

/** The option of the decoder. */
export function largeBytesOf(large: LargeObjects | undefined): { readonly largeBytes?: number | undefined } {
  return { largeBytes: large === undefined ? undefined : (large.fromBytes ?? 1024 * 1024) };
}

/** An event of a protocol, and the item of a stream of objects in it. */
interface Followed<Event> {
  /** Returns the item of an event; undefined if it is another event. */
  readonly itemOf: (event: Event) => SectionItem | undefined;
  /** Passes bytes of the stream to the decoder again. */
  readonly feed: (bytes: Uint8Array) => readonly Event[];
}

/** The large objects of one stream. */
export class LargeLog {
  readonly #open: LargeObjects['open'] | undefined;
  #log: ByteLog | undefined;
  /** Offsets in the stream of the first byte of the log and after its last. */
  #start = 0;
  #end = 0;
  /** Offset of the next byte that the decoder gets again; {@link #end} if it needs none. */
  #cursor = 0;

  /** @param large undefined: the stream has no items of large objects */
  constructor(large: LargeObjects | undefined) {
    this.#open = large?.open;
  }

  /**
   * Yields the events of a call of the decoder without those that only this log handles, and the events of
   * bytes that the decoder needs again. The events after a large object follow when the consumer has used it.
   */
  async *follow<Event>(
    events: readonly Event[],
    followed: Followed<Event>,
  ): AsyncGenerator<readonly Event[], void, undefined> {
    if (this.#open === undefined) {
      yield events;
      return;
    }
    yield* this.#handle(events, followed);
    while (this.#cursor < this.#end) {
      for await (const piece of this.#pieces(this.#cursor, this.#end)) {
        this.#cursor += piece.length;
        const expected = this.#cursor;
        // The decoder keeps views of the bytes.
        yield* this.#handle(followed.feed(new Uint8Array(piece)), followed);
        if (this.#cursor !== expected) break;
      }
    }
  }

  /** The bytes of a large object, until the next event is requested. */
  sourceOf({ offset, length }: { readonly offset: number; readonly length: number }): ByteSource {
    return {
      length,
      pieces: (start = 0, end = length) => this.#pieces(offset + start, offset + end),
    };
  }

  async close(): Promise<void> {
    await this.#log?.close();
    this.#log = undefined;
  }

  async *#handle<Event>(
    events: readonly Event[],
    { itemOf }: Followed<Event>,
  ): AsyncGenerator<readonly Event[], void, undefined> {
    let from = 0;
    for (const [i, event] of events.entries()) {
      const item = itemOf(event);
      switch (item?.kind) {
        case 'large-bytes':
          if (i > from) yield events.slice(from, i);
          from = i + 1;
          await this.#keep(item);
          break;
        case 'large':
          yield events.slice(from, i + 1);
          from = i + 1;
          break;
        case 'rewind':
          this.#cursor = item.offset;
          break;
        default:
      }
    }
    yield from === 0 ? events : events.slice(from);
  }

  async #keep({ bytes, offset, first }: Extract<SectionItem, { kind: 'large-bytes' }>): Promise<void> {
    this.#log ??= await this.#open?.();
    const end = offset + bytes.length;
    // Bytes that are read again are in the log.
    if (end <= this.#end && offset >= this.#start) return;
    if (first) {
      await this.#log?.clear();
      this.#start = offset;
      this.#end = offset;
    }
    await this.#log?.append(bytes.subarray(this.#end - offset));
    this.#end = end;
    this.#cursor = end;
  }

  async *#pieces(start: number, end: number): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#log !== undefined) yield* this.#log.pieces(start - this.#start, end - this.#start);
  }
}
