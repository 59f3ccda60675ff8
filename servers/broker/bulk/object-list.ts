// The reply to a user query in the interface of 1995: an ObjectList between Header and Trailer.
import {
  BULK_ERROR,
  type BulkLargeObject,
  type BulkListedObject,
  BulkReplyEncoder,
} from '../../../protocols/bulk/index.js';
import type { SoifBytes } from '../../../protocols/soif/index.js';
import type { PageItem } from '../query/page-items.js';

type MutableObject = { -readonly [K in keyof BulkLargeObject]: BulkLargeObject[K] } & {
  opaque: Uint8Array[];
  attributes: { readonly name: string; readonly value: SoifBytes }[];
};

interface Failure {
  readonly number: number;
  readonly text: string;
}

/** Objects of so many bytes wait for the notices of the query, which belong into the Header before them. */
const MAX_WAITING_BYTES = 64 * 1024;
/**
 * Characters of a notice or an error, which may repeat the client's words: a string has 64 KiB at most (BP-27).
 */
const MAX_TEXT = 8192;

/**
 * Turns the result items of a user query into the interface of 1995, for a client that requests it with
 * `#interface 2` (BP-29): Version, Header, an ObjectList, Trailer (BP-11, 12, 17 to 23).
 *
 * A notice (`101`, and `103`, after which more results follow) is a MESSAGE_TO_USER, which the grammar has in
 * the Header only (BP-12). Many notices are known at the end of the query. So the first objects wait,
 * {@link MAX_WAITING_BYTES} of them; in a longer list the last object waits, and later notices are its WARNING
 * (BP-18). Neither is a failure: the count follows (BP-21).
 */
export class ObjectList {
  readonly #encoder = new BulkReplyEncoder();
  #object: MutableObject | undefined;
  #count = 0;
  #failure: Failure | undefined;
  /** Encoded objects that wait for the end of the Header; undefined after it. */
  #waiting: Uint8Array[] | undefined = [];
  #waitingBytes = 0;
  /** The object that waits for later notices, after the end of the Header. */
  #last: BulkListedObject | undefined;
  readonly #late: Failure[] = [];

  /** Encodes Version and the Header, which notices may continue. */
  head(version: string, description: BrokerDescription): Uint8Array {
    return Buffer.concat([this.#encoder.version(version), encodeDescription(this.#encoder, description)]);
  }

  /**
   * Encodes what can be sent after these items; it may be nothing. Large values are sources between the other
   * bytes.
   */
  push(items: readonly PageItem[]): readonly SoifBytes[] {
    const segments: SoifBytes[] = [];
    let small: Uint8Array[] = [];
    for (const segment of items.flatMap((item) => this.#take(item))) {
      if (segment instanceof Uint8Array) small.push(segment);
      else {
        segments.push(Buffer.concat(small), segment);
        small = [];
      }
    }
    segments.push(Buffer.concat(small));
    return segments;
  }

  /**
   * Encodes the rest: the objects that wait, and the Trailer: the count, or the error instead of it (BP-21).
   */
  end(): Uint8Array {
    const trailer =
      this.#failure === undefined
        ? this.#encoder.trailer({ kind: 'count', count: this.#count })
        : this.#encoder.trailer({ kind: 'error', ...this.#failure });
    return Buffer.concat([...this.#endHeader(), ...this.#encodeLast(), trailer]);
  }

  #take(item: PageItem): readonly SoifBytes[] {
    switch (item.kind) {
      case 'match':
        this.#object = { resource: item.url, object: '', opaque: [], attributes: [], extensions: [] };
        return [];
      case 'object-url':
        if (this.#object !== undefined) this.#object.object = item.url;
        return [];
      case 'description':
        if (this.#object !== undefined) this.#object.description = item.large ?? item.value;
        return [];
      case 'attribute':
        this.#object?.attributes.push({ name: item.name, value: item.large ?? item.value });
        return [];
      case 'opaque':
        this.#object?.opaque.push(item.bytes ?? Buffer.from(item.text));
        return [];
      case 'object-end':
        return this.#finish();
      case 'message':
      case 'error':
        return this.#notify(item);
      case 'fatal':
        // The Trailer has room for one error (BP-21): the first.
        this.#failure ??= { number: BULK_ERROR[item.failure ?? 'unsupported'], text: cut(item.text) };
        return [];
      default:
        // The home page is in the Header.
        return [];
    }
  }

  #notify({
    kind,
    text,
  }: {
    readonly kind: 'message' | 'error';
    readonly text: string;
  }): readonly Uint8Array[] {
    if (this.#waiting !== undefined) return [this.#encoder.info({ field: 'message', text: cut(text) })];
    // BP-23: a message after objects is that of the lifetime; an error is the engine's complaint about the
    // query.
    this.#late.push({ number: kind === 'message' ? BULK_ERROR.lifetime : BULK_ERROR.unsupported, text });
    return [];
  }

  #finish(): readonly SoifBytes[] {
    const object = this.#object;
    if (object === undefined) return [];
    this.#object = undefined;
    this.#count += 1;
    // A large value can be read until the next page only, so its object does not wait.
    if (!isInMemory(object))
      return [...this.#endHeader(), ...this.#encodeLast(), ...this.#encoder.objectSegments(object)];
    if (this.#waiting === undefined) {
      const before = this.#encodeLast();
      this.#last = object;
      return before;
    }
    const bytes = this.#encoder.object(object);
    if (this.#waitingBytes + bytes.length > MAX_WAITING_BYTES) {
      this.#last = object;
      return this.#endHeader();
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    return [];
  }

  #endHeader(): readonly Uint8Array[] {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    return waiting;
  }

  #encodeLast(): readonly Uint8Array[] {
    if (this.#last === undefined) return [];
    const [first] = this.#late;
    const text = cut(this.#late.map((notice) => notice.text).join('; '));
    const warning = first === undefined ? {} : { warning: { number: first.number, text } };
    this.#late.length = 0;
    const bytes = this.#encoder.object({ ...this.#last, ...warning });
    this.#last = undefined;
    return [bytes];
  }
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}...`;
}

/** Content of the Header (BP-12). */
export interface BrokerDescription {
  readonly homePage: string;
  readonly indexer: string;
  /** `host port type` of each collection point. */
  readonly points: readonly string[];
}

/** Encodes the description in a Header (BP-12). */
export function encodeDescription(
  encoder: BulkReplyEncoder,
  { homePage, indexer, points }: BrokerDescription,
): Uint8Array {
  return Buffer.concat([
    encoder.info({ field: 'broker-url', text: homePage }),
    encoder.info({ field: 'indexer', text: indexer }),
    ...points.map((text) => encoder.info({ field: 'collect', text })),
  ]);
}

function isInMemory(object: BulkLargeObject): object is BulkListedObject {
  const { description, attributes } = object;
  return [description, ...attributes.map(({ value }) => value)].every(
    (value) => value === undefined || value instanceof Uint8Array,
  );
}
