import { viewOf } from '../../bytes.js';
import type { SourceDocument, Summary } from '../../document.js';
import { guarded, joinHyphenated, summarizeExtracted } from '../extracted.js';
import { PageText } from '../page-text.js';
import { AccentJoiner, encodingOf, estimateGlyphWidth, type FontEncoding } from './encodings.js';

/** Dvi: the Text rule on the text of the pages (6.2). */
export function summarizeDvi(document: SourceDocument): Summary {
  const reader = new DviReader(document.body, document.settings.maxObjectBytes);
  guarded(document, 'Dvi', undefined, () => reader.read(document.isOutOfTime));
  return summarizeExtracted({ attributes: [], text: joinHyphenated(reader.text.finish()) });
}

interface DviFont {
  readonly encoding: FontEncoding;
  readonly typewriter: boolean;
  /** Size in DVI units. */
  readonly size: number;
}

/** Registers of DVI: position, and the four spacings. */
interface Registers {
  h: number;
  v: number;
  w: number;
  x: number;
  y: number;
  z: number;
}

/** Maximum depth of the stack; documents from TeX need less than 100 levels. */
const MAX_DEPTH = 1000;
/** Opcodes between two looks at the time. */
const STEPS_PER_LOOK = 4096;

/** Interprets the opcodes of a DVI file for the positions of the characters. */
class DviReader {
  readonly text = new PageText();
  readonly #bytes: DataView;
  readonly #limit: number;
  readonly #fonts = new Map<number, DviFont>();
  #offset = 0;
  #font: DviFont | undefined;
  readonly #accents = new AccentJoiner();
  #registers: Registers = { h: 0, v: 0, w: 0, x: 0, y: 0, z: 0 };
  #stack: Registers[] = [];

  constructor(bytes: Uint8Array, limit: number) {
    this.#bytes = viewOf(bytes);
    this.#limit = limit;
  }

  /** @throws Error if the file is truncated or contains an unknown opcode */
  read(isOutOfTime: () => boolean): void {
    const length = this.#bytes.byteLength;
    for (let steps = 1; this.#offset < length && this.text.length < this.#limit; steps++) {
      if (steps % STEPS_PER_LOOK === 0 && isOutOfTime()) return;
      const code = this.#unsigned(1);
      if (code < 128) this.#set(code, true);
      else if (code <= 131) this.#set(this.#unsigned(code - 127), true);
      else if (code === 132) this.#rule(true);
      else if (code <= 136) this.#set(this.#unsigned(code - 132), false);
      else if (code === 137) this.#rule(false);
      else if (code === 139) this.#beginPage();
      else if (code === 141) this.#push();
      else if (code === 142) this.#registers = this.#stack.pop() ?? this.#registers;
      else if (code >= 143 && code <= 170) this.#move(code);
      else if (code >= 171 && code <= 234) this.#font = this.#fonts.get(code - 171);
      else if (code >= 235 && code <= 238) this.#font = this.#fonts.get(this.#unsigned(code - 234));
      else if (code >= 239 && code <= 242) this.#skip(this.#unsigned(code - 238));
      else if (code >= 243 && code <= 246) this.#defineFont(code - 242);
      else if (code === 247) this.#preamble();
      else if (code === 248) return;
      else if (code !== 138 && code !== 140) throw new Error(`byte ${this.#offset - 1} is not an opcode`);
    }
  }

  #set(code: number, advance: boolean): void {
    const font = this.#font;
    if (font === undefined) return;
    const glyph = font.encoding[code];
    const width =
      glyph === undefined ? font.size / 2 : estimateGlyphWidth(glyph, font.typewriter) * font.size;
    if (glyph !== undefined) this.#show(glyph, font, width);
    if (advance) this.#registers.h += width;
  }

  #show(glyph: string, font: DviFont, width: number): void {
    const text = font.typewriter ? glyph : this.#accents.join(glyph);
    this.text.add({ text, x: this.#registers.h, y: this.#registers.v, width, size: font.size });
  }

  #rule(advance: boolean): void {
    this.#skip(4);
    const width = this.#signed(4);
    if (advance) this.#registers.h += width;
  }

  #beginPage(): void {
    this.#skip(44);
    this.#registers = { h: 0, v: 0, w: 0, x: 0, y: 0, z: 0 };
    this.#stack = [];
    this.text.page();
  }

  #push(): void {
    if (this.#stack.length >= MAX_DEPTH) throw new Error(`the stack is deeper than ${MAX_DEPTH}`);
    this.#stack.push({ ...this.#registers });
  }

  /** right, w, x, down, y, z: each with 1 to 4 bytes of operand; w, x, y and z also without one. */
  #move(code: number): void {
    const registers = this.#registers;
    if (code <= 146) registers.h += this.#signed(code - 142);
    else if (code <= 151) {
      if (code > 147) registers.w = this.#signed(code - 147);
      registers.h += registers.w;
    } else if (code <= 156) {
      if (code > 152) registers.x = this.#signed(code - 152);
      registers.h += registers.x;
    } else if (code <= 160) registers.v += this.#signed(code - 156);
    else if (code <= 165) {
      if (code > 161) registers.y = this.#signed(code - 161);
      registers.v += registers.y;
    } else {
      if (code > 166) registers.z = this.#signed(code - 166);
      registers.v += registers.z;
    }
  }

  #defineFont(bytes: number): void {
    const number = this.#unsigned(bytes);
    this.#skip(4);
    const size = this.#unsigned(4);
    this.#skip(4);
    const length = this.#unsigned(1) + this.#unsigned(1);
    let name = '';
    for (let i = 0; i < length; i++) name += String.fromCharCode(this.#unsigned(1));
    name = name.replace(/^.*\//, '');
    this.#fonts.set(number, { encoding: encodingOf(name), typewriter: /tt|pcr/.test(name), size });
  }

  #preamble(): void {
    this.#skip(13);
    this.#skip(this.#unsigned(1));
  }

  #skip(bytes: number): void {
    this.#offset += bytes;
  }

  #unsigned(bytes: number): number {
    let value = 0;
    for (let i = 0; i < bytes; i++) value = value * 256 + this.#bytes.getUint8(this.#offset++);
    return value;
  }

  #signed(bytes: number): number {
    const value = this.#unsigned(bytes);
    return value >= 2 ** (8 * bytes - 1) ? value - 2 ** (8 * bytes) : value;
  }
}
