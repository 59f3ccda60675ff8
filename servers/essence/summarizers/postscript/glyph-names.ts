import { wordPairs, words } from '../../word-tables.js';
import { GLYPH_ACCENTS } from '../accents.js';

const CAPITALS = 'АБВГДЕЁЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ';

/** Numbers of `afii` and the letters from there on. */
const AFII: readonly (readonly [start: number, letters: string])[] = [
  [10017, `${CAPITALS}ҐЂЃЄЅІЇЈЉЊЋЌЎ`],
  [10065, `${CAPITALS.toLowerCase()}ґђѓєѕіїјљњћќў`],
  [10145, 'ЏѢѲѴ'],
  [10193, 'џѣѳѵ'],
  [61352, '№'],
];

/** Names of the capitals in both systems; those of small letters are in lower case. */
const ADOBE = words(
  'A Be Ve Ge De Ie Io Zhe Ze Ii Iishort Ka El Em En O Pe Er Es Te U Ef Kha Tse Che Sha Shcha Hardsign Yeri Softsign ' +
    'Ereversed IU IA',
);
const LATEX = words(
  'A B V G D E YO ZH Z I ISHRT K L M N O P R S T U F H C CH SH SHCH HRDSN ERY SFTSN EREV YU YA',
);

/** The letters of names of glyphs. */
const CYRILLIC_GLYPHS: ReadonlyMap<string, string> = (() => {
  const glyphs = new Map<string, string>();
  for (const [start, letters] of AFII)
    for (const [i, letter] of [...letters].entries()) glyphs.set(`afii${start + i}`, letter);
  for (const [i, letter] of [...CAPITALS].entries()) {
    const small = letter.toLowerCase();
    glyphs.set(`${ADOBE[i]}cyrillic`, letter);
    glyphs.set(`${ADOBE[i]?.toLowerCase()}cyrillic`, small);
    glyphs.set(`CYR${LATEX[i]}`, letter);
    glyphs.set(`cyr${LATEX[i]?.toLowerCase()}`, small);
  }
  return glyphs;
})();

/** Names of the glyphs 32 to 126 of Adobe's standard encoding. */
const ASCII = words(
  'space exclam quotedbl numbersign dollar percent ampersand quoteright parenleft parenright asterisk plus comma hyphen ' +
    'period slash zero one two three four five six seven eight nine colon semicolon less equal greater question at ' +
    'A B C D E F G H I J K L M N O P Q R S T U V W X Y Z bracketleft backslash bracketright asciicircum underscore ' +
    'quoteleft a b c d e f g h i j k l m n o p q r s t u v w x y z braceleft bar braceright asciitilde',
);

/** Names of ISO Latin 1 from 161 on; accented letters are derived by rule. */
const LATIN1 = words(
  'exclamdown cent sterling currency yen brokenbar section dieresis copyright ordfeminine guillemotleft logicalnot ' +
    'softhyphen registered macron degree plusminus twosuperior threesuperior acute mu paragraph periodcentered cedilla ' +
    'onesuperior ordmasculine guillemotright onequarter onehalf threequarters questiondown Agrave Aacute Acircumflex ' +
    'Atilde Adieresis Aring AE Ccedilla Egrave Eacute Ecircumflex Edieresis Igrave Iacute Icircumflex Idieresis Eth ' +
    'Ntilde Ograve Oacute Ocircumflex Otilde Odieresis multiply Oslash Ugrave Uacute Ucircumflex Udieresis Yacute Thorn ' +
    'germandbls agrave aacute acircumflex atilde adieresis aring ae ccedilla egrave eacute ecircumflex edieresis igrave ' +
    'iacute icircumflex idieresis eth ntilde ograve oacute ocircumflex otilde odieresis divide oslash ugrave uacute ' +
    'ucircumflex udieresis yacute thorn ydieresis',
);

