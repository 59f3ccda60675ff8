import { AccentJoiner, encodingOf, estimateGlyphWidth, type FontEncoding } from '../dvi/encodings.js';
import { PageText } from '../page-text.js';
import { characterOf, STANDARD_ENCODING } from './glyph-names.js';
import { type Font, PsArray, PsDict, PsName, type PsObject, transformDistance } from './objects.js';

/** Default size of a TeX bitmap font, in points. */
const DEFAULT_POINTS = 10;

/** The encoding and metrics of a font. */
interface KnownFont {
  readonly characters: FontEncoding;
  readonly typewriter: boolean;
  readonly tex: boolean;
  /** Size in points of a TeX bitmap font, whose unit is the pixel; 0 for all others. */
  readonly points: number;
  /**
   * The fonts of a composite font by the first of the two bytes of a character; the second is a code of that
   * font.
   */
  readonly parts?: readonly (PsDict | undefined)[];
}

/** The characters of an encoding. */
interface KnownEncoding {
  readonly items: readonly PsObject[];
  readonly fallback: FontEncoding | undefined;
  readonly characters: FontEncoding;
}

/** No character has a code in a part of a composite font but by its glyph's name. */
const NO_FALLBACK: FontEncoding = [];

/** Collects the text that a program shows: characters by their fonts, words and lines by their positions. */
export class ShownText {
  readonly text = new PageText();
  readonly #comments: DocumentComments;
  readonly #fonts = new WeakMap<PsDict, KnownFont>();
  readonly #parts = new WeakMap<PsDict, FontEncoding>();
  /** The characters of encodings, with their items at that time: a program may change them. */
  readonly #encodings = new WeakMap<PsArray, KnownEncoding>();
  readonly #accents = new AccentJoiner();
  /** Names and sizes of bitmap fonts, which dvips writes in a comment before the font. */
  readonly #pixelFonts = new WeakMap<PsDict, { name: string; points: number }>();
  #announced: { name: string; points: number } | undefined;
  #direction = '';

  /** @param comments receives the comments of the program */
  constructor(comments: DocumentComments) {
    this.#comments = comments;
  }

  comment(line: string): void {
    this.#comments.add(line);
    const font = /^%DVIPSBitmapFont: \S+ (\S+) ([\d.]+)/.exec(line);
    if (font !== null) this.#announced = { name: font[1]!, points: Number(font[2]) };
  }

  /** Gives the Type 3 font that a program defines the name and size of the preceding comment. */
  beginFont(dict: PsDict): void {
    if (this.#announced !== undefined) this.#pixelFonts.set(dict, this.#announced);
    this.#announced = undefined;
  }

  /** A scaled copy has the name and size of its font. */
  copyFont(dict: PsDict, copy: PsDict): void {
    const pixel = this.#pixelFonts.get(dict);
    if (pixel !== undefined) this.#pixelFonts.set(copy, pixel);
  }

  /** Number of bytes of a character in the font. */
  bytesPerCharacter(font: Font): 1 | 2 {
    return this.#fontOf(font.dict).parts === undefined ? 1 : 2;
  }

  /** Returns the width of a string in user space, and its text. @param scale points per unit of user space */
  measure(bytes: Uint8Array, font: Font, scale: number): { width: number; text: string } {
    const known = this.#fontOf(font.dict);
    const em = known.points > 0 ? known.points / (scale || 1) : 1;
    let width = 0;
    let text = '';
    const { parts } = known;
    for (let at = parts === undefined ? 0 : 1; at < bytes.length; at += parts === undefined ? 1 : 2) {
      const characters = parts === undefined ? known.characters : this.#charactersOf(parts[bytes[at - 1]!]);
      const character = characters?.[bytes[at]!];
      width += (character === undefined ? 0.5 : estimateGlyphWidth(character, known.typewriter)) * em;
      if (character !== undefined)
        text += known.tex && !known.typewriter ? this.#accents.join(character) : character;
    }
    return { width: width * (known.points > 0 ? 1 : transformDistance(font.matrix, 1, 0)[0] || 1), text };
  }

  /**
   * Adds text at a position of the page (points) with a baseline in the direction (dx, dy) and a length of
   * `width` points. `size` is the font size in points; a bitmap font has its own.
   */
  show(
    text: string,
    x: number,
    y: number,
    dx: number,
    dy: number,
    width: number,
    size: number,
    font: Font,
  ): void {
    const length = Math.hypot(dx, dy) || 1;
    const [ux, uy] = [dx / length, dy / length];
    const direction = `${Math.round(ux * 10)} ${Math.round(uy * 10)}`;
    if (direction !== this.#direction) this.text.page();
    this.#direction = direction;
    const points = this.#fontOf(font.dict).points || size;
    this.text.add({ text, x: x * ux + y * uy, y: y * ux - x * uy, width, size: points });
  }

  #fontOf(dict: PsDict): KnownFont {
    const known = this.#fonts.get(dict) ?? this.#readFont(dict);
    this.#fonts.set(dict, known);
    return known;
  }

  #readFont(dict: PsDict): KnownFont {
    const named = dict.get('FontName');
    const fontName = named instanceof PsName ? named.text : '';
    const pixel = this.#pixelFonts.get(dict);
    if (pixel !== undefined || dict.get('BitMaps') !== undefined) {
      const name = pixel?.name ?? '';
      const typewriter = /tt/.test(name);
      // Since 2020 dvips gives the glyphs their names; before, arbitrary ones of two letters and digits.
      const characters = hasGlyphNames(dict) ? this.#byGlyphNames(dict, encodingOf(name)) : encodingOf(name);
      return { characters, typewriter, tex: true, points: pixel?.points ?? DEFAULT_POINTS };
    }
    const parts = partsOf(dict);
    if (parts !== undefined) return { characters: [], typewriter: false, tex: false, points: 0, parts };
    const tex = /^(?:CM|MSBM|EU|LASY|WNCY)[A-Z]*\d+$/.test(fontName);
    return {
      characters: this.#byGlyphNames(dict, tex ? encodingOf(fontName.toLowerCase()) : undefined),
      typewriter: /courier|mono|typewriter|^CM[A-Z]*TT/i.test(fontName),
      tex,
      points: 0,
    };
  }

