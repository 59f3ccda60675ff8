/** A run of glyphs on a page: text and position. The unit is arbitrary but the same for all runs. */
export interface PositionedText {
  readonly text: string;
  /** Start of the run on its baseline. */
  readonly x: number;
  readonly y: number;
  /** Advance to the end of the run. */
  readonly width: number;
  /** Size of the font. */
  readonly size: number;
}

/** Minimum gap between two words on a line, as a fraction of the font size. */
const WORD_GAP = 0.13;
/**
 * Minimum step between the baselines of two lines, as a fraction of the font size. Subscripts and accents have
 * smaller steps.
 */
const LINE_STEP = 0.6;
/** Minimum step between the baselines of two paragraphs, as a fraction of the font size. */
const PARAGRAPH_STEP = 1.9;

/**
 * Assembles the runs of a page in the order they arrive: words by gaps, lines by baselines, paragraphs by
 * larger steps. PDF, DVI and PostScript use it.
 */
export class PageText {
  readonly #parts: string[] = [];
  #length = 0;
  #end = 0;
  #y = 0;
  #size = 0;
  #empty = true;
  #atBreak = true;

  /** Length of the text in characters. */
  get length(): number {
    return this.#length;
  }

  add({ text, x, y, width, size }: PositionedText): void {
    if (text === '') return;
    if (!this.#empty) {
      const small = Math.max(1e-9, Math.min(size, this.#size || size));
      const step = Math.abs(y - this.#y);
      if (step > PARAGRAPH_STEP * Math.max(size, this.#size)) this.paragraph();
      else if (step > LINE_STEP * small && (x < this.#end - small || step > small)) this.newline();
      else if (x - this.#end > WORD_GAP * small || x < this.#end - small) this.#blank();
    }
    this.#push(text);
    this.#atBreak = /\s$/.test(text);
    this.#empty = false;
    this.#end = x + width;
    this.#y = y;
    if (size > 0) this.#size = size;
  }

  /** Ends the line. */
  newline(): void {
    if (this.#length === 0 || this.#parts[this.#parts.length - 1]!.endsWith('\n')) return;
    this.#push('\n');
    this.#atBreak = true;
  }

  /** Ends the paragraph. */
  paragraph(): void {
    this.newline();
    // Further ends add nothing: a program may end ten million empty pages.
    if (this.#isParagraphEnd()) return;
    this.#push('\n');
    this.#atBreak = true;
  }

  #isParagraphEnd(): boolean {
    const count = this.#parts.length;
    return count >= 2 && this.#parts[count - 1] === '\n' && this.#parts[count - 2]!.endsWith('\n');
  }

  /** Separates the next run from the previous ones: a new page, rotated text. */
  page(): void {
    if (this.#length > 0) this.paragraph();
    this.#empty = true;
  }

  finish(): string {
    return this.#parts.join('');
  }

  #blank(): void {
    if (this.#atBreak) return;
    this.#push(' ');
    this.#atBreak = true;
  }

  #push(text: string): void {
    this.#parts.push(text);
    this.#length += text.length;
  }
}
