// References in style sheets (CRAWL-11.2, ExtractorCSS): url(), src(), @import and the images of image-set().

/**
 * What matters of CSS: comments, strings, functions with their names, at-rules, and what ends them. A name is
 * tried at its start only.
 */
const TOKEN =
  /\/\*[\s\S]*?(?:\*\/|$)|"((?:[^"\\\n\r\f]|\\[\s\S])*)"?|'((?:[^'\\\n\r\f]|\\[\s\S])*)'?|@([\w-]+)|(?:(?<![\w-])([\w-]+)\(|[();{}])/g;
/** The rest of `url(` without quotes. */
const BARE_URL = /\s*((?:[^\s"'()\\]|\\[\s\S])+)\s*(?:\)|$)/y;
/** The same without its end. */
const OPEN_URL = /^\s*[^\s"'()]*$/;
const ESCAPE = /\\(?:([0-9a-fA-F]{1,6})[ \t\n\r\f]?|(\r\n|[\s\S]))/g;

/** Functions within whose parentheses strings are URLs. */
const URL_FUNCTIONS = new Set(['url', 'src', 'image-set', '-webkit-image-set', 'image', 'cross-fade']);

/** Deepest nesting of parentheses that is remembered. */
const MAX_DEPTH = 100;

/** Characters of a token whose end has not come, above which its content is dropped: no URL is as long. */
const MAX_OPEN = 16 * 1024;
/** The beginning of a token that may be cut at the end of a piece: a name, an at-rule, a comment. */
const OPEN_NAME = /[\w@/-]{0,256}$/;

/** Calls back with each reference of a style sheet, escapes resolved. Takes time in proportion to the text. */
export function scanStyle(text: string, add: (reference: string) => void): void {
  new StyleReader(add).end(text);
}

/** Reads a style sheet in pieces; calls back with each reference, escapes resolved. */
export class StyleReader {
  readonly #add: (reference: string) => void;
  readonly #functions: string[] = [];
  #rule = '';
  /** What may be the beginning of a token. */
  #rest = '';

  constructor(add: (reference: string) => void) {
    this.#add = add;
  }

  write(text: string): void {
    const whole = this.#rest + text;
    const rest = whole.slice(this.#read(whole, false));
    this.#rest = rest.length > MAX_OPEN ? shortened(rest) : rest;
  }

  /** @param text the last piece */
  end(text = ''): void {
    this.#read(this.#rest + text, true);
    this.#rest = '';
  }

  /** Returns where a token begins that the next piece may continue. */
  #read(text: string, isLast: boolean): number {
    const add = this.#add;
    const functions = this.#functions;
    // A backslash at the end belongs to what follows.
    const cut = isLast ? Number.POSITIVE_INFINITY : text.length - (text.endsWith('\\') ? 1 : 0);
    TOKEN.lastIndex = 0;
    let end = 0;
    for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
      if (TOKEN.lastIndex >= cut) return match.index;
      end = TOKEN.lastIndex;
      const [token, double, single, atRule, name] = match;
      const quoted = double ?? single;
      if (quoted !== undefined) {
        const inFunction = URL_FUNCTIONS.has(functions.at(-1) ?? '');
        if (this.#rule === 'namespace' || quoted === '') continue;
        if (inFunction || (this.#rule === 'import' && functions.length === 0)) add(withoutEscapes(quoted));
      } else if (atRule !== undefined) this.#rule = atRule.toLowerCase();
      else if (name !== undefined) {
        const called = name.toLowerCase();
        if (called === 'url') {
          BARE_URL.lastIndex = end;
          const bare = BARE_URL.exec(text)?.[1];
          const isOpen = bare === undefined ? OPEN_URL.test(text.slice(end)) : BARE_URL.lastIndex >= cut;
          if (!isLast && isOpen) return match.index;
          if (bare !== undefined) {
            if (this.#rule !== 'namespace') add(withoutEscapes(bare));
            TOKEN.lastIndex = BARE_URL.lastIndex;
            end = TOKEN.lastIndex;
            continue;
          }
        }
        if (functions.length < MAX_DEPTH) functions.push(called);
      } else if (token === '(') {
        if (functions.length < MAX_DEPTH) functions.push('');
      } else if (token === ')') functions.pop();
      else if (token === ';' || token === '{' || token === '}') {
        this.#rule = '';
        functions.length = 0;
      }
    }
    return Math.max(end, text.length - OPEN_NAME.exec(text.slice(-256))![0].length);
  }
}

/** Replaces the content of a token that is longer than any URL: a comment, a `data:` URL. */
function shortened(token: string): string {
  if (token.startsWith('/*')) return `/*${token.at(-1)}`;
  const begin = /^(?:["']|[\w-]+\(\s*)/.exec(token)?.[0] ?? '';
  let backslashes = 0;
  while (token.at(-1 - backslashes) === '\\') backslashes++;
  // An escape may be cut.
  return `${begin}data:,${backslashes % 2 === 1 ? '\\' : ''}`;
}

function withoutEscapes(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(ESCAPE, (_, code: string | undefined, other: string | undefined) => {
    if (code === undefined) return other === undefined || /[\n\r\f]/.test(other) ? '' : other;
    const point = Number.parseInt(code, 16);
    return point === 0 || point > 0x10ffff ? '�' : String.fromCodePoint(point);
  });
}
