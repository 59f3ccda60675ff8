// The attributes of an object as texts for matching: case folded or not, white space collapsed or not.
import { decodeText, type SoifObject } from '../../../protocols/soif/index.js';
import { fold } from './words.js';

/** Views of a text: case kept or folded, blanks kept or every run of them collapsed into one. */
export const VIEW = { raw: 0, folded: 1, collapsed: 2, foldedCollapsed: 3 } as const;
export type View = (typeof VIEW)[keyof typeof VIEW];

/** A run of white space within a line, which phrases treat as one blank. */
const BLANKS = /[^\S\n]+/g;

/** Replaces every run of white space within a line by one blank. */
export function collapse(text: string): string {
  return text.replace(BLANKS, ' ');
}

/** Converts a text to a view. Line ends are kept, so line numbers agree between views. */
export function viewOf(text: string, view: View): string {
  const folded = (view & VIEW.folded) === 0 ? text : fold(text);
  return (view & VIEW.collapsed) === 0 ? folded : collapse(folded);
}

/** One attribute of an object during matching. The value is decoded once; each view is made on first use. */
export class AttributeText {
  readonly key: string;
  readonly #views: (string | undefined)[] = [];
  readonly #lines: (readonly string[] | undefined)[] = [];

  constructor(
    /** Name as the object spells it. */
    readonly name: string,
    readonly value: Uint8Array,
    /** Text before the value on the first line of the SOIF text. */
    readonly lead: string,
  ) {
    this.key = name.toLowerCase();
  }

  text(view: View): string {
    let text = this.#views[view];
    if (text === undefined) {
      text = view === VIEW.raw ? decodeLines(this.value) : viewOf(this.text(VIEW.raw), view);
      this.#views[view] = text;
    }
    return text;
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

/** The searchable text of an object: its header line as attribute `url` (BRK-2.18), then its attributes. */
export function attributeTexts(object: SoifObject): AttributeText[] {
  const texts = [new AttributeText('url', object.urlBytes, `@${object.type} { `)];
  for (let i = 0; i < object.size; i++) {
    const name = object.nameAt(i);
    texts.push(new AttributeText(name, object.valueAt(i), `${name}{${object.valueLengthAt(i)}}:\t`));
  }
  return texts;
}

function decodeLines(value: Uint8Array): string {
  const text = decodeText(value);
  return text.includes('\r') ? text.replaceAll('\r\n', '\n') : text;
}
