// Reads the data of an update and of a single object; the events of a client session.
import { LF } from '../ascii.js';
import { SectionDecoder, type SectionItem, type SoifDecoderOptions, type SoifObject } from '../soif/index.js';
import type { SequenceMark } from './commands.js';
import { MAX_LINE_BYTES } from './vocabulary.js';

/** How an update is delivered: as objects, or as the bytes of the wrapped stream. */
export type UpdateDelivery = 'items' | 'bytes';

export type UpdateEvent =
  | { readonly kind: 'item'; readonly item: SectionItem }
  | { readonly kind: 'data'; readonly bytes: Uint8Array };

const NOTHING = new Uint8Array(0);

/**
 * Reads the data of one SEND-UPDATE. Uncompressed, the end line is found by decoding the objects, because a
 * value may contain a line that looks like it (GATHERD-3.7). Compressed data ends with the gzip member.
 */
export class UpdateReader {
  readonly #delivery: UpdateDelivery;
  readonly #decoder: SectionDecoder;
  #endLine = { code: 0, text: '' };
  /** Bytes of the stream before #held. */
  #delivered = 0;
  /** Bytes that may become the end line, so they are not delivered yet: less than a line. */
  #held: Uint8Array = NOTHING;
  #heldAtLineStart = true;
  #finished = false;
  #isCut = false;

  constructor(delivery: UpdateDelivery, compressed: boolean, soif: SoifDecoderOptions = {}) {
    this.#delivery = delivery;
    const { largeBytes, ...held } = soif;
    this.#decoder = new SectionDecoder({
      ...held,
      ...(largeBytes === undefined || delivery === 'bytes' ? {} : { largeBytes }),
      endLine: !compressed,
    });
  }

  /** Whether the end line was found. Never with compressed data. */
  get ended(): boolean {
    return this.#decoder.ended;
  }

  get endLine(): { readonly code: number; readonly text: string } {
    return this.#endLine;
  }

  /** After {@link end}: whether the data ended within an object or a group (GATHERD-6.5). */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Bytes after the end line. */
  get rest(): Uint8Array {
    return this.#decoder.rest;
  }

  /** Takes bytes of an uncompressed update. */
  pushPlain(chunk: Uint8Array): UpdateEvent[] {
    return this.#readPlain(chunk, this.#decoder.push(chunk));
  }

  /** Takes decompressed bytes of a compressed update. */
  pushInflated(bytes: Uint8Array): UpdateEvent[] {
    const items = this.#collectItems(this.#decoder.push(bytes));
    if (this.#delivery === 'items') return items;
    return bytes.length === 0 ? [] : [{ kind: 'data', bytes }];
  }

  /** No more data: returns the last items; nothing when called again. */
  end(): UpdateEvent[] {
    if (this.#finished) return [];
    this.#finished = true;
    const items = this.#decoder.end();
    // Whole objects and closed groups leave nothing to warn of.
    this.#isCut = items.some(({ kind }) => kind === 'warning');
    return this.#readPlain(NOTHING, items);
  }

  #readPlain(chunk: Uint8Array, items: readonly SectionItem[]): UpdateEvent[] {
    const events = this.#collectItems(items);
    if (this.#delivery === 'items') return events;
    const bytes = this.#held.length === 0 ? chunk : concatenate(this.#held, chunk);
    let end = this.ended ? bytes.length : this.#countCertainBytes(bytes);
    for (const item of items) if (item.kind === 'end-line') end = item.offset - this.#delivered;
    return this.#deliver(bytes, end);
  }

  #collectItems(items: readonly SectionItem[]): UpdateEvent[] {
    const events: UpdateEvent[] = [];
    for (const item of items) {
      if (item.kind === 'end-line') this.#endLine = { code: item.code, text: item.text };
      else if (this.#delivery === 'items') events.push({ kind: 'item', item });
    }
    return events;
  }

  /** Returns the number of these bytes that cannot belong to an incomplete end line. */
  #countCertainBytes(bytes: Uint8Array): number {
    const lf = bytes.lastIndexOf(LF);
    const atLineStart = lf >= 0 || this.#heldAtLineStart;
    return atLineStart && mayBecomeEndLine(bytes.subarray(lf + 1)) ? lf + 1 : bytes.length;
  }

  #deliver(bytes: Uint8Array, length: number): UpdateEvent[] {
    this.#held = bytes.slice(Math.max(length, 0));
    if (length <= 0) return [];
    this.#delivered += length;
    this.#heldAtLineStart = bytes[length - 1] === LF;
    return [{ kind: 'data', bytes: bytes.subarray(0, length) }];
  }
}

