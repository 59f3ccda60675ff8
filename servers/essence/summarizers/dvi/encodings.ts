import { decodeAs } from '../../charset/decoders.js';
import { FONT_ACCENTS } from '../accents.js';

/** The text of each code of a font; undefined if it is not text. */
export type FontEncoding = readonly (string | undefined)[];

/** Makes an encoding: 33..126 as in ASCII, with the given codes replaced. */
function overAscii(codes: readonly (readonly [start: number, characters: string])[]): FontEncoding {
  const table: (string | undefined)[] = Array.from({ length: 256 }, (_, code) =>
    code > 32 && code < 127 ? String.fromCharCode(code) : undefined,
  );
  fill(table, codes);
  return table;
}

function fill(table: (string | undefined)[], codes: readonly (readonly [number, string])[]): void {
  for (const [start, characters] of codes) {
    characters.split(' ').forEach((character, index) => {
      table[start + index] = character === '.' && start > 126 ? undefined : character;
    });
  }
}

const GREEK_CAPITALS = 'Γ Δ Θ Λ Ξ Π Σ Υ Φ Ψ Ω';

/** Knuth's text fonts (OT1): cmr and its family. */
const OT1 = overAscii([
  [0, `${GREEK_CAPITALS} ff fi fl ffi ffl ı ȷ \` ´ ˇ ˘ ¯ ˚ ¸ ß æ œ ø Æ Œ Ø`],
  [34, '”'],
  [39, '’'],
  [60, '¡'],
  [62, '¿'],
  [92, '“'],
  [94, 'ˆ ˙ ‘'],
  [123, '– — ˝ ˜ ¨'],
]);

/**
 * Knuth's typewriter fonts (cmtt): ASCII, with arrows and Spanish punctuation in place of the ligatures of OT1.
 */
const OT1_TYPEWRITER = overAscii([
  [0, `${GREEK_CAPITALS} ↑ ↓ ' ¡ ¿ ı ȷ \` ´ ˇ ˘ ¯ ˚ ¸ ß æ œ ø Æ Œ Ø`],
  [39, '’'],
  [96, '‘'],
]);

/** The Cork encoding (T1): ec, dc and the PostScript fonts named `...8t`. */
const T1 = overAscii([
  [0, '` ´ ˆ ˜ ¨ ˝ ˚ ˇ ˘ ¯ ˙ ¸'],
  [16, '“ ” „ « » – —'],
  [25, 'ı ȷ ff fi fl ffi ffl'],
  [39, '’'],
  [96, '‘'],
  [127, '-'],
  [128, 'Ă Ą Ć Č Ď Ě Ę Ğ Ĺ Ľ Ł Ń Ň Ŋ Ő Ŕ Ř Ś Š Ş Ť Ţ Ű Ů Ÿ Ź Ž Ż Ĳ İ đ §'],
  [160, 'ă ą ć č ď ě ę ğ ĺ ľ ł ń ň ŋ ő ŕ ř ś š ş ť ţ ű ů ÿ ź ž ż ĳ ¡ ¿ £'],
  [192, 'À Á Â Ã Ä Å Æ Ç È É Ê Ë Ì Í Î Ï Ð Ñ Ò Ó Ô Õ Ö Œ Ø Ù Ú Û Ü Ý Þ SS'],
  [224, 'à á â ã ä å æ ç è é ê ë ì í î ï ð ñ ò ó ô õ ö œ ø ù ú û ü ý þ ß'],
]);

const CYRILLIC_CAPITALS = 'А Б В Г Д Е Ж З И Й К Л М Н О П Р С Т У Ф Х Ц Ч Ш Щ Ъ Ы Ь Э Ю Я';

/** The codes of T2A that T2B, T2C and X2 have too. */
const T2_COMMON: readonly (readonly [number, string])[] = [
  [0, '` ´ ˆ ˜ ¨ ˝ ˚ ˇ ˘ ¯ ˙ ¸'],
  [16, '“ ”'],
  [21, '– —'],
  [25, 'ı ȷ ff fi fl ffi ffl'],
  [39, '’'],
  [96, '‘'],
  [127, '-'],
  [156, 'Ё №'],
  [159, '§'],
  [188, 'ё „ « »'],
  [192, CYRILLIC_CAPITALS],
  [224, CYRILLIC_CAPITALS.toLowerCase()],
];

