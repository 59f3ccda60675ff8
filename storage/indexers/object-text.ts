import { decodeText, type SoifObject } from '../../protocols/soif/index.js';
import { fold } from './words.js';

/** How a matcher wants to see text: with case or without, blanks as they are or every run of them as one blank. */
export const VIEW = { raw: 0, folded: 1, collapsed: 2, foldedCollapsed: 3 } as const;
export type View = (typeof VIEW)[keyof typeof VIEW];

/** White space within a line; phrases treat a run of it as one blank. */
const BLANKS = /[^\S\n]+/g;

/** Every run of white space within a line as one blank. */
export function collapse(text: string): string {
  return text.replace(BLANKS, ' ');
}

/** The text as `view` shows it. Line ends stay where they are, so line numbers agree between views. */
export function viewOf(text: string, view: View): string {
  const folded = (view & VIEW.folded) === 0 ? text : fold(text);
  return (view & VIEW.collapsed) === 0 ? folded : collapse(folded);
}

/** One attribute of an object while it is matched: decoded once, each view made when first asked for. */
export class AttributeText {
  readonly key: string;
  readonly #views: (string | undefined)[] = [];
  readonly #lines: (readonly string[] | undefined)[] = [];

  constructor(
    /** Name as the object spells it. */
    readonly name: string,
    readonly value: Uint8Array,
    /** What stands before the value on the first line of the SOIF text. */
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

  /** The lines of the value, without line ends; the end of the last line starts no other one. */
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
