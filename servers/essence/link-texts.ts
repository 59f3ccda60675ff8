// The texts of a document's links: how it calls the documents that it links to.

/** Longest text of a link, in characters: longer ones are paragraphs, not names. */
const MAX_TEXT = 120;
/** Different lines of one document. */
const MAX_LINES = 1_000;

/** Collects the lines of `Link-Text`: the URL of a link, a blank, and its text. */
export class LinkTexts {
  readonly #lines = new Set<string>();
  readonly #maxCharacters: number;
  #characters = 0;
  /** The open link: its URL, the depth of its element, and its first text fragment. */
  #open: { readonly url: string; readonly depth: number; readonly start: number } | undefined;

  /** @param maxCharacters of all lines */
  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  /** @param start index of the link's first text fragment */
  open(url: string, depth: number, start: number): void {
    this.#open = { url, depth, start };
  }

  /** Ends the element of a depth. The fragments are those from the link's first one on. */
  close(depth: number, pieces: readonly string[]): void {
    const open = this.#open;
    if (open === undefined || open.depth !== depth) return;
    this.#open = undefined;
    let text = '';
    for (let i = open.start; i < pieces.length && text.length <= MAX_TEXT; i++) text += pieces[i]!;
    this.add(open.url, text);
  }

  /** Adds a link; one without a text, or with a long one, is left out. */
  add(url: string, written: string): void {
    const text = written
      .slice(0, 2 * MAX_TEXT)
      .replace(/\s+/g, ' ')
      .trim();
    if (text === '' || text.length > MAX_TEXT || this.#lines.size >= MAX_LINES) return;
    const line = `${url} ${text}`;
    if (this.#lines.has(line) || this.#characters + line.length >= this.#maxCharacters) return;
    this.#characters += line.length + 1;
    this.#lines.add(line);
  }

  /** The number of lines. */
  get count(): number {
    return this.#lines.size;
  }

  /** Removes the lines after the first `count`: their links are navigation. */
  cutTo(count: number): void {
    for (const line of [...this.#lines].slice(count)) {
      this.#lines.delete(line);
      this.#characters -= line.length + 1;
    }
  }

  /** The value of `Link-Text`. Empty: no link has a text. */
  get text(): string {
    return [...this.#lines].join('\n');
  }
}
