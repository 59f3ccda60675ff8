// The syntax of PDF objects, as far as links need it (ISO 32000-1, 7.2 and 7.3).

/** What {@link PdfTokens} finds. */
export interface PdfTokenEvents {
  /** A name, without its slash, escapes resolved. */
  name(name: string): void;
  /** A string, as bytes in Latin-1. @param depth of the dictionaries and arrays around it */
  string(value: string, depth: number): void;
  /** The keyword `obj`. */
  object?(): void;
  /** A stream begins at this index of the piece. Nothing more of the piece is read. */
  stream?(): void;
}

/** Characters of a string, above which its parenthesis is taken for an unbalanced one. */
const MAX_STRING = 64 * 1024;
/** Characters of a name. */
const MAX_NAME = 128;
/** Deepest nesting that is counted. */
const MAX_DEPTH = 1000;
/** Characters of the longest keyword. */
const KEYWORD = 8;

const TOKEN =
  /%|\(|<<|>>|<[0-9A-Fa-f\s]{0,65536}>|[[\]]|\/[^\s()<>[\]{}/%\0]{0,128}|(?<![A-Za-z])(?:obj(?![A-Za-z])|stream(?:\r\n|\n|\r(?!\n)))/g;
/** What may be the beginning of a token at the end of a piece. */
const OPEN_TOKEN = /(?:<[0-9A-Fa-f\s]{0,65536}|>|\/[^\s()<>[\]{}/%\0]{0,128}|\b[a-z]{1,6}\r?)$/;

/** Reads the tokens of objects, in pieces of any size. */
export class PdfTokens {
  readonly #events: PdfTokenEvents;
  #rest = '';
  /** Characters of the rest that are read already and show what a token follows. */
  #context = 0;
  #depth = 0;
  #isComment = false;

  constructor(events: PdfTokenEvents) {
    this.#events = events;
  }

  /**
   * Reads the next piece.
   * @param text in Latin-1
   * @returns the index in `text` at which a stream begins; undefined if all of it belongs to objects
   */
  write(text: string): number | undefined {
    return this.#read(text, false);
  }

  /** Reads what is left. */
  end(): void {
    this.#read('', true);
  }

  #read(text: string, isLast: boolean): number | undefined {
    const before = this.#rest.length;
    const whole = this.#rest + text;
    let at = this.#context;
    [this.#rest, this.#context] = ['', 0];
    const keep = (from: number): undefined => {
      const context = Math.min(from, 1);
      this.#rest = whole.slice(from - context);
      this.#context = context;
    };
    while (at < whole.length) {
      if (this.#isComment) {
        const end = lineEnd(whole, at);
        if (end < 0) return undefined;
        at = end;
        this.#isComment = false;
      }
      TOKEN.lastIndex = at;
      const match = TOKEN.exec(whole);
      if (match === null) break;
      const [token] = match;
      // More characters may belong to it.
      const mayGoOn = TOKEN.lastIndex === whole.length && /^(?:\/|obj|stream\r$)/.test(token);
      if (mayGoOn && !isLast && token.length <= MAX_NAME) return keep(match.index);
      at = TOKEN.lastIndex;
      if (token === '%') this.#isComment = true;
      else if (token === '(') {
        const end = stringEnd(whole, at, isLast);
        if (end === 'open') return keep(match.index);
        if (end === undefined) continue;
        this.#events.string(literal(whole.slice(at, end - 1)), this.#depth);
        at = end;
      } else if (token === '<<' || token === '[') this.#depth = Math.min(MAX_DEPTH, this.#depth + 1);
      else if (token === '>>' || token === ']') this.#depth = Math.max(0, this.#depth - 1);
      else if (token[0] === '<') this.#events.string(hexadecimal(token), this.#depth);
      else if (token[0] === '/') this.#events.name(nameOf(token.slice(1)));
      else if (token === 'obj') {
        this.#depth = 0;
        this.#events.object?.();
      } else if (this.#events.stream !== undefined) {
        this.#events.stream();
        return at - before;
      }
    }
    if (isLast) return undefined;
    const open = OPEN_TOKEN.exec(whole.slice(Math.max(at, whole.length - 66_000)));
    return keep(Math.max(at, open === null ? whole.length - KEYWORD : whole.length - open[0].length));
  }
}

/** The index after a line; -1 if its end is not there. */
function lineEnd(text: string, from: number): number {
  const found = /[\r\n]/g;
  found.lastIndex = from;
  return found.exec(text) === null ? -1 : found.lastIndex;
}

/**
 * The index after a literal string, whose parentheses may be nested.
 * @returns undefined if it has no end, `open` if its end may follow
 */
function stringEnd(text: string, from: number, isLast: boolean): number | 'open' | undefined {
  let depth = 1;
  const limit = Math.min(text.length, from + MAX_STRING);
  for (let at = from; at < limit; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at++;
    else if (code === 0x28) depth++;
    else if (code === 0x29 && --depth === 0) return at + 1;
  }
  return isLast || text.length - from >= MAX_STRING ? undefined : 'open';
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** The bytes of a literal string (7.3.4.2). */
function literal(written: string): string {
  if (!written.includes('\\')) return written;
  return written.replace(
    /\\(?:([0-7]{1,3})|(\r\n|[\s\S]))/g,
    (_, octal: string | undefined, other: string) =>
      octal !== undefined
        ? String.fromCharCode(Number.parseInt(octal, 8) & 0xff)
        : /[\r\n]/.test(other)
          ? ''
          : (ESCAPES[other] ?? other),
  );
}

function hexadecimal(token: string): string {
  const digits = token.slice(1, -1).replace(/\s+/g, '');
  return Buffer.from(digits.length % 2 === 0 ? digits : `${digits}0`, 'hex').toString('latin1');
}

function nameOf(written: string): string {
  return written.replace(/#([0-9A-Fa-f]{2})/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
