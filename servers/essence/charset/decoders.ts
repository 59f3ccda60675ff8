// Decoding by the name of a character set.
import { isAscii } from 'node:buffer';
import { decodeHz, decodeShifted } from './seven-bit.js';

// Character sets of eight bits that the platform does not decode: those of DOS and of the Macintosh, and
// ISO-8859-16.

/** Names, and the characters of the bytes from 0x80. U+FFFD: none. */
const CODE_PAGES: Readonly<Record<string, string>> = {
  ibm437:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\xa0',
  ibm737:
    'ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩαβγδεζηθικλμνξοπρσςτυφχψ░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀ωάέήϊίόύϋώΆΈΉΊΌΎΏ±≥≤ΪΫ÷≈°∙·√ⁿ²■\xa0',
  ibm775:
    'ĆüéāäģåćłēŖŗīŹÄÅÉæÆōöĢ¢ŚśÖÜø£Ø×¤ĀĪóŻżź”¦©®¬½¼Ł«»░▒▓│┤ĄČĘĖ╣║╗╝ĮŠ┐└┴┬├─┼ŲŪ╚╔╩╦╠═╬Žąčęėįšųūž┘┌█▄▌▐▀ÓßŌŃõÕµńĶķĻļņĒŅ’\xad±“¾¶§÷„°∙·¹³²■\xa0',
  ibm850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\xad±‗¾¶§÷¸°¨·¹³²■\xa0',
  ibm852:
    'ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\xad˝˛ˇ˘§÷¸°¨˙űŘř■\xa0',
  ibm855:
    'ђЂѓЃёЁєЄѕЅіІїЇјЈљЉњЊћЋќЌўЎџЏюЮъЪаАбБцЦдДеЕфФгГ«»░▒▓│┤хХиИ╣║╗╝йЙ┐└┴┬├─┼кК╚╔╩╦╠═╬¤лЛмМнНоОп┘┌█▄Пя▀ЯрРсСтТуУжЖвВьЬ№\xadыЫзЗшШэЭщЩчЧ§■\xa0',
  ibm857:
    'ÇüéâäàåçêëèïîıÄÅÉæÆôöòûùİÖÜø£ØŞşáíóúñÑĞğ¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ºªÊËÈ\ufffdÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµ\ufffd×ÚÛÙìÿ¯´\xad±\ufffd¾¶§÷¸°¨·¹³²■\xa0',
  ibm862:
    'אבגדהוזחטיךכלםמןנסעףפץצקרשת¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\xa0',
  ibm865:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø₧ƒáíóúñÑªº¿⌐¬½¼¡«¤░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\xa0',
  'x-mac-ce':
    'ÄĀāÉĄÖÜáąČäčĆćéŹźĎíďĒēĖóėôöõúĚěü†°Ę£§•¶ß®©™ę¨≠ģĮįĪ≤≥īĶ∂∑łĻļĽľĹĺŅņŃ¬√ńŇ∆«»…\xa0ňŐÕőŌ–—“”‘’÷◊ōŔŕŘ‹›řŖŗŠ‚„šŚśÁŤťÍŽžŪÓÔūŮÚůŰűŲųÝýķŻŁżĢˇ',
  'x-mac-greek':
    'Ä¹²É³ÖÜ΅àâä΄¨çéèêë£™îï•½‰ôö¦€ùûü†ΓΔΘΛΞΠß®©ΣΪ§≠°·Α±≤≥¥ΒΕΖΗΙΚΜΦΫΨΩάΝ¬ΟΡ≈Τ«»…\xa0ΥΧΆΈœ–―“”‘’÷ΉΊΌΎέήίόΏύαβψδεφγηιξκλμνοπώρστθωςχυζϊϋΐΰ\xad',
  'x-mac-turkish':
    'ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\xa0ÀÃÕŒœ–—“”‘’÷◊ÿŸĞğİıŞş‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\uf8ffÒÚÛÙ\ufffdˆ˜¯˘˙˚¸˝˛ˇ',
  'iso-8859-16':
    '\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f\x90\x91\x92\x93\x94\x95\x96\x97\x98\x99\x9a\x9b\x9c\x9d\x9e\x9f\xa0ĄąŁ€„Š§š©Ș«Ź\xadźŻ°±ČłŽ”¶·žčș»ŒœŸżÀÁÂĂÄĆÆÇÈÉÊËÌÍÎÏĐŃÒÓÔŐÖŚŰÙÚÛÜĘȚßàáâăäćæçèéêëìíîïđńòóôőöśűùúûüęțÿ',
};

/** The characters of the bytes from 0x80 in this character set; undefined if it is none of these. */
export function codePage(label: string): string | undefined {
  return Object.hasOwn(CODE_PAGES, label) ? CODE_PAGES[label] : undefined;
}

/** Decodes by the characters of the bytes from 0x80. */
function decodeCodePage(bytes: Uint8Array, page: string): string {
  const units = new Uint16Array(Math.min(bytes.length, 32 * 1024));
  let text = '';
  for (let start = 0; start < bytes.length; start += units.length) {
    const end = Math.min(bytes.length, start + units.length);
    for (let i = start; i < end; i++) {
      const byte = bytes[i]!;
      units[i - start] = byte < 0x80 ? byte : page.charCodeAt(byte - 0x80);
    }
    text += String.fromCharCode(...units.subarray(0, end - start));
  }
  return text;
}

