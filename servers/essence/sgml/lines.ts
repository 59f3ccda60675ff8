import { matchesCondition, type TagMapping } from './table.js';

/** Attributes with a URL: their values are made absolute (E-99). */
const URL_ATTRIBUTES = new Set('href src action background cite data longdesc poster url'.split(' '));

/** Attributes with a document's running text; only the size of the object limits them. */
const RUNNING_TEXT = new Set(['body', 'full-text', 'partial-text', 'head']);

/** Options of an extraction. */
export interface ExtractionOptions {
  /** Maximum length of an attribute without running text, in characters; the last line may exceed it. */
  readonly maxAttributeLength: number;
  /** Maximum length of an attribute with running text, in characters. */
  readonly maxObjectBytes: number;
  /** Maximum number of attributes with different names. One more is kept, so that the assembly of the object sees that there are more. */
  readonly maxAttributes: number;
  /** E-99: makes a reference absolute; returns undefined to omit it. Default: as written. */
  readonly resolve?: (reference: string) => string | undefined;
}

/** SOIF attributes in order of their first line. */
export type ExtractedAttributes = readonly (readonly [name: string, value: string])[];

interface Lines {
  readonly name: string;
  readonly limit: number;
  text: string;
}

/** Collects the attributes of an extraction: one line for each occurrence (E-95). */
export class AttributeLines {
  readonly #options: ExtractionOptions;
  readonly #lines = new Map<string, Lines>();

  constructor(options: ExtractionOptions) {
    this.#options = options;
  }

  /** Adds the values of `<TAG:ATT> name` and `<TAG:ATT1> $ATT2` (E-89), of a tag whose attributes have lower-case names. */
  addValues(mapping: TagMapping, attributes: Readonly<Record<string, string>>): void {
    const { resolve } = this.#options;
    for (const { when, attribute, target, indirect } of mapping.values) {
      const value = attributes[attribute];
      if (value === undefined || (when !== undefined && !matchesCondition(when, attributes))) continue;
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
    return Array.from(this.#lines.values(), ({ name, text }) => [name, text] as const);
  }
}
