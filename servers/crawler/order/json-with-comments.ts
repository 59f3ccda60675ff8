import { ConfigError } from '../../../protocols/errors.js';

/** A JSON text with comments, and where its parts stand. */
export interface CommentedJson {
  readonly value: unknown;
  /** The line, from 1, of the part at this path (names and indexes); of the nearest one around it when it is not there. */
  lineOf(path: readonly PropertyKey[]): number;
}

/** Deeper nesting is no order. */
const MAX_DEPTH = 100;

/**
 * Reads JSON in which `//` and block comments may stand wherever blanks may, and a comma behind the last element. A name that
 * comes twice in an object is an error.
 * @throws ConfigError with the file and the line
 */
export function parseJsonWithComments(text: string, file: string): CommentedJson {
  const reader = new Reader(text.replace(/^\ufeff/, ''), file);
  const value = reader.document();
  return { value, lineOf: (path) => reader.lineOf(path) };
}

const BLANKS = /(?:[ \t\r\n]+|\/\/[^\n]*|\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/)*/y;
const STRING = /"(?:[^"\\\n]|\\.)*"/y;
const LITERAL = /-?\d[\d.eE+-]*|true|false|null/y;

class Reader {
  #at = 0;
  readonly #offsets = new Map<string, number>();

  constructor(
    readonly text: string,
    readonly file: string,
  ) {}

  document(): unknown {
    this.#blanks();
    const value = this.#value([]);
    this.#blanks();
    if (this.#at < this.text.length) throw this.#wrong('something stands behind the end');
    return value;
  }

  lineOf(path: readonly PropertyKey[]): number {
    for (let length = path.length; length >= 0; length--) {
      const offset = this.#offsets.get(keyOf(path.slice(0, length)));
      if (offset !== undefined) return this.#lineAt(offset);
    }
    return 1;
  }

  #value(path: readonly PropertyKey[]): unknown {
    if (path.length > MAX_DEPTH) throw this.#wrong('nested too deeply');
    if (!this.#offsets.has(keyOf(path))) this.#offsets.set(keyOf(path), this.#at);
    switch (this.text[this.#at]) {
      case '{':
        return this.#object(path);
      case '[':
        return this.#array(path);
      case '"':
        return this.#string();
      default:
        return this.#literal();
    }
  }

  #object(path: readonly PropertyKey[]): object {
    const entries = new Map<string, unknown>();
    this.#list('}', () => {
      const start = this.#at;
      const name = this.#string();
      if (entries.has(name)) throw this.#wrong(`${name} is there twice`, start);
      // Where its name stands is where it stands.
      this.#offsets.set(keyOf([...path, name]), start);
      this.#blanks();
      if (this.text[this.#at] !== ':') throw this.#wrong('a colon is missing');
      this.#at++;
      this.#blanks();
      entries.set(name, this.#value([...path, name]));
    });
    return Object.fromEntries(entries);
  }

  #array(path: readonly PropertyKey[]): unknown[] {
    const values: unknown[] = [];
    this.#list(']', () => values.push(this.#value([...path, values.length])));
    return values;
  }

  #list(end: string, element: () => void): void {
    this.#at++;
    this.#blanks();
    while (this.text[this.#at] !== end) {
      element();
      this.#blanks();
      if (this.text[this.#at] === ',') {
        this.#at++;
        this.#blanks();
      } else if (this.text[this.#at] !== end) {
        throw this.#wrong(`a comma or ${end} is missing`);
      }
    }
    this.#at++;
  }

  #string(): string {
    const token = this.#match(STRING);
    if (token === '') throw this.#wrong('a text in double quotes is wanted');
    return this.#parsed(token, (value) => typeof value === 'string');
  }

  #literal(): unknown {
    const token = this.#match(LITERAL);
    if (token === '') throw this.#wrong('a value is wanted');
    return this.#parsed(token, (value): value is unknown => value !== undefined);
  }

  #parsed<T>(token: string, is: (value: unknown) => value is T): T {
    try {
      const value: unknown = JSON.parse(token);
      if (is(value)) return value;
    } catch {
      // The sentence below says it.
    }
    throw this.#wrong(`${token} is no value`, this.#at - token.length);
  }

  #blanks(): void {
    this.#match(BLANKS);
    if (this.text.startsWith('/*', this.#at)) throw this.#wrong('a comment has no end');
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const token = pattern.exec(this.text)?.[0] ?? '';
    this.#at += token.length;
    return token;
  }

  #wrong(problem: string, offset = this.#at): ConfigError {
    return new ConfigError(this.file, this.#lineAt(offset), '', problem);
  }

  #lineAt(offset: number): number {
    return this.text.slice(0, offset).split('\n').length;
  }
}

function keyOf(path: readonly PropertyKey[]): string {
  return JSON.stringify(path.map(String));
}
