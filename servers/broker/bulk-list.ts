import type { ResultItem } from '../../protocols/broker/index.js';
import { BULK_ERROR, type BulkListedObject, BulkReplyEncoder } from '../../protocols/bulk/index.js';

type MutableObject = { -readonly [K in keyof BulkListedObject]: BulkListedObject[K] } & {
  opaque: Uint8Array[];
  attributes: { readonly name: string; readonly value: Uint8Array }[];
};

/**
 * Turns the result items of a user query into the interface of 1995, for a client that requests it with `#interface 2`
 * (BP-29): Version, Header, an ObjectList, Trailer (BP-11, 12, 17 to 23).
 */
export class ObjectList {
  readonly #encoder = new BulkReplyEncoder();
  #object: MutableObject | undefined;
  #count = 0;
  #failure: { readonly number: number; readonly text: string } | undefined;

  /** Encodes Version and Header. */
  head(version: string, { homePage, indexer, points }: BrokerDescription): Uint8Array {
    return Buffer.concat([
      this.#encoder.version(version),
      this.#encoder.info({ field: 'broker-url', text: homePage }),
      this.#encoder.info({ field: 'indexer', text: indexer }),
      ...points.map((text) => this.#encoder.info({ field: 'collect', text })),
    ]);
  }

  /** Encodes the objects that are complete after these items. */
  push(items: readonly ResultItem[]): Uint8Array {
    return Buffer.concat(items.flatMap((item) => this.#take(item) ?? []));
  }

  /** Encodes the Trailer: the count, or the error instead of it (BP-21). */
  end(): Uint8Array {
    if (this.#failure !== undefined) return this.#encoder.trailer({ kind: 'error', ...this.#failure });
    return this.#encoder.trailer({ kind: 'count', count: this.#count });
  }

  #take(item: ResultItem): Uint8Array | undefined {
    switch (item.kind) {
      case 'match':
        this.#object = { resource: item.url, object: '', opaque: [], attributes: [], extensions: [] };
        return undefined;
      case 'object-url':
        if (this.#object !== undefined) this.#object.object = item.url;
        return undefined;
      case 'description':
        if (this.#object !== undefined) this.#object.description = item.value;
        return undefined;
      case 'attribute':
        this.#object?.attributes.push({ name: item.name, value: item.value });
        return undefined;
      case 'opaque':
        this.#object?.opaque.push(item.bytes ?? Buffer.from(item.text));
        return undefined;
      case 'object-end':
        return this.#finish();
      case 'fatal':
      case 'error':
        // The Trailer has room for one error (BP-21): the first.
        this.#failure ??= {
          number: item.kind === 'fatal' ? BULK_ERROR.unsupported : BULK_ERROR.internal,
          text: item.text,
        };
        return undefined;
      default:
        // The home page is in the Header, and messages to the user are not allowed after it (BP-12).
        return undefined;
    }
  }

  #finish(): Uint8Array | undefined {
    const object = this.#object;
    if (object === undefined) return undefined;
    this.#object = undefined;
    this.#count += 1;
    return this.#encoder.object(object);
  }
}

/** Content of the Header (BP-12). */
export interface BrokerDescription {
  readonly homePage: string;
  readonly indexer: string;
  /** `host port type` of each collection point. */
  readonly points: readonly string[];
}