function concatenate(first: Uint8Array, second: Uint8Array): Uint8Array {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

/** Whether a line that begins with these bytes may become `NNN - text`. */
function mayBecomeEndLine(start: Uint8Array): boolean {
  if (start.length > MAX_LINE_BYTES) return false;
  for (let i = 0; i < Math.min(start.length, 3); i++) {
    const byte = start[i] ?? 0;
    if (byte < 0x30 || byte > 0x39) return false;
  }
  return start.length < 4 || start[3] === 0x20;
}

/** How a requested object is delivered: as an event of its own, or as the items of an update. */
export type ObjectDelivery = 'object' | 'items';

/** An item of an object or of its bytes. */
type ObjectItem = Extract<SectionItem, { kind: 'object' | 'large' | 'large-bytes' | 'rewind' }>;

/** What the reader knows after a chunk of the reply. */
interface ObjectProgress {
  /** The object, in the chunk that completes it; of one that is not held, the items of its bytes before it. */
  readonly items: readonly ObjectItem[];
  /** Whether the reply is complete. */
  readonly ended: boolean;
  /** The bytes after the reply; empty until it is complete. */
  readonly rest: Uint8Array;
}

/**
 * Reads the bare object in the reply to SEND-OBJECT or INFO (GATHERD-5.2, 3.6). The reply to SEND-OBJECT ends
 * with its end line. That to INFO ends with the object, because its line may be absent.
 */
export class ObjectReader {
  readonly #decoder: SectionDecoder;
  readonly #endsWithObject: boolean;
  /** Bytes read before the current chunk. */
  #offset = 0;
  #found = false;

  /** @param soif with `largeBytes`, an object of more bytes is not held */
  constructor(command: 'object' | 'info', soif: SoifDecoderOptions = {}) {
    this.#decoder = new SectionDecoder({ ...soif, endLine: true });
    this.#endsWithObject = command === 'info';
  }

  /** Takes bytes of the reply. Objects after the first one are ignored. */
  push(chunk: Uint8Array): ObjectProgress {
    const start = this.#offset;
    this.#offset += chunk.length;
    const items: ObjectItem[] = [];
    for (const item of this.#decoder.push(chunk)) {
      if (item.kind === 'large-bytes' || item.kind === 'rewind') {
        items.push(item);
        if (item.kind === 'rewind') this.#offset -= item.back;
      }
      if ((item.kind !== 'object' && item.kind !== 'large') || this.#found) continue;
      items.push(item);
      this.#found = true;
      if (this.#endsWithObject && item.kind === 'object') {
        return { items, ended: true, rest: chunk.subarray(item.offset + item.bytes.length - start) };
      }
    }
    const { ended } = this.#decoder;
    return { items, ended, rest: ended ? this.#decoder.rest : NOTHING };
  }
}

export interface GatherdClientOptions {
  /** Bytes of the longest status line. Default 8192. */
  readonly maxLineBytes?: number;
  /** Bytes of unknown lines between two known ones. Default 1 MiB. */
  readonly maxIgnoredBytes?: number;
  /** Limits and mode for the objects received. */
  readonly soif?: SoifDecoderOptions;
}

/** An event of a session, in order of arrival. */
export type GatherdClientEvent =
  | { readonly kind: 'greeting'; readonly version: string; readonly hostname: string }
  /** Reply to HELLO or SET. If it is not accepted, the session continues without it (GATHERD-6.9, 6.11). */
  | { readonly kind: 'reply'; readonly to: 'hello' | SetPending; readonly accepted: boolean }
  | UpdateEvent
  /**
   * Deflate data of a compressed update, always the last event of a push. Feed it to a raw inflate stream, pass
   * the output to `inflated`, and call `inflateEnd` when the stream has found its end.
   */
  | { readonly kind: 'inflate'; readonly bytes: Uint8Array }
  | {
      readonly kind: 'update-end';
      readonly text: string;
      /** The last change of the database (GATHERD-6.13). */
      readonly last?: SequenceMark | undefined;
    }
  | { readonly kind: 'object'; readonly object: SoifObject }
  /** The reply to SEND-OBJECT or INFO is complete; `found` says whether it had an object. */
  | { readonly kind: 'object-end'; readonly to: 'object' | 'info'; readonly found: boolean }
  | { readonly kind: 'bye' };

/** A line that is not answered yet; `greeting` is the server's answer to the connection itself. */
export type SetPending = 'compression' | 'changes' | 'sequence';

export type Pending =
  | 'greeting'
  | 'hello'
  | 'compression'
  | 'changes'
  | 'sequence'
  | 'update'
  | 'object'
  | 'info'
  | 'quit';

/** The end of the sentence "the server closed the connection ...", by the line that is not answered yet. */
export const BEFORE_ANSWER: Readonly<Record<Pending, string>> = {
  greeting: 'without a greeting',
  hello: 'instead of answering HELLO',
  compression: 'instead of answering SET',
  changes: 'instead of answering SET',
  sequence: 'instead of answering SET',
  update: 'before the update was complete',
  object: 'before the object was complete',
  info: 'before the description was complete',
  quit: '',
};
