// Troff's escapes (E-74): the words of a macro line without them; the named characters of groff, `\(xx` and
// `\[name]` (groff_char(7)), as Unicode.
import { wordPairs } from '../../word-tables.js';
import { GROFF_ACCENTS } from '../accents.js';

/** Splits a macro line into words; double quotes group blanks, a doubled one is a quote. */
export function macroArguments(text: string): string[] {
  return Array.from(text.matchAll(/"([^"]*(?:""[^"]*)*)"?|[^\s"]\S*/g), (found) => {
    const word = found[1] === undefined ? found[0] : found[1].replaceAll('""', '"');
    return removeEscapes(word);
  }).filter((word) => word !== '');
}

/** Replaces troff's escapes (E-74): removes fonts and sizes, converts characters. */
export function removeEscapes(text: string): string {
  if (!text.includes('\\')) return text;
  return text
    .replace(/\\["#].*$/s, '')
    .replace(/\\f(?:\[[^\]]{0,200}\]|\(..|.)|\\s[-+]?\d{1,2}|\\[hvwNoxbl]'[^']{0,200}'|\\[&|^/,:%)]/g, '')
    .replace(/\\\*(?:\[[^\]]{0,200}\]|\(..|.)/g, '')
    .replace(/\\(?:\((..)|\[([^\]]{0,200})\]|(.))/g, (_, two?: string, name?: string, one?: string) =>
      one === undefined ? troffCharacter(two ?? name ?? '') : oneCharacter(one),
    );
}

/**
 * The escapes of one character: `\\e` is a backslash, `\\0` and `\\~` are spaces, all others stand for
 * themselves.
 */
function oneCharacter(character: string): string {
  if (character === 'e') return '\\';
  return character === '0' || character === '~' ? ' ' : character;
}

/** Names of two and more characters; letters with accents are composed by an accent and the letter. */
const NAMES: ReadonlyMap<string, string> = new Map([
  // Punctuation. Dashes and quotes as a terminal shows them.
  ...wordPairs(`
    em - en - hy - mi - lq " rq " dq " Bq „ bq ‚ aq ' oq ' cq ' ga \` aa ´ Fo « Fc » fo ‹ fc › r! ¡ r? ¿
    ha ^ ti ~ rs \\ sl / ul _ ru _ ba | br | bv | bb ¦ sh # Do $ at @ lB [ rB ] lC { rC } la ⟨ ra ⟩ bu *
    ci ○ sq □ dg † dd ‡ sc § ps ¶ de ° pc · fm ′ sd ″
  `),
  // Letters and ligatures.
  ...wordPairs(`
    ff ff fi fi fl fl Fi ffi Fl ffl ss ß AE Æ ae æ OE Œ oe œ IJ IJ ij ij -D Ð Sd ð TP Þ Tp þ .i ı .j ȷ
    /L Ł /l ł /O Ø /o ø Of ª Om º
  `),
  // Money, law, numbers.
  ...wordPairs(`
    ct ¢ Po £ Ye ¥ Cs ¤ Eu € eu € co (c) rg (R) tm (TM) 12 ½ 14 ¼ 34 ¾ S1 ¹ S2 ² S3 ³ %0 ‰
  `),
  // Mathematics and arrows.
  ...wordPairs(`
    pl + mu × di ÷ +- ± eq = == ≡ != ≠ <= ≤ >= ≥ ~~ ≈ ~= ≅ -> → <- ← ua ↑ da ↓ <> ↔ rA ⇒ lA ⇐ hA ⇔ no ¬
    fa ∀ te ∃ mo ∈ nm ∉ sr √ if ∞ is ∫ sum ∑ product ∏ pd ∂ gr ∇ md ⋅
  `),
  ...greek(),
]);

/** `*a` to `*w` and `*A` to `*W`: the Greek alphabet in groff's order of letters. */
function greek(): Map<string, string> {
  const letters = wordPairs('*V Σ ts ς');
  const names = 'abgdezyhiklmncoprstufxqw';
  const lower = 'αβγδεζηθικλμνξοπρστυφχψω';
  [...names].forEach((name, i) => {
    letters.set(`*${name}`, lower[i]!).set(`*${name.toUpperCase()}`, lower[i]!.toUpperCase());
  });
  return letters;
}

/**
 * Returns the character of a name; empty if there is no such name. `u0041_0301` is a sequence of code points,
 * `char65` a byte.
 */
function troffCharacter(name: string): string {
  const known = NAMES.get(name);
  if (known !== undefined) return known;
  if (/^u[0-9A-F]{4,6}(?:_[0-9A-F]{4,6}){0,8}$/.test(name))
    return name.slice(1).split('_').map(codePoint).join('').normalize('NFC');
  const accent = name.length === 2 ? GROFF_ACCENTS.get(name.charAt(0)) : undefined;
  if (accent !== undefined && /[a-zA-Z]/.test(name.charAt(1)))
    return (name.charAt(1) + accent).normalize('NFC');
  const byte = /^char(\d{1,3})$/.exec(name)?.[1];
  return byte === undefined || Number(byte) > 255 ? '' : String.fromCharCode(Number(byte));
}

function codePoint(hex: string): string {
  const code = Number.parseInt(hex, 16);
  return code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? '' : String.fromCodePoint(code);
}
