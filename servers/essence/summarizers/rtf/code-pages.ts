import { decodeAs } from '../../charset/decoders.js';
import { wordPairs } from '../../word-tables.js';

/** Labels of the Encoding Standard by the Windows character set numbers of `\fcharset`. */
const BY_CHARSET = wordPairs(`
  0 windows-1252 77 macintosh 128 shift_jis 129 euc-kr 134 gbk 136 big5 161 windows-1253
  162 windows-1254 163 windows-1258 177 windows-1255 178 windows-1256 186 windows-1257
  204 windows-1251 222 windows-874 238 windows-1250 254 ibm437 255 ibm850
`);

/** The character sets of `\pc` and `\pca` (PS/2), which precede that of `\ansicpg` in a document. */
export const PC_PAGES: ReadonlyMap<string, number> = new Map([
  ['pc', 437],
  ['pca', 850],
]);

/** Code pages of DOS with the same number in their name. */
const DOS_PAGES: ReadonlySet<number> = new Set([437, 737, 775, 850, 852, 855, 857, 862, 865, 866]);

/** Labels by the numbers of `\ansicpg` that are not regular. */
const BY_PAGE = wordPairs(`
  708 iso-8859-6 874 windows-874 932 shift_jis 936 gbk 949 euc-kr 950 big5 10000 macintosh
  10006 x-mac-greek 10007 x-mac-cyrillic 10029 x-mac-ce 10081 x-mac-turkish 20866 koi8-r 65001 utf-8
`);

/** Returns the label of a Windows or DOS code page; `windows-1252` if unknown. */
export function codePage(number: number): string {
  if (number >= 1250 && number <= 1258) return `windows-${number}`;
  if (DOS_PAGES.has(number)) return `ibm${number}`;
  return BY_PAGE.get(String(number)) ?? 'windows-1252';
}

/**
 * Returns the label of a font's character set; undefined for symbol and unknown sets, which use that of the
 * document.
 */
export function charsetOf(number: number): string | undefined {
  return BY_CHARSET.get(String(number));
}

/** Decodes bytes in a character set. */
export function decodePage(bytes: readonly number[] | Uint8Array, label: string): string {
  return decodeAs(Uint8Array.from(bytes), label);
}
