// Reads SOIF objects from a stream, or one object from its bytes.
import { ProtocolError, StateError } from '../errors.js';
import type { SoifWarning } from './attempt.js';
import { ExactReader } from './exact-reader.js';
import { LayoutReader } from './layout-reader.js';
import { NameTable } from './names.js';
import type { SoifAttribute, SoifObject } from './object.js';
import { type DecoderLimits, decoderLimits, type SoifDecoderOptions } from './options.js';
import { StreamReader, type StreamSink } from './stream-reader.js';
import { Window } from './window.js';

/** An item of {@link SoifDecoder}. */
export type SoifItem =
  | {
      readonly kind: 'object';
      readonly object: SoifObject;
      /** Bytes from the start of the stream to the object's `@`. */
      readonly offset: number;
      /** Bytes of the object, up to and including the LF after its closing brace. */
      readonly length: number;
      /** Whether it has the layout of SOIF-2.2, so that its bytes may be passed on unchanged. */
      readonly exact: boolean;
    }
  | SoifWarning;

/** A sink that drops everything. */
export const NO_SINK: StreamSink = {
  object: () => {},
  largeBytes: () => {},
  large: () => {},
  rewind: () => {},
  warning: () => {},
  section: () => {},
  endLine: () => {},
};

/** What an {@link ItemDecoder} needs of the reader of its stream. */
interface ItemReader {
  readonly failure: ProtocolError | undefined;
  readonly ended: boolean;
  readonly rest: Uint8Array;
  push(chunk: Uint8Array): void;
  end(): void;
  resume(): void;
}

/**
 * Delivers the items of a reader before its error: a call returns the items found so far, the
 * next call throws the error. {@link end} has no next call, so it throws the error immediately.
 */
export abstract class ItemDecoder<Item> {
  protected readonly reader: ItemReader;
  #items: Item[] = [];
  #ended = false;
  #thrown = false;

