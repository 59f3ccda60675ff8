// Decoding by the name of a character set.
import { isAscii } from 'node:buffer';
import { bufferOf, latin, viewOf } from '../bytes.js';
import { namesByWord, words } from '../word-tables.js';
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

/** The characters of the bytes from 0x80 in this character set; undefined for a set without a table. */
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
  ...words('437 737 775 850 852 855 857 862 865').flatMap((page) =>
    words('cp pc ibm dos oem cspc').map((by) => [`${by}${page}`, `ibm${page}`] as const),
  ),
  // Of the package inputenc of LaTeX, of Emacs, Python and others.
  ...namesByWord({
    'windows-1252': 'ansinew',
    macintosh: 'applemac macroman',
    'x-mac-ce': 'macce maccentraleurope maclatin2',
    'x-mac-cyrillic': 'maccyr maccyrillic',
    ibm866: 'cp866av cp866nav cyrillicalternativnyj',
    ibm437: 'cp437de',
    ibm850: 'cp858',
    'koi8-u': 'koi8ru',
    'iso-8859-5': 'iso88595 cyrilliciso8bit',
    'iso-8859-15': 'latin9 isolatin9',
    'iso-8859-16': 'latin10',
    'utf-8': 'utf8x',
    'x-mac-greek': 'macgreek',
    'x-mac-turkish': 'macturkish',
    'koi8-r': 'cyrillickoi8',
    'iso-8859-1': 'isolatin1',
    'iso-8859-2': 'isolatin2',
    'iso-8859-7': 'greekiso8bit',
    'iso-8859-8': 'hebrewiso8bit',
    shift_jis: 'japaneseshiftjis cp932 ms932',
    'euc-jp': 'japaneseiso8bit eucjapan',
    gb18030: 'euccn chineseiso8bit cngb chinesegbk cngb2312 cp936',
    'euc-kr': 'koreaniso8bit euckorea cp949 uhc',
    big5: 'cp950',
    'windows-874': 'cp874',
    'utf-16le': 'utf16 ucs2',
    'utf-32le': 'utf32 utf32le',
    'utf-32be': 'utf32be ucs4',
    'hz-gb-2312': 'hz hzgb2312',
    'iso-2022-kr': 'iso2022kr',
    'iso-2022-cn': 'iso2022cn',
  }),
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
      return platformDecoder(label)?.decode(bytes) ?? latin(bytes);
  }
}

/** Decodes valid UTF-8; a byte order mark is left out. */
export function decodeUtf8(bytes: Uint8Array): string {
  if (isAscii(bytes)) return latin(bytes);
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return bufferOf(bytes).toString('utf8', marked ? 3 : 0);
}

/**
 * Not by the platform: Node.js 20 decodes windows-1252 as ISO-8859-1, which has control characters for its
 * quotation marks.
 */
function decodeWestern(bytes: Uint8Array): string {
  return latin(bytes).replace(
    /[\x80-\x9f]/g,
    (character) => WESTERN_SIGNS[character.charCodeAt(0) - 0x80] ?? character,
  );
}

function decodeUtf32(bytes: Uint8Array, littleEndian: boolean): string {
  const view = viewOf(bytes);
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
