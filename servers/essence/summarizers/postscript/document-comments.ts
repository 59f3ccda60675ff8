/** Maximum number of comments of a document that are kept. */
const MAX_COMMENTS = 200;

/**
 * The comments of the document structuring conventions (DSC), `%%Name: value`: those of the header, and those
 * of the trailer to which the header refers by `(atend)`. Fonts and documents inside the document have comments
 * of the same names, which are not its own.
 */
export class DocumentComments {
  readonly #values = new Map<string, string>();
  #part: 'header' | 'body' | 'trailer' = 'header';
  #programs = 0;
  /** Documents and resources around the current position. */
  #depth = 0;

  /** Takes a comment of the program, in their order. */
  add(line: string): void {
    // A font begins as a program of its own.
    if (line.startsWith('%!') && ++this.#programs > 1 && this.#part === 'header') this.#part = 'body';
    const found = /^%%(\w+)(?::\s*(.*))?$/s.exec(line);
    if (found === null) return;
    const [, name, value] = found;
    if (name!.startsWith('Begin')) this.#depth++;
    else if (name!.startsWith('End') && this.#depth > 0) this.#depth--;
    if (this.#part === 'header' && /^(?:EndComments|Begin\w+|EndProlog|EndSetup|Page)$/.test(name!))
      this.#part = 'body';
    if (name === 'Trailer' && this.#depth === 0) this.#part = 'trailer';
    if (value === undefined || this.#part === 'body') return;
    const known = this.#values.get(name!);
    if (known === undefined ? this.#values.size < MAX_COMMENTS : known === '(atend)')
      this.#values.set(name!, value.trim());
  }

  /** Returns the value of a comment, the first of its name. */
  value(name: string): string | undefined {
    const value = this.#values.get(name);
    return value === undefined || value === '(atend)' ? undefined : unquote(value);
  }
}

/** Decodes a PostScript string `(text)`. */
function unquote(value: string): string {
  return value
    .replace(/^\((.*)\)$/s, '$1')
    .replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
    .replace(/\\(.)/g, '$1')
    .trim();
}
