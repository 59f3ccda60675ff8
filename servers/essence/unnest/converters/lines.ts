/** Attributes in the order of their first line; repeated names add lines (E-48, E-49). */
export class AttributeLines {
  readonly #values = new Map<string, { readonly name: string; value: string }>();

  add(name: string, value: string): void {
    const key = name.toLowerCase();
    const known = this.#values.get(key);
    if (known === undefined) this.#values.set(key, { name, value });
    else known.value += `\n${value}`;
  }

  /** Returns the lines of an attribute. */
  get(name: string): string | undefined {
    return this.#values.get(name.toLowerCase())?.value;
  }

  get pairs(): (readonly [name: string, value: string])[] {
    return Array.from(this.#values.values(), ({ name, value }) => [name, value] as const);
  }
}

/** An object from a converter or an Exploder (E-46). */
export interface FoundObject {
  readonly url: string;
  /** Template type. Default `FILE`. */
  readonly template?: string;
  readonly attributes: readonly (readonly [name: string, value: string])[];
}

/** Splits a text at LF, CRLF and CR. */
export function linesOf(text: string): string[] {
  return text.split(/\r\n?|\n/);
}
