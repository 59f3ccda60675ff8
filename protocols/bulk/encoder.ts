// Writes a bulk reply in the interface of 1995 (Part B).
import { LF } from '../ascii.js';
import { ProtocolError } from '../errors.js';
import { bytesOfUrl, type SoifBytes } from '../soif/index.js';
import type { BulkInfo, BulkLargeObject, BulkListedObject, BulkTrailer } from './events.js';
import { DEFAULT_TOKENS, type TokenBytes, type TokenName, type TokenTable, tokenBytes } from './tokens.js';

/** BP-3: before every Data. */
export const MAGIC_NUMBER = 0x329fa1d2;

/** BP-11: the version of this interface. */
export const INTERFACE_MAJOR = 1;
export const INTERFACE_MINOR = 0;

/** BP-27: bytes of one string and of one Data. */
export const MAX_STRING_BYTES = 64 * 1024;
export const MAX_DATA_BYTES = 64 * 1024 * 1024;

/**
 * Encodes the productions of the 1995 interface (Part B), each as one piece of bytes. A reply is `version`, any
 * number of `info`, then a Body (groups as in the shipped format, bare or between `compressedStart` and
 * `compressedEnd`; or `object`s; or nothing), then at most one `trailer`. LF and CR in a string become blanks:
 * they would end it (BP-2). A string or Data beyond the limits of BP-27 is a ProtocolError, because every
 * reader would refuse it.
 */
export class BulkReplyEncoder {
  readonly #table: TokenBytes;

  /** @throws TypeError for a table whose tokens are ambiguous */
  constructor(tokens: TokenTable = DEFAULT_TOKENS) {
    this.#table = tokenBytes(tokens);
  }

  /** BP-11: the first production of a reply; `text` names the implementation. */
  version(text: string, major: number = INTERFACE_MAJOR, minor: number = INTERFACE_MINOR): Uint8Array {
    return concat([this.#token('version'), encodeNumber(major), encodeNumber(minor), encodeString(text)]);
  }

  /** BP-12 */
  info(info: BulkInfo): Uint8Array {
    if (info.field === 'extension') return concat(this.#named('user-ext', info.type, info.data));
    return concat([this.#token(INFO_TOKENS[info.field]), encodeString(info.text)]);
  }

  /** BP-16: before one gzip member with the groups. */
  compressedStart(): Uint8Array {
    return this.#token('start-marker').slice();
  }

  /** BP-16: after the gzip member. */
  compressedEnd(): Uint8Array {
    return this.#token('end-marker').slice();
  }

  /** BP-17 to BP-20: one Object with its warning and extensions. */
  object(object: BulkListedObject): Uint8Array {
    return concat(this.objectSegments(object).filter((segment) => segment instanceof Uint8Array));
  }

  /** Like {@link object}; the values that are sources are sources between the other bytes. */
  objectSegments(object: BulkLargeObject): SoifBytes[] {
    const segments: SoifBytes[] = [];
    if (object.warning !== undefined) segments.push(this.#numbered('warning', object.warning));
    segments.push(this.#token('resource'), encodeUrl(object.resource));
    segments.push(this.#token('object'), encodeUrl(object.object));
    if (object.description !== undefined) segments.push(...this.#data('description', object.description));
    for (const line of object.opaque) segments.push(...this.#data('opaque', line));
    for (const { name, value } of object.attributes) segments.push(...this.#named('attribute', name, value));
    for (const { type, data } of object.extensions)
      segments.push(...this.#named('user-extension', type, data));
    segments.push(this.#token('object-end'));
    return segments;
  }

  /** BP-21 to BP-24: the last production of a reply. */
  trailer(trailer: BulkTrailer): Uint8Array {
    switch (trailer.kind) {
      case 'count':
        return concat([this.#token('object-count'), encodeNumber(trailer.count)]);
      case 'error':
        return this.#numbered('error', trailer);
      case 'stats':
        return concat(this.#data('stats', trailer.data));
    }
  }

  #token(name: TokenName): Uint8Array {
    return this.#table.tokens[name];
  }

  /** BP-18, BP-23: no separator between number and string. */
  #numbered(name: TokenName, what: { readonly number: number; readonly text: string }): Uint8Array {
    return concat([this.#token(name), encodeNumber(what.number), encodeString(what.text)]);
  }

  /** BP-13: the second separator follows the LF of the string. */
  #named<T extends SoifBytes>(name: TokenName, text: string, value: T): (Uint8Array | T)[] {
    return [this.#token(name), encodeString(text), this.#table.separator, ...encodeData(value)];
  }

  #data<T extends SoifBytes>(name: TokenName, value: T): (Uint8Array | T)[] {
    return [this.#token(name), ...encodeData(value)];
  }
}

/** Tokens of the InfoFields that are a string. */
export const INFO_TOKENS = {
  'broker-url': 'broker-url',
  indexer: 'broker-indexer',
  collect: 'broker-collect',
  message: 'message-to-user',
} as const satisfies Record<Exclude<BulkInfo['field'], 'extension'>, TokenName>;

/** BP-1 */
function encodeNumber(value: number): Uint8Array {
  if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff) {
    throw new RangeError(`a number of four bytes is required, not ${value} (BP-1)`);
  }
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

/** BP-2 */
function encodeString(text: string): Uint8Array {
  return checkString(Buffer.from(`${text.replace(/[\r\n]+/g, ' ')}\n`, 'utf8'));
}

/** BP-2, BRK-1.10: the bytes of the URL, which has one character a byte. */
function encodeUrl(url: string): Uint8Array {
  return checkString(Buffer.concat([bytesOfUrl(url.replace(/[\r\n]+/g, ' ')), Uint8Array.of(LF)]));
}

function checkString(bytes: Uint8Array): Uint8Array {
  if (bytes.length > MAX_STRING_BYTES) throw tooLong(`a string of ${bytes.length} bytes`);
  return bytes;
}

/** BP-4 */
function encodeData<T extends SoifBytes>(value: T): (Uint8Array | T)[] {
  if (value.length > MAX_DATA_BYTES) throw tooLong(`Data of ${value.length} bytes`);
  return [encodeNumber(MAGIC_NUMBER), encodeNumber(value.length), value];
}

/** BP-27 */
function tooLong(what: string): ProtocolError {
  return new ProtocolError(`${what} exceeds the limit`, { protocol: 'bulk', rule: 'BP-27', offset: 0 });
}

function concat(pieces: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(pieces));
}
