import type { SourceDocument, Summary } from '../../document.js';
import { readProlog } from '../../sgml/prolog.js';
import { readMarkupEvents, type SgmlEvents } from '../../sgml/reader.js';
import { boundedSource, guarded, oneLine } from '../extracted.js';
import { Outline } from '../markup/outline.js';
import {
  type ElementRule,
  FAMILY_NAMES,
  GIVEN_NAMES,
  INFO_ELEMENTS,
  ruleAt,
  VOCABULARIES,
  type Vocabulary,
  WHOLE_NAMES,
} from './vocabularies.js';

/** Characters of a document that are read: books have pictures in them. */
const MAX_CHARACTERS = 32 * 1024 * 1024;
/** Maximum length of a value, and of an entity that the document declares, in characters. */
const MAX_VALUE = 20_000;
const MAX_ENTITY = 100;
/** Maximum number of values of one attribute, and of parts of one name. */
const MAX_VALUES = 2000;
const MAX_PARTS = 10;
/** Maximum length of one paragraph, in characters. */
const MAX_BLOCK = 1024 * 1024;

/**
 * DocBook, JATS, FB2, TEI: the fields of their headers, headings, links; the Text rule (E-73) on the running
 * text.
 */
export function summarizeXmlDocument(document: SourceDocument, type: string): Summary {
  const vocabulary = VOCABULARIES.get(type);
  if (vocabulary === undefined) return { attributes: [] };
  const outline = new Outline(document.settings.maxObjectBytes);
  const walk = new DocumentWalk(vocabulary, outline);
  const text = boundedSource(document, `${type} document`, MAX_CHARACTERS);
  const prolog = readProlog(text);
  // DocBook and TEI without an XML declaration and without a namespace are SGML, in which tags may be omitted.
  const isXml =
    prolog.isXml ||
    type === 'FB2' ||
    type === 'JATS' ||
    /\sxmlns=/.test(text.slice(prolog.end, prolog.end + 1000));
  // A reference is shorter than its text: long texts would multiply the document.
  const entities = new Map([...prolog.entities].filter(([, value]) => value.length <= MAX_ENTITY));
  const { maxHtmlDepth } = document.settings;
  const isWhole = guarded(document, type, true, () =>
    readMarkupEvents(text, { ...prolog, isXml, entities }, walk, maxHtmlDepth, document.isOutOfTime),
  );
  if (!isWhole) document.warn(`nested deeper than ${maxHtmlDepth} elements: the rest is not read`);
  walk.end();
  const summary = outline.summary(document);
  return {
    ...summary,
    attributes: [...walk.more(), ...summary.attributes],
    ...(walk.abstract === '' ? {} : { description: walk.abstract }),
  };
}

/** The value that is being read. */
interface Capture {
  readonly rule: ElementRule;
  /** Number of elements outside of it. */
  readonly depth: number;
  text: string;
  /** A word follows an element that ended a word. */
  isApart: boolean;
  /** Parts of a name or date. */
  readonly parts: Map<string, string[]>;
}

/** A part of a name or date that is being read. */
interface Part {
  readonly kind: string;
  readonly depth: number;
  text: string;
}

class DocumentWalk implements SgmlEvents {
  readonly #vocabulary: Vocabulary;
  readonly #outline: Outline;
  readonly #open: string[] = [];
  /** The rules of the open elements. */
  readonly #rules: (ElementRule | undefined)[] = [];
  /** Values of the attributes that the outline does not have: Abstract, Journal, Language, References. */
  readonly #values = new Map<string, string[]>();
  #capture: Capture | undefined;
  #part: Part | undefined;
  #skipDepth = -1;
  #verbatimDepth = -1;
  #parts: string[] = [];
  #length = 0;

  constructor(vocabulary: Vocabulary, outline: Outline) {
    this.#vocabulary = vocabulary;
    this.#outline = outline;
  }

  get depth(): number {
    return this.#open.length;
  }