  /** @param open opens a reader that adds what it reads to the items */
  protected constructor(open: (add: (item: Item) => void) => ItemReader) {
    this.reader = open((item) => this.#items.push(item));
  }

  /**
   * The items that are complete with this chunk. @throws ProtocolError in strict mode; StateError after the
   * end.
   */
  push(chunk: Uint8Array): Item[] {
    if (this.#thrown) throw this.reader.failure ?? new StateError('push after an error');
    this.reader.push(chunk);
    return this.#deliver();
  }

  /**
   * No more input: the last items. @throws ProtocolError in strict mode, e.g. for a truncated object or an open
   * section
   */
  end(): Item[] {
    if (this.#ended) throw new StateError('end after end');
    this.#ended = true;
    this.reader.end();
    return this.#deliver();
  }

  /** Whether strict mode has found an error, which was thrown or will be thrown by the next call. */
  get failed(): boolean {
    return this.reader.failure !== undefined;
  }

  /**
   * After strict mode has thrown: continues at the next plausible start of an object (SOIF-4.5) in the bytes so
   * far. While {@link failed}, call it again. @throws ProtocolError for the next defect; StateError when there
   * was no error
   */
  resume(): Item[] {
    if (this.#thrown || !this.failed) this.reader.resume();
    this.#thrown = false;
    return this.#deliver();
  }

  #deliver(): Item[] {
    const { failure } = this.reader;
    if (failure !== undefined && (this.#items.length === 0 || this.#ended)) {
      this.#thrown = true;
      throw failure;
    }
    const items = this.#items;
    this.#items = [];
    return items;
  }
}

/**
 * Reads a stream of SOIF objects that arrives in chunks of any size (SOIF-1.3, SOIF-4.4).
 *
 * `lenient` (default) never throws a ProtocolError: a malformed object gives a warning with its rule and
 * offset, and a second one (SOIF-4.5) with the number of bytes skipped when the next plausible start is found.
 * `strict` throws at the first defect: the call returns the objects before it, and the next call throws. After
 * that every call throws, until {@link resume}.
 *
 * Objects are views of the chunks: do not write into a chunk, and copy what you keep.
 */
export class SoifDecoder extends ItemDecoder<SoifItem> {
  /** @throws RangeError for a limit out of its range */
  constructor(options: SoifDecoderOptions = {}) {
    // Every object is held.
    const limits = { ...decoderLimits(options), largeBytes: Number.POSITIVE_INFINITY };
    super((add) => {
      const object: StreamSink['object'] = (object, start, end, exact) =>
        add({ kind: 'object', object, offset: start, length: end - start, exact });
      return new StreamReader({ ...NO_SINK, object, warning: add }, limits, {
        sections: false,
        endLine: false,
      });
    });
  }
}

/** Limits of the name table that all calls of {@link decodeSoif} share. */
const SHARED_NAMES = 4096;
const SHARED_BYTES = 256 * 1024;
const shared = { reader: new ExactReader(decoderLimits({}), false), names: new NameTable() };

/**
 * Decodes bytes that hold exactly one object.
 * @throws ProtocolError when there is no object, a second one, or (strict) any other text.
 */
export function decodeSoif(bytes: Uint8Array, options?: SoifDecoderOptions): SoifObject {
  return (options === undefined ? exactObject(bytes) : undefined) ?? onlyObject(bytes, options ?? {});
}

/** The object, if the bytes are one object in the layout of SOIF-2.2 and nothing else, as stores hold them. */
function exactObject(bytes: Uint8Array): SoifObject | undefined {
  if (shared.names.size > SHARED_NAMES || shared.names.bytes > SHARED_BYTES) shared.names = new NameTable();
  const { reader, names } = shared;
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = reader.read(bytes, words, 0, bytes.length, names);
  return end === bytes.length ? reader.take(bytes, names) : undefined;
}

function onlyObject(bytes: Uint8Array, options: SoifDecoderOptions): SoifObject {
  const decoder = new SoifDecoder(options);
  let object: SoifObject | undefined;
  let defect: SoifWarning | undefined;
  for (const items of [decoder.push(bytes), decoder.end()]) {
    for (const item of items) {
      if (item.kind === 'warning') {
        defect ??= item;
      } else if (object === undefined) {
        object = item.object;
      } else {
        throw new ProtocolError('a second object', {
          protocol: 'soif',
          rule: 'SOIF-1.3',
          offset: item.offset,
        });
      }
    }
  }
  if (object !== undefined) return object;
  const { rule, offset, message } = defect ?? {
    rule: 'SOIF-1.3',
    offset: bytes.length,
    message: 'no object',
  };
  throw new ProtocolError(message, { protocol: 'soif', rule, offset });
}

/**
 * Reads attribute lines without the lines around them, as a summarizer writes them (SOIF-3.7). The list ends
 * with the input, so {@link end} returns all of it; `maxObjectBytes` bounds the memory. A malformed list is an
 * error in both modes: there is no next object to continue with.
 */
export class SoifBodyDecoder {
  readonly #limits: DecoderLimits;
  readonly #window: Window;
  readonly #layout: LayoutReader;
  readonly #names = new NameTable();
  #ended = false;

  /** @throws RangeError for a limit out of its range */
  constructor(options: SoifDecoderOptions = {}) {
    this.#limits = decoderLimits(options);
    this.#window = new Window(this.#limits.maxObjectBytes);
    this.#layout = new LayoutReader(this.#limits, { sections: false, endLine: false });
    this.#layout.beginBody(0);
  }

  /** Defects that lenient mode has tolerated so far. */
  get warnings(): readonly SoifWarning[] {
    return this.#layout.warnings;
  }

  /** @throws ProtocolError when the list is malformed or too long; StateError after {@link end} */
  push(chunk: Uint8Array): void {
    if (this.#ended) throw new StateError('push after end');
    this.#window.append(chunk);
    this.#advance(false);
  }

  /** Returns the attributes, as views. @throws ProtocolError when the list is malformed or truncated */
  end(): SoifAttribute[] {
    if (this.#ended) throw new StateError('end after end');
    this.#ended = true;
    this.#advance(true);
    return [...this.#layout.take(this.#window, this.#names)];
  }

  #advance(final: boolean): void {
    if (this.#layout.advance(this.#window, this.#names, final) !== 'defect') return;
    this.#ended = true;
    const { rule, offset, message } = this.#layout.defect;
    throw new ProtocolError(message, { protocol: 'soif', rule, offset });
  }
}

/** Decodes a complete list. @throws ProtocolError when it is malformed (SOIF-3.7) */
export function decodeAttributes(bytes: Uint8Array, options: SoifDecoderOptions = {}): SoifAttribute[] {
  const decoder = new SoifBodyDecoder(options);
  decoder.push(bytes);
  return decoder.end();
}
