// The links of a PDF file of any length, in pieces: the URI actions of its objects (ISO 32000-1, 12.6.4.7).
import { promisify } from 'node:util';
import { constants, inflate as inflateCallback } from 'node:zlib';
import { latin } from '../bytes.js';
import { PdfTokens } from './pdf-tokens.js';

const inflate = promisify(inflateCallback);

/** Bytes of one stream of objects that are read. */
const MAX_PACKED = 4 * 1024 * 1024;
/** Bytes that one stream of objects has when it is unpacked. */
const MAX_UNPACKED = 32 * 1024 * 1024;
/** Unpacked bytes of all streams for each byte of the file so far, above {@link MAX_UNPACKED}. */
const MAX_RATIO = 20;
/** Names of one object that are looked at for its filters. */
const MAX_NAMES = 256;
/** Relative references that wait for the base of the file, which may be at its end. */
const MAX_RELATIVE = 10_000;
const MAX_REFERENCE = 8192;
const END = Buffer.from('endstream', 'latin1');

const FILTERS = new Set(['FlateDecode', 'Fl']);
/** Names that are no filters end the list of them. */
const IS_FILTER = /Decode$|^(?:Crypt|Fl|LZW|AHx|A85|RL|CCF|DCT)$/;

/** How the bytes of a stream are read. */
type StreamReading = 'objects' | 'packed' | 'skipped' | 'unreadable';

/**
 * Finds the URLs of a file's links. Streams of objects are unpacked one at a time, within limits; pictures, fonts and
 * the content of pages are skipped.
 */
export class PdfLinkReader {
  readonly #add: (reference: string) => void;
  readonly #tokens: PdfTokens;
  #names: string[] = [];
  /** The name before a string. */
  #key = '';
  #base = '';
  readonly #relative = new Set<string>();
  #reading: StreamReading | undefined;
  #begun: StreamReading = 'skipped';
  #packed: Uint8Array[] = [];
  #packedBytes = 0;
  /** The last bytes of a stream, in which its end may begin. */
  #tail: Uint8Array = new Uint8Array();
  #bytes = 0;
  #unpackedBytes = 0;
  #isEncrypted = false;
  #isComplete = true;