/** Cyrillic for Russian, Ukrainian, Bulgarian, Serbian and others (T2A): the LH fonts named `la..`. */
const T2A = overAscii([
  ...T2_COMMON,
  [13, 'Ӏ'],
  [128, 'Ґ Ғ Ђ Ћ Һ Җ Ҙ Љ Ї Қ Ҡ Ҝ Ӕ Ң Ҥ Ѕ Ө Ҫ Ў Ү Ұ Ҳ Џ Ҹ Ҷ Є Ә Њ'],
  [160, 'ґ ғ ђ ћ һ җ ҙ љ ї қ ҡ ҝ ӕ ң ҥ ѕ ө ҫ ў ү ұ ҳ џ ҹ ҷ є ә њ'],
]);

/** Other Cyrillic LH fonts (T2B, T2C, X2): the letters of Russian. */
const T2 = overAscii(T2_COMMON);

/** Cyrillic in seven bits (OT2): the fonts wncyr and its family. */
const OT2 = overAscii([
  [0, 'Њ Љ Џ Э І Є Ђ Ћ њ љ џ э і є ђ ћ Ю Ж Й Ё Ѵ Ѳ Ѕ Я ю ж й ё ѵ ѳ ѕ я ¨'],
  [34, '” Ѣ'],
  [38, '´ ’'],
  [43, 'ѣ'],
  [60, '« ı »'],
  [64, '˘ А Б Ц Д Е Ф Г Х И Ј К Л М Н О П Ч Р С Т У В Щ Ш Ы З'],
  [92, '“'],
  [94, 'Ь Ъ ‘ а б ц д е ф г х и ј к л м н о п ч р с т у в щ ш ы з – — № ь ъ'],
]);

/** Math italic (OML): cmmi. */
const OML: FontEncoding = (() => {
  const table: (string | undefined)[] = [];
  fill(table, [
    [0, `${GREEK_CAPITALS} α β γ δ ϵ ζ η θ ι κ λ μ ν ξ π ρ σ τ υ ϕ χ ψ ω ε ϑ ϖ ϱ ς φ`],
    [48, '0 1 2 3 4 5 6 7 8 9 . , < / > ⋆ ∂'],
    [65, 'A B C D E F G H I J K L M N O P Q R S T U V W X Y Z ♭ ♮ ♯'],
    [96, 'ℓ a b c d e f g h i j k l m n o p q r s t u v w x y z ı ȷ ℘'],
  ]);
  return table;
})();

/** Math symbols (OMS): cmsy. */
const OMS: FontEncoding = (() => {
  const table: (string | undefined)[] = [];
  fill(table, [
    [0, '− · × ∗ ÷ ⋄ ± ∓ ⊕ ⊖ ⊗ ⊘ ⊙ ◯ ∘ • ≍ ≡ ⊆ ⊇ ≤ ≥ ≼ ≽ ∼ ≈ ⊂ ⊃ ≪ ≫ ≺ ≻'],
    [32, '← → ↑ ↓ ↔ ↗ ↘ ≃ ⇐ ⇒ ⇑ ⇓ ⇔ ↖ ↙ ∝ ′ ∞ ∈ ∋ △ ▽'],
    [56, '∀ ∃ ¬ ∅ ℜ ℑ ⊤ ⊥ ℵ A B C D E F G H I J K L M N O P Q R S T U V W X Y Z ∪ ∩ ⊎ ∧ ∨'],
    [98, '⌊ ⌋ ⌈ ⌉ { } ⟨ ⟩ | ‖ ↕ ⇕ \\'],
    [112, '√ ∐ ∇ ∫ ⊔ ⊓ ⊑ ⊒ § † ‡ ¶ ♣ ♢ ♡ ♠'],
  ]);
  return table;
})();

