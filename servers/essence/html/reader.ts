import { isLetter } from '../../../protocols/ascii.js';
import { decodeReferences } from './character-references.js';
import { type PlannedTag, type Tag, TagNames, type TagTable } from './tags.js';

/** Values of the requested attributes by lower-case name; the first of repeated ones. */
export type TagAttributes = Readonly<Record<string, string>>;

/**
 * Receives the elements and the text of a page. Every element that is opened is closed, also without an end
 * tag.
 */
export interface HtmlHandler<Plan extends PlannedTag> {
  open(tag: Tag<Plan>, attributes: TagAttributes): void;
  /**
   * Text from `start` to `end` of `source`, character references replaced; the text between two tags may arrive
   * in several calls.
   */
  text(source: string, start: number, end: number): void;
  close(tag: Tag<Plan>): void;
}

const TAB = 0x09;
const NEWLINE = 0x0a;
const FORM_FEED = 0x0c;
const RETURN = 0x0d;
const BLANK = 0x20;
const BANG = 0x21;
const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const DASH = 0x2d;
const SLASH = 0x2f;
const EQUALS = 0x3d;
const GREATER = 0x3e;
const QUESTION = 0x3f;
const BRACKET = 0x5b;

/** Tags between two looks at the time. */
const TAGS_PER_LOOK = 256;

const NO_ATTRIBUTES: TagAttributes = Object.freeze({});

/**
 * Reads a whole page as tags and text, with the same events as htmlparser2's parser (omitted end tags,
 * comments, raw text, character references), in a third of its time: text is found by searching for `<`, and
 * attributes that are not requested are skipped. A tag that is cut off by the end of the page is dropped.
 *
 * @param maxDepth - reading stops at more open elements than this
 * @param isOutOfTime - reading stops as if the page ended there
 * @returns false if it stopped at the depth
 */
export function readHtml<Plan extends PlannedTag>(
  html: string,
  table: TagTable<Plan>,
  handler: HtmlHandler<Plan>,
  maxDepth = Number.POSITIVE_INFINITY,
  isOutOfTime: () => boolean = () => false,
): boolean {
  return new HtmlReader(html, table, handler).read(maxDepth, isOutOfTime);
}

class HtmlReader<Plan extends PlannedTag> {
  readonly #html: string;
  readonly #names: TagNames<Plan>;
  readonly #handler: HtmlHandler<Plan>;
  /** Open elements, the innermost last. */
  readonly #stack: Tag<Plan>[] = [];
  /**
   * Number of open elements by the id of their tag: the stack is not searched for an end tag without an open
   * element.
   */
  readonly #open: number[] = [];
  readonly #foreign: boolean[] = [];
  /** Index of the first character that has not been reported. */
  #from = 0;
  /** Index of the next `&`, searched for on demand. */
  #ampersand = -1;

  constructor(html: string, table: TagTable<Plan>, handler: HtmlHandler<Plan>) {
    this.#html = html;
    this.#names = new TagNames(table);
    this.#handler = handler;
  }

  read(maxDepth: number, isOutOfTime: () => boolean): boolean {
    const html = this.#html;
    const stack = this.#stack;
    let index = html.indexOf('<');
    for (let tags = 1; index >= 0 && stack.length <= maxDepth; tags++) {
      if (tags % TAGS_PER_LOOK === 0 && isOutOfTime()) {
        this.#from = html.length;
        break;
      }
      if (index > this.#from) this.#text(this.#from, index);
      this.#from = index;
      index = html.indexOf('<', this.#markup(index));
    }
    const whole = stack.length <= maxDepth;
    if (whole && this.#from < html.length) this.#text(this.#from, html.length);
    for (let tag = stack.pop(); tag !== undefined; tag = stack.pop()) this.#handler.close(tag);
    return whole;
  }

  /** Reads the markup at the `<` at `index`. Returns the index to search from; text continues at `#from`. */
  #markup(index: number): number {
    const html = this.#html;
    const c = html.charCodeAt(index + 1);
    if (isLetter(c)) return this.#startTag(index + 1);
    if (c === SLASH) return this.#endTag(index);
    if (c === BANG) return this.#declaration(index + 2);
    if (c === QUESTION) return this.#upTo('>', index + 2, index + 2);
    return index + 1;
  }

  /** Skips everything up to `end`. If it is missing, the text begins at `rest`. */
  #upTo(end: string, from: number, rest: number): number {
    const found = this.#html.indexOf(end, from);
    this.#from = found < 0 ? rest : found + end.length;
    return found < 0 ? this.#html.length : this.#from;
  }

  #declaration(start: number): number {
    const html = this.#html;
    const c = html.charCodeAt(start);
    // `<!-->` and `<!--->` are complete comments.
    if (c === DASH && html.charCodeAt(start + 1) === DASH) return this.#upTo('-->', start, html.length);
    if (c === DASH) return this.#upTo('>', start + 2, start);
    if (c === BRACKET && html.startsWith('CDATA[', start + 1)) {
      return this.#upTo(']]>', start + 7, html.length);
    }
    return this.#upTo('>', start + 1, start);
  }

