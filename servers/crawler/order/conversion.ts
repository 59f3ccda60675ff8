import { IGNORED_NAMES } from './original-names.js';
import type { XmlElement } from './xml-tree.js';

/** A part of the file that was not converted, and why. */
export interface OrderWarning {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/** Values of an order by name. */
export type Values = Record<string, unknown>;

/** The conversion of one file. Every element is either converted or reported. */
export class Conversion {
  readonly #lines = new Map<string, number>();
  readonly #warnings: OrderWarning[] = [];
  readonly #used = new Set<XmlElement>();
  readonly #reported = new Set<XmlElement>();

  constructor(readonly file: string) {}

  get warnings(): readonly OrderWarning[] {
    return this.#warnings.toSorted((a, b) => a.line - b.line);
  }

  /** Marks elements as converted. */
  use(...elements: readonly XmlElement[]): void {
    for (const element of elements) this.#used.add(element);
  }

  /** Returns whether an element was converted or reported. */
  isDone(element: XmlElement): boolean {
    return this.#used.has(element) || this.#reported.has(element);
  }

  /** Reports every element that was neither converted nor reported. */
  reportRest(element: XmlElement, leftOut?: string): void {
    const isUsed = this.#used.has(element);
    const { name } = element;
    if (!isUsed && !this.#reported.has(element)) {
      const reason = IGNORED_NAMES.get(name);
      if (leftOut !== undefined) this.warn(element, `${name} is left out with ${leftOut}`);
      else if (reason !== undefined) this.warn(element, `${name} is ignored: ${reason}`);
      else this.warn(element, `${name} has no equivalent here`);
    }
    for (const child of element.children) this.reportRest(child, isUsed ? undefined : (leftOut ?? name));
  }

  lineOf(path: readonly PropertyKey[]): number {
    for (let length = path.length; length > 0; length--) {
      const line = this.#lines.get(path.slice(0, length).map(String).join('.'));
      if (line !== undefined) return line;
    }
    return 0;
  }

  put(
    values: Values,
    path: readonly (string | number)[],
    name: string,
    value: unknown,
    element: XmlElement,
  ): void {
    values[name] = value;
    this.place([...path, name], element);
    this.use(element);
    if (element.tag.endsWith('List')) this.use(...element.children);
  }

  /** Sets the line of a value. */
  place(path: readonly (string | number)[], { line }: XmlElement): void {
    this.#lines.set(path.join('.'), line);
  }

  /** Reports what became of an element. */
  warn(element: XmlElement, text: string): void {
    this.#reported.add(element);
    this.#warnings.push({ file: this.file, line: element.line, text });
  }
}
