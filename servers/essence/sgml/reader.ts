import { replaceEntities } from './entities.js';
import { indexAfter, type Prolog } from './prolog.js';

/** The events of a document; names as written. */
export interface SgmlEvents {
  /** Open elements. */
  readonly depth: number;
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  text(data: string): void;
  close(): void;
}

const NAME = /[A-Za-z_\u0080-\uffff][\w.:\u0080-\uffff-]*/y;
const ATTRIBUTE =
  /\s*([A-Za-z_\u0080-\uffff][\w.:\u0080-\uffff-]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+)))?/y;
const END_TAG = /<\/([A-Za-z_\u0080-\uffff][\w.:\u0080-\uffff-]*)/g;

/** Tags between two looks at the time. */
const STEPS_PER_LOOK = 256;
/** Maximum number of attributes of one element. */
const MAX_ATTRIBUTES = 1000;

/**
 * Reads an XML document, or an SGML document without its DTD, as a stream of events (E-87), in linear time. It
 * is tolerant: an end tag closes the elements that are open inside its own, an unmatched one is ignored. In
 * SGML, end tags can be omitted: an element ends where the next one of its name begins, and one whose name has
 * no end tag in the document ends where another such element begins. Entities are those that the document
 * declares, and those of ISO and HTML.
 *
 * @param maxDepth reading stops at more open elements than this
 * @param isOutOfTime reading stops as if the document ended there
 * @returns false if it stopped at the depth
 */
export function readMarkupEvents(
  text: string,
  prolog: Prolog,
  events: SgmlEvents,
  maxDepth: number,
  isOutOfTime: () => boolean = () => false,
): boolean {
  const reader = new MarkupReader(text, prolog, events);
  for (let steps = 1; reader.step(); steps++) {
    if (events.depth > maxDepth) return false;
    if (steps % STEPS_PER_LOOK === 0 && isOutOfTime()) return true;
  }
  return true;
}

class MarkupReader {
  readonly #text: string;
  readonly #prolog: Prolog;
  readonly #events: SgmlEvents;
  /** Names of the open elements, and the number of each. */
  readonly #open: string[] = [];
  readonly #counts = new Map<string, number>();
  /** SGML: the names that have an end tag in the document. */
  readonly #ended = new Set<string>();
  #index: number;

  constructor(text: string, prolog: Prolog, events: SgmlEvents) {
    this.#text = text;
    this.#prolog = prolog;
    this.#events = events;
    this.#index = prolog.end;
    if (!prolog.isXml) for (const [, name] of text.matchAll(END_TAG)) this.#ended.add(this.#fold(name!));
  }

  /** Reads one tag and the text before it; returns false at the end of the document. */
  step(): boolean {
    const text = this.#text;
    const start = this.#index;
    if (start >= text.length) return false;
    let tag = text.indexOf('<', start);
    // A `<` that begins no markup is a character.
    while (tag >= 0 && !/[A-Za-z_\u0080-\uffff/!?>]/.test(text[tag + 1] ?? '')) {
      tag = text.indexOf('<', tag + 1);
    }
    if (tag < 0) tag = text.length;
    if (tag > start) this.#events.text(this.#entities(text.slice(start, tag)));
    this.#index = tag;
    if (tag < text.length) this.#markup(tag);
    return true;
  }

  #markup(index: number): void {
    const text = this.#text;
    if (text.startsWith('<!--', index)) this.#index = indexAfter(text, '-->', index + 4);
    else if (text.startsWith('<![CDATA[', index)) {
      this.#index = indexAfter(text, ']]>', index + 9);
      const end = text.endsWith(']]>', this.#index) ? this.#index - 3 : this.#index;
      if (end > index + 9) this.#events.text(text.slice(index + 9, end));
    } else if (text.startsWith('<!', index)) this.#index = indexAfter(text, '>', index + 2);
    else if (text.startsWith('<?', index))
      this.#index = indexAfter(text, this.#prolog.isXml ? '?>' : '>', index + 2);
    else if (text.startsWith('</', index)) this.#endTag(index);
    else this.#startTag(index);
  }

  /** `</>` ends the innermost element. */
  #endTag(index: number): void {
    NAME.lastIndex = index + 2;
    const name = NAME.exec(this.#text)?.[0];
    this.#index = indexAfter(this.#text, '>', index + 2);
    if (name === undefined) {
      if (this.#open.length > 0) this.#close();
      return;
    }
    const folded = this.#fold(name);
    if ((this.#counts.get(folded) ?? 0) === 0) return;
    while (this.#open.at(-1) !== folded) this.#close();
    this.#close();
  }

  #startTag(index: number): void {
    const text = this.#text;
    NAME.lastIndex = index + 1;
    const name = NAME.exec(text)?.[0];
    if (name === undefined) {
      // `<>`, which repeats the last tag in SGML, is not supported.
      this.#index = index + 2;
      return;
    }
    const attributes = new Map<string, string>();
    let end = index + 1 + name.length;
    for (;;) {
      ATTRIBUTE.lastIndex = end;
      const found = ATTRIBUTE.exec(text);
      if (found === null) break;
      const [, key, double, single, bare] = found;
      if (attributes.size < MAX_ATTRIBUTES && !attributes.has(key!)) {
        attributes.set(key!, this.#entities(double ?? single ?? bare?.replace(/\/$/, '') ?? key!));
      }
      end = ATTRIBUTE.lastIndex;
    }
    const closing = indexAfter(text, '>', end);
    const isEmpty = text[closing - 2] === '/' && closing > end;
    this.#index = closing;
    const folded = this.#fold(name);
    if (!this.#prolog.isXml) this.#endImplied(folded);
    this.#open.push(folded);
    this.#counts.set(folded, (this.#counts.get(folded) ?? 0) + 1);
    this.#events.open(name, Object.fromEntries(attributes));
    if (isEmpty) this.#close();
  }

  #endImplied(name: string): void {
    const top = this.#open.at(-1);
    if (top === undefined || this.#open.length === 1) return;
    if (top === name || (!this.#ended.has(top) && !this.#ended.has(name))) this.#close();
  }

  #close(): void {
    const name = this.#open.pop();
    if (name === undefined) return;
    this.#counts.set(name, (this.#counts.get(name) ?? 1) - 1);
    this.#events.close();
  }

  /** E-94: SGML folds names; XML does not. */
  #fold(name: string): string {
    return this.#prolog.isXml ? name : name.toLowerCase();
  }

  #entities(text: string): string {
    return replaceEntities(text, this.#prolog.entities);
  }
}
