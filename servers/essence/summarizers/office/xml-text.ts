import { Parser } from 'htmlparser2';
import { oneLine } from '../extracted.js';

/** How the tags of an office format become text. Names have their prefix, as written. */
export interface XmlRules {
  /** Tags whose end ends a line. */
  readonly lines: ReadonlySet<string>;
  /** Tags that become a tab or blank. */
  readonly blanks: ReadonlySet<string>;
  /** Tags that become a line break. */
  readonly breaks: ReadonlySet<string>;
  /** Tags whose text is kept. Default: all. */
  readonly texts?: ReadonlySet<string>;
  /** Tags whose content is a field, by field. */
  readonly fields: ReadonlyMap<string, string>;
  /** Attributes that are references, by tag. */
  readonly references: ReadonlyMap<string, string>;
}

/** Maximum number of values of one field. */
const MAX_VALUES = 2000;

/** Reads XML as a stream of tags; collects the running text and the fields. */
export class XmlText {
  readonly fields = new Map<string, string[]>();
  readonly #rules: XmlRules;
  readonly #limit: number;
  readonly #parser: Parser;
  readonly #parts: string[] = [];
  #length = 0;
  #texts = 0;
  #field = '';
  #value = '';
  #fieldDepth = 0;

  constructor(rules: XmlRules, limit: number) {
    this.#rules = rules;
    this.#limit = limit;
    this.#parser = new Parser(
      {
        onopentag: (tag, attributes) => this.#open(tag, attributes),
        ontext: (text) => this.#text(text),
        onclosetag: (tag) => this.#close(tag),
      },
      { xmlMode: true, decodeEntities: true },
    );
  }

  get text(): string {
    return this.#parts.join('');
  }

  write(chunk: string): void {
    if (this.#length < this.#limit) this.#parser.write(chunk);
  }

  /** Ends one member; the next begins on a new line. */
  end(): void {
    this.#parser.end();
    this.#parser.reset();
    this.#texts = 0;
    this.#fieldDepth = 0;
    this.#push('\n');
  }

  /** Adds a value that is not in the text, e.g. a sheet's name. */
  add(field: string, value: string): void {
    const line = oneLine(value);
    const values = this.fields.get(field) ?? [];
    if (line !== '' && values.length < MAX_VALUES) values.push(line);
    this.fields.set(field, values);
  }

  #open(tag: string, attributes: Readonly<Record<string, string>>): void {
    const rules = this.#rules;
    if (rules.texts?.has(tag) === true) this.#texts++;
    if (rules.blanks.has(tag)) this.#text('\t', true);
    else if (rules.breaks.has(tag)) this.#text('\n', true);
    const reference = rules.references.get(tag);
    const target = reference === undefined ? undefined : attributes[reference];
    if (target !== undefined && !target.startsWith('#')) this.add('References', target);
    if (this.#fieldDepth > 0) this.#fieldDepth++;
    else {
      const field = rules.fields.get(tag);
      if (field === undefined) return;
      this.#field = field;
      this.#value = '';
      this.#fieldDepth = 1;
    }
  }

  #text(text: string, always = false): void {
    if (this.#fieldDepth > 0 && this.#value.length < 10_000) this.#value += text;
    if (always || this.#rules.texts === undefined || this.#texts > 0) this.#push(text);
  }

  #close(tag: string): void {
    const rules = this.#rules;
    if (rules.texts?.has(tag) === true) this.#texts = Math.max(0, this.#texts - 1);
    if (rules.lines.has(tag)) this.#push('\n');
    if (this.#fieldDepth > 0 && --this.#fieldDepth === 0) this.add(this.#field, this.#value);
  }

  #push(text: string): void {
    this.#parts.push(text);
    this.#length += text.length;
  }
}
