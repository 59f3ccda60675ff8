// Reads Gopher menus from chunks of any size.
import { bufferOf, LF } from '../ascii.js';

/** One line of a menu. Strings have one UTF-16 unit from 0 to 255 for each byte. */
export interface GopherItem {
  /** One character, see `gopherItemType`. */
  readonly type: string;
  /** The displayed text. */
  readonly display: string;
  readonly selector: string;
  readonly host: string;
  /** 0 when the line has no port. */
  readonly port: number;
  /** The fifth field, of Gopher+: `+` or `?`; '' when absent. */
  readonly plus: string;
}

export interface MenuLimits {
  /** Bytes of one line; default 8192. */
  readonly maxLineBytes?: number;
  /** Items of one menu; default 100 000. */
  readonly maxItems?: number;
}

/**
 * Reads the items of a menu in chunks of any size. A line of one dot ends it. Lines end with CR LF, with some
 * servers LF. Empty lines and lines without tabs are not items. Bytes after the end are ignored, and so is a
 * last line without its end, which may be cut inside a host name.
 */
export class GopherMenuDecoder {
  readonly #maxLineBytes: number;
  readonly #maxItems: number;
  #line = '';
  /** The rest of a line that is too long is skipped. */
  #skipping = false;
  #items = 0;
  #ended = false;
  #truncated = false;

  constructor(limits: MenuLimits = {}) {
    this.#maxLineBytes = limits.maxLineBytes ?? 8192;
    this.#maxItems = limits.maxItems ?? 100_000;
  }

  /** Whether the line of one dot was read, or the limit of items exceeded. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Whether lines or items beyond a limit were dropped. */
  get truncated(): boolean {
    return this.#truncated;
  }

  push(chunk: Uint8Array): GopherItem[] {
    const items: GopherItem[] = [];
    let from = 0;
    while (!this.#ended) {
      const end = chunk.indexOf(LF, from);
      this.#append(chunk.subarray(from, end < 0 ? chunk.length : end));
      if (end < 0) break;
      const item = this.#takeLine();
      if (item !== undefined) items.push(item);
      from = end + 1;
    }
    return items;
  }

  #append(piece: Uint8Array): void {
    if (this.#skipping) return;
    if (this.#line.length + piece.length > this.#maxLineBytes) {
      this.#line = '';
      this.#skipping = true;
      this.#truncated = true;
      return;
    }
    this.#line += byteString(piece);
  }

  #takeLine(): GopherItem | undefined {
    const line = this.#line.endsWith('\r') ? this.#line.slice(0, -1) : this.#line;
    this.#line = '';
    this.#skipping = false;
    if (line === '.') {
      this.#ended = true;
      return undefined;
    }
    const item = parseGopherItem(line);
    if (item === undefined) return undefined;
    this.#items += 1;
    if (this.#items <= this.#maxItems) return item;
    this.#ended = true;
    this.#truncated = true;
    return undefined;
  }
}

/** One UTF-16 unit from 0 to 255 for each byte. */
export function byteString(bytes: Uint8Array): string {
  return bufferOf(bytes).toString('latin1');
}

/** Parses one line without its end; `undefined` when it is not an item. */
export function parseGopherItem(line: string): GopherItem | undefined {
  const [first = '', selector, host, port, plus = ''] = line.split('\t');
  if (first === '' || selector === undefined) return undefined;
  const number = /^\s*(\d{1,5})\s*$/.exec(port ?? '')?.[1];
  return {
    type: first[0]!,
    display: first.slice(1),
    selector,
    host: (host ?? '').trim().toLowerCase(),
    port: number === undefined || Number(number) > 65_535 ? 0 : Number(number),
    plus: plus.trim(),
  };
}