/** Names that are written in documents, without signs, and the names by which they are decoded. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ...'437 737 775 850 852 855 857 862 865'
    .split(' ')
    .flatMap((page) =>
      ['cp', 'pc', 'ibm', 'dos', 'oem', 'cspc'].map((by) => [`${by}${page}`, `ibm${page}`] as const),
    ),
  // Of the package inputenc of LaTeX.
  ['ansinew', 'windows-1252'],
  ['applemac', 'macintosh'],
  ['macce', 'x-mac-ce'],
  ['maccyr', 'x-mac-cyrillic'],
  ['cp866av', 'ibm866'],
  ['cp866nav', 'ibm866'],
  ['cp437de', 'ibm437'],
  ['cp858', 'ibm850'],
  ['koi8ru', 'koi8-u'],
  ['iso88595', 'iso-8859-5'],
  ['latin9', 'iso-8859-15'],
  ['latin10', 'iso-8859-16'],
  ['utf8x', 'utf-8'],
  // Of Emacs, Python and others.
  ['macroman', 'macintosh'],
  ['maccyrillic', 'x-mac-cyrillic'],
  ['maccentraleurope', 'x-mac-ce'],
  ['maclatin2', 'x-mac-ce'],
  ['macgreek', 'x-mac-greek'],
  ['macturkish', 'x-mac-turkish'],
  ['cyrillickoi8', 'koi8-r'],
  ['cyrillicalternativnyj', 'ibm866'],
  ['cyrilliciso8bit', 'iso-8859-5'],
  ['isolatin1', 'iso-8859-1'],
  ['isolatin2', 'iso-8859-2'],
  ['isolatin9', 'iso-8859-15'],
  ['greekiso8bit', 'iso-8859-7'],
  ['hebrewiso8bit', 'iso-8859-8'],
  ['japaneseshiftjis', 'shift_jis'],
  ['japaneseiso8bit', 'euc-jp'],
  ['euccn', 'gb18030'],
  ['chineseiso8bit', 'gb18030'],
  ['cngb', 'gb18030'],
  ['chinesegbk', 'gb18030'],
  ['cngb2312', 'gb18030'],
  ['koreaniso8bit', 'euc-kr'],
  ['eucjapan', 'euc-jp'],
  ['euckorea', 'euc-kr'],
  ['cp949', 'euc-kr'],
  ['uhc', 'euc-kr'],
  ['cp950', 'big5'],
  ['cp936', 'gb18030'],
  ['cp932', 'shift_jis'],
  ['ms932', 'shift_jis'],
  ['cp874', 'windows-874'],
  ['utf16', 'utf-16le'],
  ['ucs2', 'utf-16le'],
  ['utf32', 'utf-32le'],
  ['utf32le', 'utf-32le'],
  ['utf32be', 'utf-32be'],
  ['ucs4', 'utf-32be'],
  ['hz', 'hz-gb-2312'],
  ['hzgb2312', 'hz-gb-2312'],
  ['iso2022kr', 'iso-2022-kr'],
  ['iso2022cn', 'iso-2022-cn'],
]);

/** The characters of windows-1252 from 0x80 to 0x9F. */
const WESTERN_SIGNS = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

/** The name by which a character set is decoded; undefined if it is unknown. */
export function labelOf(written: string): string | undefined {
  // Emacs appends the kind of line ends.
  const name = written
    .trim()
    .toLowerCase()
    .replace(/-(?:unix|dos|mac)$/, '');
  const alias = ALIASES.get(name.replace(/[-_. ]/g, ''));
  if (alias !== undefined) return alias;
  for (const label of [name, name.replaceAll('_', '-')]) {
    if (codePage(label) !== undefined) return label;
    const known = platformDecoder(label)?.encoding;
    if (known !== undefined) return known;
  }
  return undefined;
}

/** Decodes in a character set that {@link labelOf} returns. Bytes without a character become U+FFFD. */
export function decodeAs(bytes: Uint8Array, label: string): string {
  const page = codePage(label);
  if (page !== undefined) return decodeCodePage(bytes, page);
  switch (label) {
    case 'utf-8':
      return decodeUtf8(bytes);
    case 'windows-1252':
      return decodeWestern(bytes);
    case 'utf-32le':
    case 'utf-32be':
      return decodeUtf32(bytes, label === 'utf-32le');
    case 'hz-gb-2312':
      return decodeHz(bytes);
    case 'iso-2022-kr':
    case 'iso-2022-cn':
      return decodeShifted(bytes, label);
    default:
      return platformDecoder(label)?.decode(bytes) ?? decodeLatin(bytes);
  }
}

/** Decodes valid UTF-8; a byte order mark is left out. */
export function decodeUtf8(bytes: Uint8Array): string {
  if (isAscii(bytes)) return decodeLatin(bytes);
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8', marked ? 3 : 0);
}

/** Each byte as the character of the same number. */
export function decodeLatin(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/**
 * Not by the platform: Node.js 20 decodes windows-1252 as ISO-8859-1, which has control characters for its
 * quotation marks.
 */
function decodeWestern(bytes: Uint8Array): string {
  return decodeLatin(bytes).replace(
    /[\x80-\x9f]/g,
    (character) => WESTERN_SIGNS[character.charCodeAt(0) - 0x80] ?? character,
  );
}

function decodeUtf32(bytes: Uint8Array, littleEndian: boolean): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const points: string[] = [];
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const point = view.getUint32(at, littleEndian);
    if (at === 0 && point === 0xfeff) continue;
    const valid = point < 0xd800 || (point > 0xdfff && point <= 0x10ffff);
    points.push(valid ? String.fromCodePoint(point) : '\ufffd');
  }
  return points.join('');
}

function platformDecoder(label: string): InstanceType<typeof TextDecoder> | undefined {
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}
