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
const ADOBE = (
  'A Be Ve Ge De Ie Io Zhe Ze Ii Iishort Ka El Em En O Pe Er Es Te U Ef Kha Tse Che Sha Shcha Hardsign Yeri Softsign ' +
  'Ereversed IU IA'
).split(' ');
const LATEX =
  'A B V G D E YO ZH Z I ISHRT K L M N O P R S T U F H C CH SH SHCH HRDSN ERY SFTSN EREV YU YA'.split(' ');

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
const ASCII = (
  'space exclam quotedbl numbersign dollar percent ampersand quoteright parenleft parenright asterisk plus comma hyphen ' +
  'period slash zero one two three four five six seven eight nine colon semicolon less equal greater question at ' +
  'A B C D E F G H I J K L M N O P Q R S T U V W X Y Z bracketleft backslash bracketright asciicircum underscore ' +
  'quoteleft a b c d e f g h i j k l m n o p q r s t u v w x y z braceleft bar braceright asciitilde'
).split(' ');

/** Names of ISO Latin 1 from 161 on; accented letters are derived by rule. */
const LATIN1 = (
  'exclamdown cent sterling currency yen brokenbar section dieresis copyright ordfeminine guillemotleft logicalnot ' +
  'softhyphen registered macron degree plusminus twosuperior threesuperior acute mu paragraph periodcentered cedilla ' +
  'onesuperior ordmasculine guillemotright onequarter onehalf threequarters questiondown Agrave Aacute Acircumflex ' +
  'Atilde Adieresis Aring AE Ccedilla Egrave Eacute Ecircumflex Edieresis Igrave Iacute Icircumflex Idieresis Eth ' +
  'Ntilde Ograve Oacute Ocircumflex Otilde Odieresis multiply Oslash Ugrave Uacute Ucircumflex Udieresis Yacute Thorn ' +
  'germandbls agrave aacute acircumflex atilde adieresis aring ae ccedilla egrave eacute ecircumflex edieresis igrave ' +
  'iacute icircumflex idieresis eth ntilde ograve oacute ocircumflex otilde odieresis divide oslash ugrave uacute ' +
  'ucircumflex udieresis yacute thorn ydieresis'
).split(' ');

/** The upper half of the standard encoding: code, name. */
const STANDARD_UPPER = (
  '161 exclamdown 162 cent 163 sterling 164 fraction 165 yen 166 florin 167 section 168 currency 169 quotesingle ' +
  '170 quotedblleft 171 guillemotleft 172 guilsinglleft 173 guilsinglright 174 fi 175 fl 177 endash 178 dagger ' +
  '179 daggerdbl 180 periodcentered 182 paragraph 183 bullet 184 quotesinglbase 185 quotedblbase 186 quotedblright ' +
  '187 guillemotright 188 ellipsis 189 perthousand 191 questiondown 193 grave 194 acute 195 circumflex 196 tilde ' +
  '197 macron 198 breve 199 dotaccent 200 dieresis 202 ring 203 cedilla 205 hungarumlaut 206 ogonek 207 caron ' +
  '208 emdash 225 AE 227 ordfeminine 232 Lslash 233 Oslash 234 OE 235 ordmasculine 241 ae 245 dotlessi 248 lslash ' +
  '249 oslash 250 oe 251 germandbls'
).split(' ');

const OTHERS =
  "quotesingle ' quoteleft ‘ quoteright ’ grave ` circumflex ˆ tilde ˜ breve ˘ dotaccent ˙ ring ˚ hungarumlaut ˝ " +
  'ogonek ˛ caron ˇ macron ¯ fi fi fl fl ff ff ffi ffi ffl ffl endash – emdash — bullet • quotedblleft “ quotedblright ” ' +
  'quotesinglbase ‚ quotedblbase „ guilsinglleft ‹ guilsinglright › dagger † daggerdbl ‡ ellipsis … perthousand ‰ ' +
  'fraction / florin ƒ Lslash Ł lslash ł OE Œ oe œ Euro € trademark ™ minus − dotlessi ı dotlessj ȷ dcroat đ Dcroat Đ ' +
  'Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω alpha α beta β gamma γ delta δ ' +
  'epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi φ chi χ ' +
  'psi ψ omega ω epsilon1 ϵ theta1 ϑ pi1 ϖ rho1 ϱ sigma1 ς phi1 ϕ lessequal ≤ greaterequal ≥ notequal ≠ infinity ∞ ' +
  'partialdiff ∂ summation ∑ product ∏ radical √ integral ∫ approxequal ≈ similar ∼ arrowright → arrowleft ← element ∈ ' +
  'asteriskmath ∗ visiblespace ␣ sfthyphen -';

const ACCENTS: ReadonlyMap<string, string> = new Map([
  ['grave', '\u0300'],
  ['acute', '\u0301'],
  ['circumflex', '\u0302'],
  ['tilde', '\u0303'],
  ['macron', '\u0304'],
  ['breve', '\u0306'],
  ['dotaccent', '\u0307'],
  ['dieresis', '\u0308'],
  ['ring', '\u030a'],
  ['hungarumlaut', '\u030b'],
  ['caron', '\u030c'],
  ['cedilla', '\u0327'],
  ['ogonek', '\u0328'],
  ['commaaccent', '\u0326'],
]);

const CHARACTERS: ReadonlyMap<string, string> = (() => {
  const map = new Map<string, string>();
  ASCII.forEach((name, index) => {
    map.set(name, String.fromCharCode(32 + index));
  });
  LATIN1.forEach((name, index) => {
    map.set(name, String.fromCharCode(161 + index));
  });
  const others = OTHERS.split(' ');
  for (let i = 0; i < others.length; i += 2) map.set(others[i]!, others[i + 1]!);
  return map;
})();

/** Glyph names by code: Adobe's standard encoding. */
export const STANDARD_ENCODING: readonly (string | undefined)[] = (() => {
  const table: (string | undefined)[] = [];
  ASCII.forEach((name, index) => {
    table[32 + index] = name;
  });
  for (let i = 0; i < STANDARD_UPPER.length; i += 2)
    table[Number(STANDARD_UPPER[i])] = STANDARD_UPPER[i + 1]!;
  return table;
})();

/** Glyph names by code: ISO Latin 1. */
export const ISO_LATIN1_ENCODING: readonly (string | undefined)[] = (() => {
  const table: (string | undefined)[] = [];
  ASCII.forEach((name, index) => {
    table[32 + index] = name;
  });
  LATIN1.forEach((name, index) => {
    table[161 + index] = name;
  });
  return table;
})();

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
  const mark = accented === null ? undefined : ACCENTS.get(accented[2]!);
  return mark === undefined ? undefined : `${accented![1]}${mark}`.normalize('NFC');
}
