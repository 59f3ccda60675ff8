// The attributes of an object as texts for matching: case folded or not, white space collapsed or not.

import { lettersOf, normalize, onlyParts } from '../../../protocols/broker/index.js';
import { decodeText, type SoifObject } from '../../../protocols/soif/index.js';
import { fileNameOf, isContent } from './scope.js';
import { BREAK, fold, isWordAt, isWordBefore, withoutHyphens } from './words.js';

/**
 * Views of a normalized text, by bits: case folded; runs of blanks as one blank; hyphens between the parts of words as
 * blanks; letters without accents; only the parts of identifiers.
 */
export const VIEW = { plain: 0, folded: 1, collapsed: 2, phrase: 6, letters: 8, parts: 16 } as const;
export type View = number;

const HYPHENS = VIEW.phrase - VIEW.collapsed;

/**
 * A run of white space within a line, which phrases treat as one blank, unless it is one; a no-break space of no width
 * does not count.
 */
const BLANKS = / [^\S\n\ufeff]+|[^\S\n\ufeff ][^\S\n\ufeff]*/g;

/** Replaces every run of white space within a line by one blank. */
export function collapse(text: string): string {
  return text.replace(BLANKS, ' ');
}

/** Converts a text to a view. Line ends are kept, so line numbers agree between views. */
export function viewOf(text: string, view: View): string {
  return viewOfPlain(normalize(text), view);
}

function viewOfPlain(plain: string, view: View): string {
  const has = (bit: number) => (view & bit) !== 0;
  let shown = plain;
  if (has(VIEW.parts)) shown = onlyParts(shown, BREAK);
  if (has(VIEW.folded)) shown = fold(shown);
  if (has(VIEW.letters)) shown = lettersOf(shown);
  if (has(HYPHENS)) shown = withoutHyphens(shown);
  return has(VIEW.collapsed) ? collapse(shown) : shown;
}

/** One attribute of an object during matching. The value is decoded once; each view is made on first use. */
export class AttributeText {
  readonly key: string;
  readonly #views: (string | undefined)[] = [];
  readonly #lines: (readonly string[] | undefined)[] = [];
  #raw: string | undefined;

  constructor(
    /** Name as the object spells it. */
    readonly name: string,
    readonly value: Uint8Array,
    /** Text before the value on the first line of the SOIF text. */
    readonly lead: string,
    /** The text to search, if it is not the value: it stands for the first line of the value. */
    readonly searched?: string,
  ) {
    this.key = name.toLowerCase();
  }

  /** Whether a term searches it: a tag names its attribute, and a request can ask for the content alone. */
  isFor({ attribute, contentOnly }: { readonly attribute?: string; readonly contentOnly: boolean }): boolean {
    if (attribute !== undefined || !contentOnly)
      return this.searched === undefined && (attribute === undefined || attribute === this.key);
    return this.searched !== undefined || isContent(this.key);
  }

  /** The value as it is stored. */
  get raw(): string {
    this.#raw ??= decodeLines(this.value);
    return this.#raw;
  }

  text(view: View): string {
    let text = this.#views[view];
    if (text === undefined) {
      // Every view begins with the plain one.
      text =
        view === VIEW.plain ? normalize(this.searched ?? this.raw) : viewOfPlain(this.text(VIEW.plain), view);
      this.#views[view] = text;
    }
    return text;
  }

  /**
   * The parts of its identifiers, in a view with `VIEW.parts`, of those lines that can have all of some words as such
   * parts; the other lines are empty. Most have none of them within a longer word: they are not taken apart.
   *
   * @param words as they are in the view
   */
  parts(view: View, [first, ...others]: readonly [string, ...string[]]): string {
    const whole = this.text(view & ~VIEW.parts);
    const plain = this.text(VIEW.plain);
    let found = '';
    let start = 0;
    let plainStart = 0;
    for (let at = indexWithinWord(whole, first, 0); at >= 0; at = indexWithinWord(whole, first, start)) {
      let end = lineEnd(whole, start);
      for (; end < at; end = lineEnd(whole, start)) {
        start = end + 1;
        plainStart = lineEnd(plain, plainStart) + 1;
        found += '\n';
      }
      const plainEnd = lineEnd(plain, plainStart);
      const line = whole.slice(start, end);
      if (others.every((word) => indexWithinWord(line, word, 0) >= 0))
        found += viewOfPlain(plain.slice(plainStart, plainEnd), view);
      if (end === whole.length) break;
      start = end + 1;
      plainStart = plainEnd + 1;
      found += '\n';
    }
    return found;
  }

  /** The lines of the value, without line ends; a final line end does not start another line. */
  lines(view: View): readonly string[] {
    let lines = this.#lines[view];
    if (lines === undefined) {
      const text = this.text(view);
      lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
      this.#lines[view] = lines;
    }
    return lines;
  }
}

/**
 * The searchable text of an object: its header line as attribute `url` (BRK-2.18), the file name in it, which content has
 * of it, then its attributes.
 */
export function attributeTexts(object: SoifObject): AttributeText[] {
  const lead = `@${object.type} { `;
  const texts = [
    new AttributeText('url', object.urlBytes, lead),
    new AttributeText('url', object.urlBytes, lead, fileNameOf(decodeText(object.urlBytes))),
  ];
  for (let i = 0; i < object.size; i++) {
    const name = object.nameAt(i);
    texts.push(new AttributeText(name, object.valueAt(i), `${name}{${object.valueLengthAt(i)}}:\t`));
  }
  return texts;
}

/** Offset of the next occurrence of a word as a part of a longer one; -1 without one. */
function indexWithinWord(text: string, word: string, from: number): number {
  for (let offset = text.indexOf(word, from); offset >= 0; offset = text.indexOf(word, offset + 1))
    if (isWordBefore(text, offset) || isWordAt(text, offset + word.length)) return offset;
  return -1;
}

function lineEnd(text: string, start: number): number {
  const end = text.indexOf('\n', start);
  return end < 0 ? text.length : end;
}

function decodeLines(value: Uint8Array): string {
  const text = decodeText(value);
  return text.includes('\r') ? text.replaceAll('\r\n', '\n') : text;
}
