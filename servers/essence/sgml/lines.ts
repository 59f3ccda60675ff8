import { wordSet } from '../word-tables.js';
import type { TagMapping, ValueMapping } from './table.js';

/** Attributes with a URL: their values are made absolute (E-99). */
const URL_ATTRIBUTES = wordSet('href src action background cite data longdesc poster url');

/** Attributes with a document's running text; only the size of the object limits them. */
const RUNNING_TEXT = new Set(['body', 'full-text', 'partial-text', 'head', 'navigation']);

/** Options of an extraction. */
export interface ExtractionOptions {
  /** Maximum length of an attribute without running text, in characters; the last line may exceed it. */
  readonly maxAttributeLength: number;
  /** Maximum length of an attribute with running text, in characters. */
  readonly maxObjectBytes: number;
  /**
   * Maximum number of attributes with different names. One more is kept, so that the assembly of the object
   * sees that there are more.
   */
  readonly maxAttributes: number;
  /** E-99: makes a reference absolute; returns undefined to omit it. Default: as written. */
  readonly resolve?: (reference: string) => string | undefined;
}

/** SOIF attributes in order of their first line. */
export type ExtractedAttributes = readonly (readonly [name: string, value: string])[];

/** Maximum number of values of an attribute that only `?NAME` gives. */
const MAX_MISSING_VALUES = 200;

/** The value is a URL. */
const IS_URL = /^(?:https?:)?\/\//i;
/** Names of attributes that contain URLs. */
const URL_NAMES = /(?:url|references|uri|link)s?$/i;

/** The values of an attribute that only `?NAME` gives, by the first line of the table with a value. */
interface Missing {
  readonly name: string;
  readonly rank: number;
  readonly values: Set<string>;
}

interface Lines {
  readonly name: string;
  readonly limit: number;
  text: string;
}

/** Collects the attributes of an extraction: one line for each occurrence (E-95). */
export class AttributeLines {
  readonly #options: ExtractionOptions;
  readonly #lines = new Map<string, Lines>();
  readonly #missing = new Map<string, Missing>();

  constructor(options: ExtractionOptions) {
    this.#options = options;
  }

  /**
   * Adds the values of `<TAG:ATT> name`, `<TAG:ATT> ?name` and `<TAG:ATT1> $ATT2` (E-89), of a tag whose
   * attributes have lower-case names.
   *
   * @returns the text that `<TAG:ATT> parent` adds to the enclosing element; may be empty
   */
  addValues(mapping: TagMapping, attributes: Readonly<Record<string, string>>): string {
    let text = this.#addList(mapping.values, attributes);
    if (mapping.valuesWhen.size === 0) return text;
    // A loop instead of the generator, because pages have many META tags.
    mapping.valuesWhen.forEach((byValue, attribute) => {
      const value = attributes[attribute];
      const values = value === undefined ? undefined : byValue.get(value.trim().toLowerCase());
      if (values !== undefined) text += this.#addList(values, attributes);
    });
    return text;
  }

  #addList(values: readonly ValueMapping[], attributes: Readonly<Record<string, string>>): string {
    let text = '';
    for (const mapping of values) {
      const value = attributes[mapping.attribute];
      if (value === undefined) continue;
      if (mapping.kind === 'parent') text += `${text === '' ? '' : ' '}${value}`;
      else this.addValue(mapping, value, attributes);
    }
    return text;
  }

  /** Adds one value by a line of the table; `attributes` are those of the tag, for `$NAME`. */
  addValue(mapping: ValueMapping, value: string, attributes: Readonly<Record<string, string>>): void {
    const { resolve } = this.#options;
    const { attribute, target, kind, rank } = mapping;
    const name = kind === 'indirect' ? attributes[target] : target;
    if (name === undefined || name === '') return;
    const written =
      resolve !== undefined && URL_ATTRIBUTES.has(attribute)
        ? resolve(value)
        : value.replace(/\s+/g, ' ').trim();
    if (written === undefined) return;
    if (kind === 'missing') this.#addMissing(name, rank, written);
    else this.add(name, written);
  }

  /**
   * Keeps a value for an attribute that nothing else may give: the first line of the table counts, repetitions
   * once. Pages name an author or a publisher by the address of a profile, which is no name: a URL is kept only
   * by attributes for URLs.
   */
  #addMissing(name: string, rank: number, value: string): void {
    if (value === '' || (IS_URL.test(value) && !URL_NAMES.test(name))) return;
    const key = name.toLowerCase();
    const before = this.#missing.get(key);
    if (before === undefined || rank < before.rank) {
      if (before === undefined && this.#missing.size > this.#options.maxAttributes) return;
      this.#missing.set(key, { name, rank, values: new Set([value]) });
    } else if (rank === before.rank && before.values.size < MAX_MISSING_VALUES) before.values.add(value);
  }

  /** Adds a value (E-95): repetitions are kept, empty values ignored. */
  add(name: string, value: string): void {
    if (value === '') return;
    const key = name.toLowerCase();
    const lines = this.#lines.get(key);
    if (lines === undefined) {
      const { maxAttributeLength, maxObjectBytes, maxAttributes } = this.#options;
      if (this.#lines.size > maxAttributes) return;
      const limit = RUNNING_TEXT.has(key) ? maxObjectBytes : maxAttributeLength;
      this.#lines.set(key, { name, limit, text: value });
    } else if (lines.text.length < lines.limit) {
      lines.text += `\n${value}`;
    }
  }

  /** Whether the attribute has reached its limit. */
  isFull(name: string): boolean {
    const lines = this.#lines.get(name.toLowerCase());
    return lines !== undefined && lines.text.length >= lines.limit;
  }

  get attributes(): ExtractedAttributes {
    for (const [key, { name, values }] of this.#missing) {
      if (!this.#lines.has(key)) for (const value of values) this.add(name, value);
    }
    this.#missing.clear();
    return Array.from(this.#lines.values(), ({ name, text }) => [name, text] as const);
  }
}