/** The upper half of the standard encoding: code, name. */
const STANDARD_UPPER = wordPairs(
  '161 exclamdown 162 cent 163 sterling 164 fraction 165 yen 166 florin 167 section 168 currency 169 quotesingle ' +
    '170 quotedblleft 171 guillemotleft 172 guilsinglleft 173 guilsinglright 174 fi 175 fl 177 endash 178 dagger ' +
    '179 daggerdbl 180 periodcentered 182 paragraph 183 bullet 184 quotesinglbase 185 quotedblbase 186 quotedblright ' +
    '187 guillemotright 188 ellipsis 189 perthousand 191 questiondown 193 grave 194 acute 195 circumflex 196 tilde ' +
    '197 macron 198 breve 199 dotaccent 200 dieresis 202 ring 203 cedilla 205 hungarumlaut 206 ogonek 207 caron ' +
    '208 emdash 225 AE 227 ordfeminine 232 Lslash 233 Oslash 234 OE 235 ordmasculine 241 ae 245 dotlessi 248 lslash ' +
    '249 oslash 250 oe 251 germandbls',
);

const OTHERS = wordPairs(
  "quotesingle ' quoteleft ‘ quoteright ’ grave ` circumflex ˆ tilde ˜ breve ˘ dotaccent ˙ ring ˚ hungarumlaut ˝ " +
    'ogonek ˛ caron ˇ macron ¯ fi fi fl fl ff ff ffi ffi ffl ffl endash – emdash — bullet • quotedblleft “ quotedblright ” ' +
    'quotesinglbase ‚ quotedblbase „ guilsinglleft ‹ guilsinglright › dagger † daggerdbl ‡ ellipsis … perthousand ‰ ' +
    'fraction / florin ƒ Lslash Ł lslash ł OE Œ oe œ Euro € trademark ™ minus − dotlessi ı dotlessj ȷ dcroat đ Dcroat Đ ' +
    'Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω alpha α beta β gamma γ delta δ ' +
    'epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi φ chi χ ' +
    'psi ψ omega ω epsilon1 ϵ theta1 ϑ pi1 ϖ rho1 ϱ sigma1 ς phi1 ϕ lessequal ≤ greaterequal ≥ notequal ≠ infinity ∞ ' +
    'partialdiff ∂ summation ∑ product ∏ radical √ integral ∫ approxequal ≈ similar ∼ arrowright → arrowleft ← element ∈ ' +
    'asteriskmath ∗ visiblespace ␣ sfthyphen -',
);

/** Names with the codes from `start` on. */
function codes(start: number, names: readonly string[]): (readonly [code: number, name: string])[] {
  return names.map((name, index) => [start + index, name]);
}

/** Glyph names by code. */
function encoding(
  names: readonly (readonly [code: number, name: string])[],
): readonly (string | undefined)[] {
  const table: (string | undefined)[] = [];
  for (const [code, name] of names) table[code] = name;
  return table;
}

const ISO_LATIN1 = [...codes(32, ASCII), ...codes(161, LATIN1)];

const CHARACTERS: ReadonlyMap<string, string> = new Map([
  ...ISO_LATIN1.map(([code, name]) => [name, String.fromCharCode(code)] as const),
  ...OTHERS,
]);

/** Adobe's standard encoding. */
export const STANDARD_ENCODING = encoding([
  ...codes(32, ASCII),
  ...Array.from(STANDARD_UPPER, ([code, name]) => [Number(code), name] as const),
]);

/** ISO Latin 1. */
export const ISO_LATIN1_ENCODING = encoding(ISO_LATIN1);

/** Returns the text of a glyph's name; undefined for `.notdef` and arbitrary names (`g12`, `C0_3`). */
export function characterOf(glyph: string): string | undefined {
  const known = CHARACTERS.get(glyph) ?? CYRILLIC_GLYPHS.get(glyph);
  if (known !== undefined) return known;
  const name = glyph.replace(/\..*$/s, '');
  if (name !== glyph) return name === '' ? undefined : characterOf(name);
  const code = /^uni([0-9A-F]{4})$|^u([0-9A-F]{4,6})$/.exec(name);
  if (code !== null) {
    const point = Number.parseInt(code[1] ?? code[2]!, 16);
    return point <= 0x10ffff && (point < 0xd800 || point > 0xdfff) ? String.fromCodePoint(point) : undefined;
  }
  const accented = /^([A-Za-z])([a-z]{4,12})$/.exec(name);
  const mark = accented === null ? undefined : GLYPH_ACCENTS.get(accented[2]!);
  return mark === undefined ? undefined : `${accented![1]}${mark}`.normalize('NFC');
}