/** Windows' Latin character set, the base encoding of PostScript fonts (`...8r`). */
const LATIN: FontEncoding = Array.from({ length: 256 }, (_, code) =>
  code > 32 ? decodeAs(Uint8Array.of(code), 'windows-1252') : undefined,
);

/** Fonts of delimiter pieces, lines and symbols, which are not text. */
const NOTHING: FontEncoding = [];

/** Encodings by patterns of TeX's font names; the first match decides. */
const BY_NAME: readonly (readonly [pattern: RegExp, encoding: FontEncoding])[] = [
  [
    /^(?:cmex|lmex|euex|l?circle|line|lasy|wasy|manfnt|stmary|xy|msam|tc(?:rm|bx|ti|tt)|pzd|logo$)|8c$/i,
    NOTHING,
  ],
  [/^(?:cmmi|cmmib|lmmi|eurm|eurb|rm[pt]mi|zptmcm7m)|7m$/i, OML],
  [/^(?:cmsy|cmbsy|lmsy|eusm|eusb|zptmcm7y|msbm)|7y$/i, OMS],
  [/^(?:cm(?:tt|sltt|itt|vtt|tcsc|tex)|lmtt.*ot1)/i, OT1_TYPEWRITER],
  [/^(?:ec|dc)[a-z]{2}|^(?:ec|rm|lm).*(?:8t|-ec)$|8t$/i, T1],
  [/^la[a-z]{2}\d|6a$|t2a/i, T2A],
  [/^(?:lb|lc|rx)[a-z]{2}\d|6[bcx]$/i, T2],
  [/^wncy/i, OT2],
  [/8r$/i, LATIN],
];

/** Returns the encoding of a TeX font by its name; that of cmr if unknown. */
export function encodingOf(font: string): FontEncoding {
  return BY_NAME.find(([pattern]) => pattern.test(font))?.[1] ?? OT1;
}

/** Combines each accent with the letter that follows it. */
export class AccentJoiner {
  #accent = '';

  /** Returns the text of the next glyph; empty for an accent, which is combined with the next letter. */
  join(glyph: string): string {
    const accent = FONT_ACCENTS.get(glyph);
    if (accent !== undefined) {
      this.#accent = accent;
      return '';
    }
    if (this.#accent === '') return glyph;
    const base = glyph === 'ı' ? 'i' : glyph === 'ȷ' ? 'j' : glyph;
    const text = /^\p{L}$/u.test(base) ? `${base}${this.#accent}`.normalize('NFC') : glyph;
    this.#accent = '';
    return text;
  }
}

/**
 * Advance widths of cmr10 in thousandths of its size, starting at `!`. Other roman fonts have nearly the same
 * proportions.
 */
const ROMAN = (
  '278 500 833 500 833 778 278 389 389 500 778 278 333 278 500 500 500 500 500 500 500 500 500 500 500 278 278 278 778 ' +
  '472 472 778 750 708 722 764 681 653 785 750 361 514 778 625 917 750 778 681 778 736 556 722 750 750 1028 750 750 611 ' +
  '278 500 278 500 278 278 500 556 444 556 444 306 500 556 278 306 528 278 833 556 500 556 528 392 394 389 556 528 722 ' +
  '528 528 444 500 1000 500 500'
)
  .split(' ')
  .map(Number);

/** Advance of a glyph without an entry, as a fraction of the font size. */
const DEFAULT_ADVANCE = 0.5;
/** Advance of every glyph of a typewriter font, as a fraction of the font size. */
const TYPEWRITER_ADVANCE = 0.525;

/**
 * Estimates the advance of a character as a fraction of the font size. DVI files and many PostScript files
 * contain no widths. Gaps between words are explicit moves, so an average is sufficient.
 */
export function estimateGlyphWidth(character: string, typewriter: boolean): number {
  if (typewriter) return TYPEWRITER_ADVANCE;
  let width = 0;
  for (let i = 0; i < character.length; i++) {
    const entry = ROMAN[character.charCodeAt(i) - 33];
    width += entry === undefined ? DEFAULT_ADVANCE : entry / 1000;
  }
  return width;
}