  #endTag(index: number): number {
    const html = this.#html;
    let start = index + 2;
    while (isWhite(html.charCodeAt(start))) start++;
    const c = html.charCodeAt(start);
    // `</>` is text.
    if (c === GREATER) return start + 1;
    if (!isLetter(c)) return start < html.length ? this.#upTo('>', start + 1, start) : start;
    let end = start + 1;
    for (let d = html.charCodeAt(end); d !== GREATER && !isWhite(d); d = html.charCodeAt(end)) {
      if (end >= html.length) return this.#cutOff();
      end++;
    }
    this.#close(this.#names.get(html.slice(start, end)));
    return this.#upTo('>', end, html.length);
  }

  /** Drops a tag that the end of the page cuts off. */
  #cutOff(): number {
    this.#from = this.#html.length;
    return this.#from;
  }

  #startTag(start: number): number {
    const html = this.#html;
    let index = start + 1;
    let c = html.charCodeAt(index);
    while (c !== GREATER && c !== SLASH && !isWhite(c)) {
      if (index >= html.length) return this.#cutOff();
      c = html.charCodeAt(++index);
    }
    const tag = this.#names.get(html.slice(start, index));
    const { attributeNames } = tag;
    let attributes: Record<string, string> | undefined;
    let closed = false;
    for (;;) {
      if (c === GREATER) break;
      if (index >= html.length) return this.#cutOff();
      if (c === SLASH) {
        index = this.#skipWhite(index + 1);
        c = html.charCodeAt(index);
        closed = c === GREATER;
        continue;
      }
      if (isWhite(c)) {
        c = html.charCodeAt(++index);
        continue;
      }
      const nameStart = index;
      c = html.charCodeAt(++index);
      while (c !== EQUALS && c !== GREATER && c !== SLASH && !isWhite(c)) {
        if (index >= html.length) return this.#cutOff();
        c = html.charCodeAt(++index);
      }
      const nameEnd = index;
      let valueStart = index;
      let valueEnd = index;
      index = this.#skipWhite(index);
      if (html.charCodeAt(index) === EQUALS) {
        index = this.#skipWhite(index + 1);
        c = html.charCodeAt(index);
        if (c === QUOTE || c === APOSTROPHE) {
          valueStart = index + 1;
          valueEnd = html.indexOf(c === QUOTE ? '"' : "'", valueStart);
          if (valueEnd < 0) return this.#cutOff();
          index = valueEnd + 1;
        } else {
          valueStart = index;
          while (c !== GREATER && !isWhite(c)) {
            if (index >= html.length) return this.#cutOff();
            c = html.charCodeAt(++index);
          }
          valueEnd = index;
        }
      }
      c = html.charCodeAt(index);
      if (attributeNames === undefined) continue;
      const name = html.slice(nameStart, nameEnd).toLowerCase();
      if (!attributeNames.has(name)) continue;
      attributes ??= {};
      if (!Object.hasOwn(attributes, name)) attributes[name] = this.#value(valueStart, valueEnd);
    }
    this.#from = index + 1;
    this.#begin(tag, attributes ?? NO_ATTRIBUTES);
    if (closed) {
      // Only foreign elements can be self-closing.
      if (!tag.isVoid && this.#foreign[this.#foreign.length - 1] === true) this.#pop();
    } else if (tag.isRaw) return this.#rawText(tag);
    return this.#from;
  }

  #skipWhite(index: number): number {
    let next = index;
    while (isWhite(this.#html.charCodeAt(next))) next++;
    return next;
  }

  #value(start: number, end: number): string {
    const index = this.#nextAmpersand(start);
    if (index >= end) return this.#html.slice(start, end);
    return decodeReferences(this.#html, start, end, index, true);
  }

  /** Returns the index of the first `&` at or after `start`; the page's length if no `&` follows. */
  #nextAmpersand(start: number): number {
    if (this.#ampersand < start) {
      const found = this.#html.indexOf('&', start);
      this.#ampersand = found < 0 ? this.#html.length : found;
    }
    return this.#ampersand;
  }

  #text(start: number, end: number, isText?: (index: number) => boolean): void {
    const index = this.#nextAmpersand(start);
    if (index >= end) {
      this.#handler.text(this.#html, start, end);
      return;
    }
    const decoded = decodeReferences(this.#html, start, end, index, false, isText);
    this.#handler.text(decoded, 0, decoded.length);
  }

  #begin(tag: Tag<Plan>, attributes: TagAttributes): void {
    const { ends } = tag;
    const stack = this.#stack;
    if (ends !== undefined) while (stack.length > 0 && ends.has(stack[stack.length - 1]!.name)) this.#pop();
    if (tag.isVoid) {
      this.#handler.open(tag, attributes);
      this.#handler.close(tag);
      return;
    }
    stack.push(tag);
    this.#open[tag.id] = (this.#open[tag.id] ?? 0) + 1;
    if (tag.foreign !== undefined) this.#foreign.push(tag.foreign);
    this.#handler.open(tag, attributes);
  }

  #pop(): void {
    const tag = this.#stack.pop()!;
    this.#open[tag.id]!--;
    this.#handler.close(tag);
  }

  /** An end tag closes all open elements inside its own. */
  #close(tag: Tag<Plan>): void {
    if (tag.foreign !== undefined) this.#foreign.pop();
    if ((this.#open[tag.id] ?? 0) > 0) {
      while (this.#stack[this.#stack.length - 1] !== tag) this.#pop();
      this.#pop();
    } else if (tag.name === 'br') {
      this.#begin(tag, NO_ATTRIBUTES);
    } else if (tag.name === 'p') {
      this.#begin(tag, NO_ATTRIBUTES);
      this.#pop();
    }
  }

  /** Reads text up to the element's end tag; only TITLE has character references. */
  #rawText(tag: Tag<Plan>): number {
    const html = this.#html;
    const start = this.#from;
    let end = html.indexOf('</', start);
    let after = html.length;
    for (; end >= 0; end = html.indexOf('</', end + 2)) {
      after = end + 2 + tag.name.length;
      const c = html.charCodeAt(after);
      if ((c === GREATER || isWhite(c)) && html.slice(end + 2, after).toLowerCase() === tag.name) break;
    }
    const textEnd = end < 0 ? html.length : end;
    if (textEnd > start) {
      if (tag.name === 'title') this.#text(start, textEnd, (index) => this.#isInsideEnd(index, start));
      else this.#handler.text(html, start, textEnd);
    }
    if (end < 0) return this.#cutOff();
    this.#close(tag);
    return this.#upTo('>', after, html.length);
  }

  /** In a TITLE, an `&` after what may become its end tag is plain text. */
  #isInsideEnd(index: number, start: number): boolean {
    const before = this.#html.slice(Math.max(start, index - '</titl'.length), index).toLowerCase();
    const open = before.lastIndexOf('<');
    return open >= 0 && '</titl'.startsWith(before.slice(open));
  }
}

function isWhite(c: number): boolean {
  return c === BLANK || c === NEWLINE || c === TAB || c === RETURN || c === FORM_FEED;
}
