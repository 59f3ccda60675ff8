import { AttributeLines, type ExtractedAttributes, type ExtractionOptions } from './lines.js';
import { type ContentMapping, conditionalMapping, type ExtractionTable, type TagMapping } from './table.js';

/** White space other than a single blank: an expression that also matched those would match at every word. */
const COLLAPSIBLE = /[^\S ]\s*| \s+/g;

/** Separator between the previous text and the next. */
type Separator = 'nothing' | 'blank' | 'newline';

/** An open element whose content is mapped. */
interface Frame {
  readonly depth: number;
  readonly mapping: ContentMapping;
  /** Index of its first text fragment. */
  readonly start: number;
}

/**
 * The table engine for SGML and XML (E-88 to E-95): converts elements and text to attributes. The text is one
 * list of fragments; an open mapped element stores the index of its first one. At its end the fragments from
 * that index on are its content, and unless its mapping says `parent` they are removed from the list (E-92).
 * Text that is left at the root is dropped (E-93).
 *
 * Without a DTD it is unknown which elements begin a line (E-95): one that follows a tag directly or after a
 * line end does, one inside running text does not.
 */
export class Extraction {
  /** Open elements. */
  depth = 0;
  readonly #table: ExtractionTable;
  readonly #lines: AttributeLines;
  readonly #frames: Frame[] = [];
  readonly #pieces: string[] = [];
  #separator: Separator = 'nothing';
  /** True if only white space followed the last tag. */
  #betweenTags = true;
  /** Depth of the element whose content is ignored (E-91); 0 if none. */
  #ignoredDepth = 0;

  constructor(table: ExtractionTable, options: ExtractionOptions) {
    this.#table = table;
    this.#lines = new AttributeLines(options);
  }

  /**
   * Handles the start of an element. Names are compared in lower case and, for XML, also without their prefix
   * (E-94).
   */
  open(name: string, attributes: Readonly<Record<string, string>>): void {
    const depth = ++this.depth;
    if (this.#ignoredDepth > 0) return;
    // A start tag directly after another tag begins a line.
    if (this.#betweenTags) this.#separator = 'newline';
    this.#betweenTags = true;
    const mapping = this.#mappingOf(name.toLowerCase());
    if (mapping === undefined) return;
    const folded = foldNames(attributes);
    const chosen = conditionalMapping(mapping, folded);
    const value = chosen?.ignore === true ? '' : this.#lines.addValues(mapping, folded);
    if (value !== '') this.text(value);
    const content = chosen ?? mapping.content;
    if (content?.ignore === true) this.#ignoredDepth = depth;
    else if (content !== undefined)
      this.#frames.push({ depth, mapping: content, start: this.#pieces.length });
  }

  /** Adds text to the innermost element, entities replaced. */
  text(data: string): void {
    if (this.#ignoredDepth > 0) return;
    const text = data.replace(COLLAPSIBLE, ' ');
    if (text === '' || text === ' ') {
      if (text === ' ' && this.#separator === 'nothing') this.#separator = 'blank';
      if (this.#betweenTags && /[\r\n]/.test(data)) this.#separator = 'newline';
      else if (text !== '') this.#betweenTags = false;
      return;
    }
    const from = text.startsWith(' ') ? 1 : 0;
    const to = text.endsWith(' ') ? text.length - 1 : text.length;
    const separator =
      this.#separator === 'newline' ? '\n' : this.#separator === 'blank' || from > 0 ? ' ' : '';
    this.#pieces.push(separator + text.slice(from, to));
    this.#separator = to < text.length ? 'blank' : 'nothing';
    this.#betweenTags = false;
  }

  /** Handles the end of the innermost element. */
  close(): void {
    const depth = this.depth--;
    if (this.#ignoredDepth > 0) {
      if (depth > this.#ignoredDepth) return;
      this.#ignoredDepth = 0;
      if (this.#separator === 'nothing') this.#separator = 'blank';
    }
    const frame = this.#frames.at(-1);
    if (frame?.depth === depth) {
      this.#frames.pop();
      this.#end(frame);
    }
    this.#betweenTags = true;
  }

  /** Returns the attributes; ends the elements that are still open. */
  finish(): ExtractedAttributes {
    while (this.depth > 0) this.close();
    return this.#lines.attributes;
  }

  #mappingOf(name: string): TagMapping | undefined {
    const local = name.slice(name.indexOf(':') + 1);
    const known = this.#table.get(name) ?? this.#table.get(local);
    return known ?? (this.depth === 1 ? this.#table.get('*') : undefined);
  }

  #end({ mapping, start }: Frame): void {
    if (this.#pieces.length <= start) return;
    if (mapping.targets.some((target) => !this.#lines.isFull(target))) {
      const content = this.#pieces.slice(start).join('').trimStart();
      for (const target of mapping.targets) this.#lines.add(target, content);
    }
    if (mapping.parent) return;
    this.#pieces.length = start;
    if (this.#separator === 'nothing') this.#separator = 'blank';
  }
}

/** E-94: attributes by lower-case name; one with a prefix (`xlink:href`) also by its local name. */
function foldNames(attributes: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const folded = new Map<string, string>();
  for (const [name, value] of Object.entries(attributes)) {
    const key = name.toLowerCase();
    folded.set(key, value);
    const local = key.slice(key.indexOf(':') + 1);
    if (!folded.has(local)) folded.set(local, value);
  }
  return Object.fromEntries(folded);
}