  /** @param add is called with each URL as it is written */
  constructor(add: (reference: string) => void) {
    this.#add = add;
    this.#tokens = new PdfTokens({
      name: (name) => this.#name(name),
      string: (value, depth) => this.#string(value, depth),
      object: () => {
        [this.#names, this.#key] = [[], ''];
      },
      stream: () => {
        this.#begun = readingOf(this.#names);
      },
    });
  }

  /** Whether all objects were read; false if they are encrypted, damaged, otherwise packed, or exceed a limit. */
  get isComplete(): boolean {
    return this.#isComplete && !this.#isEncrypted;
  }

  /** @param piece is not used after the call */
  async write(piece: Uint8Array): Promise<void> {
    this.#bytes += piece.length;
    for (let bytes = piece; bytes.length > 0; ) {
      if (this.#reading === undefined) {
        const begin = this.#tokens.write(latin(bytes));
        if (begin === undefined) return;
        if (this.#begun === 'unreadable') this.#isComplete = false;
        // What is not packed is read as objects are.
        if (this.#begun !== 'objects') this.#reading = this.#begun;
        bytes = bytes.subarray(Math.max(0, begin));
      } else bytes = await this.#readStream(bytes);
    }
  }

  /** Calls back with what is left. */
  async end(): Promise<void> {
    if (this.#reading === 'packed') await this.#unpack();
    this.#tokens.end();
    if (this.#isEncrypted) return;
    for (const reference of this.#relative) this.#add(this.#base + reference);
  }

  #name(name: string): void {
    this.#key = name;
    if (name === 'Encrypt') this.#isEncrypted = true;
    if (this.#names.length < MAX_NAMES) this.#names.push(name);
  }

  #string(value: string, depth: number): void {
    const key = this.#key;
    this.#key = '';
    const isObject = depth === 0;
    if (value.length > MAX_REFERENCE || (key !== 'URI' && key !== 'Base' && !isObject)) return;
    const text = textOf(value);
    const isAbsolute = /^[a-z][a-z0-9+.-]*:/i.test(text);
    // The string of an action may be an object of its own.
    if (isObject) {
      if (/^(?:https?|ftp):\/\//i.test(text)) this.#add(text);
    } else if (key === 'Base') this.#base = isAbsolute ? text : '';
    else if (isAbsolute) this.#add(text);
    else if (this.#relative.size < MAX_RELATIVE) this.#relative.add(text);
  }

  /** Returns the bytes after the stream. */
  async #readStream(bytes: Uint8Array): Promise<Uint8Array> {
    const joined = Buffer.concat([this.#tail, bytes]);
    const end = joined.indexOf(END);
    const used = end < 0 ? Math.max(0, joined.length - END.length + 1) : end;
    if (this.#reading === 'packed') this.#keep(joined.subarray(0, used));
    if (end < 0) {
      this.#tail = Uint8Array.from(joined.subarray(used));
      return new Uint8Array();
    }
    this.#tail = new Uint8Array();
    if (this.#reading === 'packed') await this.#unpack();
    this.#reading = undefined;
    return joined.subarray(end + END.length);
  }

  #keep(bytes: Uint8Array): void {
    this.#packedBytes += bytes.length;
    if (this.#packedBytes <= MAX_PACKED) this.#packed.push(Uint8Array.from(bytes));
    else this.#packed = [];
  }

  async #unpack(): Promise<void> {
    const [pieces, length] = [this.#packed, this.#packedBytes];
    [this.#packed, this.#packedBytes] = [[], 0];
    const left = Math.max(MAX_UNPACKED, this.#bytes * MAX_RATIO) - this.#unpackedBytes;
    if (length > MAX_PACKED || left <= 0) {
      this.#isComplete = false;
      return;
    }
    let unpacked: Buffer;
    try {
      unpacked = await inflate(Buffer.concat(pieces), {
        maxOutputLength: Math.min(left, MAX_UNPACKED),
        finishFlush: constants.Z_SYNC_FLUSH,
      });
    } catch {
      // Too large, or damaged; a bomb is not tried again and again.
      this.#unpackedBytes += MAX_UNPACKED / 8;
      this.#isComplete = false;
      return;
    }
    this.#unpackedBytes += unpacked.length;
    const tokens = new PdfTokens({
      name: (name) => this.#name(name),
      string: (value, depth) => this.#string(value, depth),
    });
    this.#key = '';
    tokens.write(latin(unpacked));
    tokens.end();
  }
}

/** Whether a document is a PDF file, before whose first line there may be other bytes. */
export function isPdf(beginning: Uint8Array, contentType = ''): boolean {
  const start = latin(beginning, 0, Math.min(beginning.length, 1024));
  return /^\s*%PDF-/.test(start) || (/pdf\b/i.test(contentType) && start.includes('%PDF-'));
}

/** How a stream is read, by the names in its dictionary. */
function readingOf(names: readonly string[]): StreamReading {
  const isObjects = names.some((name, i) => name === 'ObjStm' && names[i - 1] === 'Type');
  if (!isObjects) return 'skipped';
  const from = names.findIndex((name) => name === 'Filter' || name === 'F') + 1;
  const filters: string[] = [];
  for (let i = from; from > 0 && IS_FILTER.test(names[i] ?? ''); i++) filters.push(names[i]!);
  if (filters.length === 0) return 'objects';
  const isPlain = filters.length === 1 && FILTERS.has(filters[0]!) && !names.includes('Predictor');
  return isPlain ? 'packed' : 'unreadable';
}

/** A string with the mark of UTF-16 or UTF-8 is text (7.9.2.2). */
function textOf(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  if (value.startsWith('\xfe\xff'))
    return bytes
      .subarray(2, bytes.length - (bytes.length % 2))
      .swap16()
      .toString('utf16le');
  return (value.startsWith('\xef\xbb\xbf') ? bytes.subarray(3) : bytes).toString('utf8').trim();
}