  get abstract(): string {
    return this.#values.get('Abstract')?.[0] ?? '';
  }

  /** The attributes that the outline does not have. */
  more(): readonly (readonly [string, string])[] {
    return Array.from(this.#values, ([name, values]) => [name, values.join('\n')] as const);
  }

  open(written: string, attributes: Readonly<Record<string, string>>): void {
    const depth = this.#open.length;
    const name = written.slice(written.indexOf(':') + 1).toLowerCase();
    this.#open.push(name);
    const isSkipped = this.#skipDepth >= 0;
    const rule = isSkipped ? undefined : ruleAt(this.#vocabulary, this.#open);
    this.#rules.push(rule);
    if (isSkipped) return;
    this.#references(name, attributes);
    const inside = this.#capture?.rule;
    if (inside?.kind === 'person') this.#openPart(nameKind(name), depth);
    else if (isDate(inside) && /^(?:year|month|day)$/.test(name)) this.#openPart(name, depth);
    else if (rule === undefined) return;
    else if (rule.kind === 'skip' || (rule.kind === 'person' && isNoAuthor(attributes)))
      this.#skipDepth = depth;
    else if (rule.kind === 'field' || rule.kind === 'person') {
      // A keyword within the list of keywords, for example.
      this.#endCapture();
      this.#begin(rule, depth);
      const machine = attributes.when ?? attributes.value ?? attributes['iso-8601-date'];
      if (isDate(rule) && machine !== undefined) this.#outline.field('Date', machine);
    } else if (this.#capture !== undefined) this.#capture.isApart = true;
    else if (rule.kind === 'heading') this.#begin(rule, depth);
    else {
      this.#flush();
      if (rule.verbatim === true && this.#verbatimDepth < 0) this.#verbatimDepth = depth;
    }
  }

  text(written: string): void {
    if (this.#skipDepth >= 0) return;
    // An entity that the document does not declare itself usually is a name, as `&kde;`.
    const data = written.includes('&') ? written.replace(/&([A-Za-z][\w.-]{0,60});/g, '$1') : written;
    const capture = this.#capture;
    if (this.#part !== undefined) {
      if (this.#part.text.length < MAX_VALUE) this.#part.text += data.slice(0, MAX_VALUE);
    } else if (capture !== undefined) {
      // The address of a person is no part of the name.
      if (capture.rule.kind === 'person' && this.#open.length > capture.depth + 1) return;
      if (capture.text.length > MAX_VALUE) return;
      const blank = capture.isApart && /^[\p{L}\p{N}]/u.test(data) ? ' ' : '';
      capture.isApart = false;
      capture.text += blank + data.slice(0, MAX_VALUE);
    } else if (!this.#outline.isFull) {
      this.#parts.push(data);
      this.#length += data.length;
      if (this.#length > MAX_BLOCK) this.#flush();
    }
  }

  close(): void {
    this.#open.pop();
    const rule = this.#rules.pop();
    const depth = this.#open.length;
    if (this.#skipDepth >= 0) {
      if (depth === this.#skipDepth) this.#skipDepth = -1;
      return;
    }
    if (this.#part?.depth === depth) this.#endPart();
    const capture = this.#capture;
    if (capture?.depth === depth) this.#endCapture();
    else if (capture !== undefined) {
      capture.isApart ||=
        rule?.kind === 'block' || rule?.kind === 'heading' || isNamed(capture.rule, 'References');
    } else if (rule?.kind === 'block') this.#flush();
    if (this.#verbatimDepth === depth) this.#verbatimDepth = -1;
  }

  /** Ends what the document has left open. */
  end(): void {
    this.#endCapture();
    this.#flush();
  }

  #references(name: string, attributes: Readonly<Record<string, string>>): void {
    const find = (names: readonly string[] | undefined) =>
      names?.map((key) => attributes[key]).find((value) => value !== undefined);
    const link = find(this.#vocabulary.links.get(name));
    if (link !== undefined) this.#outline.link(link);
    const image = find(this.#vocabulary.images.get(name));
    if (image !== undefined) this.#outline.image(image);
  }

  #begin(rule: ElementRule, depth: number): void {
    this.#flush();
    this.#capture = { rule, depth, text: '', isApart: false, parts: new Map() };
  }

  /** A name in one piece may contain its parts, which then replace it. */
  #openPart(kind: string | undefined, depth: number): void {
    if (kind === undefined || (this.#part !== undefined && this.#part.kind !== 'whole')) return;
    this.#part = { kind, depth, text: '' };
  }

  #endPart(): void {
    const { kind, text } = this.#part!;
    this.#part = undefined;
    const value = oneLine(text);
    const values = this.#capture?.parts.get(kind) ?? [];
    if (value !== '' && values.length < MAX_PARTS) values.push(value);
    this.#capture?.parts.set(kind, values);
  }

  #endCapture(): void {
    const capture = this.#capture;
    if (capture === undefined) return;
    this.#capture = undefined;
    this.#part = undefined;
    const { rule, parts } = capture;
    const text = oneLine(capture.text);
    const partsOf = (...kinds: readonly string[]) => kinds.flatMap((kind) => parts.get(kind) ?? []);
    if (rule.kind === 'heading') {
      if (this.#isOfDocument(capture.depth)) {
        if (!this.#outline.has('Title')) this.#outline.field('Title', text);
        this.#outline.heading(text, 1);
      } else this.#outline.heading(text, 2);
      this.#outline.text(text);
    } else if (rule.kind === 'person') {
      const name = partsOf('given', 'family');
      this.#outline.field('Author', name.length > 0 ? name.join(' ') : (partsOf('whole')[0] ?? text));
    } else if (rule.kind === 'field') {
      const [year, month, day] = partsOf('year', 'month', 'day');
      const date = [year, month?.padStart(2, '0'), day?.padStart(2, '0')].filter((one) => one !== undefined);
      this.#field(rule.attribute, isDate(rule) && year !== undefined ? date.join('-') : text);
    }
  }

  #field(attribute: string, value: string): void {
    if (attribute === 'Keywords') for (const one of value.split(/[,;]/)) this.#outline.field(attribute, one);
    else if (attribute === 'Title' || attribute === 'Author' || attribute === 'Date') {
      this.#outline.field(attribute, value);
    } else if (value !== '') {
      const values = this.#values.get(attribute) ?? [];
      if (values.length < MAX_VALUES && (attribute === 'References' || values.length === 0))
        values.push(value);
      this.#values.set(attribute, values);
    }
  }

  /** Whether an element outside of which there are `depth` others states the title of the whole document. */
  #isOfDocument(depth: number): boolean {
    return depth === 1 || (depth === 2 && INFO_ELEMENTS.has(this.#open[1] ?? ''));
  }

  #flush(): void {
    if (this.#parts.length === 0) return;
    const text = this.#parts.join('');
    this.#parts = [];
    this.#length = 0;
    if (this.#verbatimDepth >= 0) this.#outline.text(text);
    else this.#outline.paragraph(oneLine(text));
  }
}

function nameKind(name: string): string | undefined {
  if (GIVEN_NAMES.has(name)) return 'given';
  if (FAMILY_NAMES.has(name)) return 'family';
  return WHOLE_NAMES.has(name) ? 'whole' : undefined;
}

function isNamed(rule: ElementRule | undefined, attribute: string): boolean {
  return rule?.kind === 'field' && rule.attribute === attribute;
}

function isDate(rule: ElementRule | undefined): boolean {
  return isNamed(rule, 'Date');
}

/** JATS: editors and reviewers are contributors, too. */
function isNoAuthor(attributes: Readonly<Record<string, string>>): boolean {
  const type = attributes['contrib-type'];
  return type !== undefined && type !== 'author';
}
