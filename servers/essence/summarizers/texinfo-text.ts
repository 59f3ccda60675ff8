import { wordPairs, wordSet } from '../word-tables.js';
import { TEX_ACCENTS, TEXINFO_ACCENTS } from './accents.js';
import { SourceReader } from './source-reader.js';
import { CHARACTERS } from './tex/commands.js';

/** Maximum number of headings, of authors and of addresses of one document. */
export const MAX_FIELDS = 2000;
/** Maximum nesting of groups that are interpreted; deeper ones are plain text. Keeps the time linear. */
const MAX_NESTED = 8;
/** Maximum number of open groups. */
const MAX_OPEN = 1000;
/** Maximum number of characters that `@value` inserts: a short call can expand to a long value. */
const MAX_INSERTED = 1 << 20;

/** Commands with empty braces that are characters, in addition to those of TeX. */
const SYMBOLS: ReadonlyMap<string, string> = new Map([
  ...wordPairs(`
    atchar @ lbracechar { rbracechar } backslashchar \\ hashchar # ampchar & comma , bullet • minus -
    enddots ... result ⇒ expansion → arrow → print -| error error--> equiv ≡ registeredsymbol ®
    textdegree ° geq ≥ leq ≤ exclamdown ¡ questiondown ¿ ordf ª ordm º th þ TH Þ dh ð DH Ð quotedblleft “
    quotedblright ” quoteleft ‘ quoteright ’ guillemetleft « guillemetright »
  `),
  ['point', ''],
  ['tie', ' '],
]);

/** Commands whose arguments are not text. */
const WITHOUT_TEXT = wordSet('anchor image math inlineraw hyphenation errormsg caption* sortas today');
const CROSS_REFERENCES = wordSet('ref xref pxref inforef link');
const ADDRESSES = wordSet('uref url email');

interface Group {
  /** The command whose argument the group is; empty for braces without a command. */
  readonly name: string;
  /** Index of its text; undefined if its text is not interpreted. */
  readonly from: number | undefined;
}

/**
 * Returns the text of a Texinfo source whose line commands have been removed (`@samp{text}` becomes `text`), in
 * one pass.
 *
 * @param values the variables of `@set`, for `@value`
 * @param references receives the addresses of `@uref` and `@url`
 */
export function inlineText(
  source: string,
  values: ReadonlyMap<string, string>,
  references: string[],
): string {
  return new InlineReader(source, values, references).read();
}

class InlineReader extends SourceReader {
  readonly #values: ReadonlyMap<string, string>;
  readonly #references: string[];
  readonly #out: string[] = [];
  #open: Group[] = [];
  #nested = 0;
  #inserted = 0;

  constructor(source: string, values: ReadonlyMap<string, string>, references: string[]) {
    super(source);
    this.#values = values;
    this.#references = references;
  }

  read(): string {
    const { source } = this;
    const special = /@([A-Za-z]+)(\{?)|@([\s\S])|[{}]|``|''|\n[ \t]*(?=\n)/g;
    for (let found = special.exec(source); found !== null; found = special.exec(source)) {
      this.#out.push(source.slice(this.index, found.index));
      this.index = special.lastIndex;
      const [token, name, brace, sign] = found;
      if (sign !== undefined) this.#sign(sign);
      else if (name !== undefined) this.#named(name, brace === '{');
      else if (token === '{') this.#begin('');
      else if (token === '}') this.#end();
      else if (token === '``') this.#out.push('“');
      else if (token === "''") this.#out.push('”');
      else this.#blankLine();
      special.lastIndex = this.index;
    }
    this.#out.push(source.slice(this.index));
    return this.#out.join('');
  }

  /** Handles a command of one punctuation character. */
  #sign(sign: string): void {
    const accent = sign === ',' ? '\u0327' : TEX_ACCENTS.get(sign === '.' ? '' : sign);
    if (accent !== undefined) this.#accent(accent);
    else if (sign === '*') this.#out.push('\n');
    else if (/\s/.test(sign)) this.#out.push(' ');
    else if ('@{}.!?&\\'.includes(sign)) this.#out.push(sign);
    // `@:`, `@-`, `@/` control line breaks.
  }

  #named(name: string, hasBrace: boolean): void {
    if (!hasBrace) {
      if (name === 'c' || name === 'comment') this.#toLineEnd();
      else if (name === 'tab') this.#out.push(' ');
      // At the start of a line, the blank after a command belongs to it.
      else if (/[ \t]/.test(this.source[this.index] ?? '')) this.index++;
      return;
    }
    const accent =
      TEXINFO_ACCENTS.get(name) ??
      (name.length === 1 && 'uvH'.includes(name) ? TEX_ACCENTS.get(name) : undefined);
    const symbol = SYMBOLS.get(name) ?? CHARACTERS.get(name);
    if (name === 'verb') this.#verb();
    else if (name === 'value') this.#value();
    else if (accent !== undefined) {
      this.index--;
      this.#accent(accent);
    } else if (symbol !== undefined && this.source[this.index] === '}') {
      this.index++;
      this.#out.push(symbol);
    } else {
      if (name === 'footnote') this.#out.push(' ');
      this.#begin(name);
    }
  }

  #accent(mark: string): void {
    const found = this.match(/\{?@dotless\{([ij])\}\}?|\{(\p{L})\}|(\p{L})/uy);
    if (found === undefined) return;
    this.#out.push(`${found[1] ?? found[2] ?? found[3] ?? ''}${mark}`.normalize('NFC'));
  }

  #toLineEnd(): void {
    const end = this.source.indexOf('\n', this.index);
    this.index = end < 0 ? this.source.length : end;
  }

  /** Handles `@verb{|text|}` within one line; the delimiter is arbitrary. */
  #verb(): void {
    const found = this.match(/([^\n])([^\n]{0,500}?)\1\}/y);
    if (found !== undefined) this.#out.push(found[2] ?? '');
  }

  #value(): void {
    const found = this.match(/([^{}\s]{1,100})\}/y);
    if (found === undefined) return;
    const value = this.#values.get(found[1] ?? '') ?? '';
    this.#inserted += value.length;
    // Of the commands in a value, only those of one punctuation character are expanded.
    if (this.#inserted <= MAX_INSERTED)
      this.#out.push(value.replace(/@([@{}])/g, '$1').replace(/@[a-z]+\{\}?/g, ''));
  }

  #begin(name: string): void {
    const isInterpreted = WITHOUT_TEXT.has(name) || CROSS_REFERENCES.has(name) || ADDRESSES.has(name);
    const counts = isInterpreted && this.#nested < MAX_NESTED;
    if (this.#open.length >= MAX_OPEN) return;
    if (counts) this.#nested++;
    this.#open.push({ name, from: counts ? this.#out.length : undefined });
  }

  #end(): void {
    const group = this.#open.pop();
    if (group?.from === undefined) return;
    this.#nested--;
    const { name, from } = group;
    const content = this.#out.splice(from).join('');
    if (WITHOUT_TEXT.has(name)) return;
    const [first = '', second = '', third = ''] = content.split(',', 5).map((part) => part.trim());
    // The node's name, unless the author specifies another text; an address and its text.
    if (CROSS_REFERENCES.has(name)) this.#out.push(third || second || first);
    else {
      if (name !== 'email' && first !== '' && this.#references.length < MAX_FIELDS)
        this.#references.push(first);
      this.#out.push(third || second || first);
    }
  }

  /** Groups end with their paragraph, so that an unclosed brace affects only that. */
  #blankLine(): void {
    this.#out.push('\n');
    this.#open = [];
    this.#nested = 0;
  }
}