  /** As {@link byGlyphNames}. Every change of a font's size makes a copy of the font with the same encoding. */
  #byGlyphNames(dict: PsDict, fallback: FontEncoding | undefined): FontEncoding {
    const encoding = dict.get('Encoding');
    if (!(encoding instanceof PsArray)) return byGlyphNames(dict, fallback);
    const known = this.#encodings.get(encoding);
    const { items } = encoding;
    if (
      known !== undefined &&
      known.fallback === fallback &&
      known.items.length === Math.min(items.length, 256) &&
      known.items.every((item, index) => item === items[index])
    )
      return known.characters;
    const characters = byGlyphNames(dict, fallback);
    this.#encodings.set(encoding, { items: items.slice(0, 256), fallback, characters });
    return characters;
  }

  /**
   * The characters of a part of a composite font. Its codes are arbitrary: without names of glyphs there is no
   * text.
   */
  #charactersOf(part: PsDict | undefined): FontEncoding {
    if (part === undefined) return [];
    const known = this.#parts.get(part) ?? this.#byGlyphNames(part, NO_FALLBACK);
    this.#parts.set(part, known);
    return known;
  }
}

/** Returns the parts of a composite font of the mapping 8/8, which alone is common (PLRM, table 5.9). */
function partsOf(dict: PsDict): readonly (PsDict | undefined)[] | undefined {
  const [encoding, fonts] = [dict.get('Encoding'), dict.get('FDepVector')];
  if (dict.get('FontType') !== 0 || dict.get('FMapType') !== 2) return undefined;
  if (!(encoding instanceof PsArray && fonts instanceof PsArray)) return undefined;
  return encoding.items.slice(0, 256).map((index) => {
    const part = typeof index === 'number' ? fonts.items[index] : undefined;
    return part instanceof PsDict ? part : undefined;
  });
}

/** Whether a font has names of glyphs: at least two, because one of dvips's arbitrary names is `AE`. */
function hasGlyphNames(dict: PsDict): boolean {
  const encoding = dict.get('Encoding');
  if (!(encoding instanceof PsArray)) return false;
  const isGlyph = (item: PsObject): boolean =>
    item instanceof PsName && item.text.length > 1 && characterOf(item.text) !== undefined;
  return encoding.items.slice(0, 256).filter(isGlyph).length > 1;
}

/**
 * Returns the encoding by the glyph names of `Encoding`. Other codes use `fallback`, or ASCII if all names are
 * arbitrary.
 */
function byGlyphNames(dict: PsDict, fallback: FontEncoding | undefined): FontEncoding {
  const encoding = dict.get('Encoding');
  const names =
    encoding instanceof PsArray
      ? encoding.items.slice(0, 256).map((item) => (item instanceof PsName ? item.text : undefined))
      : STANDARD_ENCODING;
  const useful = names.some(
    (name) => name !== undefined && name.length > 1 && characterOf(name) !== undefined,
  );
  return Array.from({ length: 256 }, (_, code) => {
    const name = names[code];
    const character = name === undefined || !useful ? undefined : characterOf(name);
    if (character !== undefined) return character;
    if (fallback !== undefined) return fallback[code];
    return !useful && code >= 32 && code < 127 ? String.fromCharCode(code) : undefined;
  });
}

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
