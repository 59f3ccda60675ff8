import { holds, type TagMapping } from './table.js';

/** Attributes that hold a URL: their values are made absolute (E-99). */
const URL_ATTRIBUTES = new Set('href src action background cite data longdesc poster url'.split(' '));

/** Attributes with a document's running text; only the size of the whole object limits them. */
const RUNNING_TEXT = new Set(['body', 'full-text', 'partial-text', 'head']);

/** Limits and manners of an extraction. */
export interface ExtractionOptions {
  /** Characters of an attribute that is no running text; one line more may stand behind them. */
  readonly maxAttributeLength: number;
  /** Characters of an attribute that is. */
  readonly maxObjectBytes: number;
  /** E-99: makes a reference absolute; undefined for what is none, which is left out. Absent: as written. */
  readonly resolve?: (reference: string) => string | undefined;
}

/** SOIF attributes in order of their first line. */
export type ExtractedAttributes = readonly (readonly [name: string, value: string])[];

interface Lines {
  readonly name: string;
  readonly limit: number;
  text: string;
}

/** The attributes that an extraction has found so far: one line for each occurrence (E-95). */
export class AttributeLines {
  readonly #options: ExtractionOptions;
  readonly #lines = new Map<string, Lines>();

  constructor(options: ExtractionOptions) {
    this.#options = options;
  }

  /** `<TAG:ATT> name` and `<TAG:ATT1> $ATT2` (E-89), of a tag whose attributes have lower-case names. */
  takeValues(mapping: TagMapping, attributes: Readonly<Record<string, string>>): void {
    const { resolve } = this.#options;
    for (const { when, attribute, target, indirect } of mapping.values) {
      const value = attributes[attribute];
      if (value === undefined || (when !== undefined && !holds(when, attributes))) continue;
      const name = indirect ? attributes[target] : target;
      if (name === undefined || name === '') continue;
      if (resolve !== undefined && URL_ATTRIBUTES.has(attribute)) {
        const url = resolve(value);
        if (url !== undefined) this.add(name, url);
      } else {
        this.add(name, value.replace(/\s+/g, ' ').trim());
      }
    }
  }

  /** E-95: repetitions are kept. An empty value is none. */
  add(name: string, value: string): void {
    if (value === '') return;
    const key = name.toLowerCase();
    const lines = this.#lines.get(key);
    if (lines === undefined) {
      const { maxAttributeLength, maxObjectBytes } = this.#options;
      const limit = RUNNING_TEXT.has(key) ? maxObjectBytes : maxAttributeLength;
      this.#lines.set(key, { name, limit, text: value });
    } else if (lines.text.length < lines.limit) {
      lines.text += `\n${value}`;
    }
  }

  /** Nothing more would be taken for this attribute. */
  isFull(name: string): boolean {
    const lines = this.#lines.get(name.toLowerCase());
    return lines !== undefined && lines.text.length >= lines.limit;
  }

  get attributes(): ExtractedAttributes {
    return Array.from(this.#lines.values(), ({ name, text }) => [name, text] as const);
  }
}
