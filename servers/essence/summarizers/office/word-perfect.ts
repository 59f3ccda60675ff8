import { RefusedError } from '../../../../protocols/errors.js';
import { viewOf } from '../../bytes.js';
import { isBinary } from '../../charset/marks.js';
import type { SourceDocument, Summary } from '../../document.js';
import { guarded, summarizeExtracted } from '../extracted.js';
import { summarizeText } from '../text.js';

/** Lengths of WordPerfect 6's fixed-length codes, 0xf0 to 0xff, including the code bytes at both ends. */
const FIXED_6 = [4, 5, 3, 3, 3, 3, 4, 4, 4, 5, 5, 6, 6, 8, 8, 1];
/** Lengths of WordPerfect 5's fixed-length codes, 0xc0 to 0xcf. */
const FIXED_5 = [4, 9, 11, 3, 3, 5, 6, 6, 7, 6, 3, 3, 3, 3, 3, 3];
/** Longest code of WordPerfect 4 or of the Macintosh, which ends with its first byte. */
const MAX_CODE = 512;
/** File type in the header of a document of WordPerfect for the Macintosh. */
const MACINTOSH = 0x2c;

/** Reads the code at `offset`; returns its text and the offset of the next one. */
type CodeReader = (bytes: Uint8Array, offset: number) => readonly [text: string, next: number];

/**
 * WordPerfect 4 to 6, and 2 and 3 of the Macintosh: as Text (6.2). Omits notes and headers, which are not
 * running text, and the letters beyond ASCII in WordPerfect 4.
 */
export function summarizeWordPerfect(document: SourceDocument): Summary {
  // Other files, e.g. plain text, also have the suffix .wp.
  const { body } = document;
  if (!isEncrypted4(body) && !isBinary(body) && !hasCodes(body)) {
    return { ...summarizeText(document), text: document.text };
  }
  const text = guarded(document, 'WordPerfect', '', () =>
    wordPerfectText(body, document.settings.maxObjectBytes),
  );
  return summarizeExtracted({ attributes: [], text });
}

/** Whether the bytes begin like a WordPerfect 4 document with a password. */
function isEncrypted4(bytes: Uint8Array): boolean {
  return bytes[0] === 0xfe && bytes[1] === 0xff && bytes[2] === 0x61 && bytes[3] === 0x61;
}

function hasCodes(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 4096).some((byte) => byte >= 0x80 && byte <= 0xf8);
}

function wordPerfectText(bytes: Uint8Array, limit: number): string {
  const view = viewOf(bytes);
  const head = bytes.length < 4 ? 0 : view.getUint32(0);
  if (isEncrypted4(bytes)) throw new RefusedError('it is encrypted');
  if (head !== 0xff575043) return textOf(bytes, 0, version4, limit);
  if (bytes.length < 16) throw new Error('not a WordPerfect document');
  if (view.getUint16(12) !== 0) throw new RefusedError('it is encrypted');
  const reader = bytes[9] === MACINTOSH ? macintosh : bytes[10]! >= 2 ? version6 : version5;
  return textOf(bytes, view.getUint32(4, true), reader, limit);
}

function textOf(bytes: Uint8Array, begin: number, read: CodeReader, limit: number): string {
  const parts: string[] = [];
  for (let offset = begin; offset < bytes.length && parts.length < limit; ) {
    const code = bytes[offset]!;
    if (code > 0x20 && code <= 0x7e) {
      parts.push(String.fromCharCode(code));
      offset++;
    } else {
      const [text, next] = read(bytes, offset);
      if (text !== '') parts.push(text);
      offset = Math.max(offset + 1, next);
    }
  }
  return parts.join('');
}

/** A code ends with its first byte. The group 0xc3 contains centered text, the others numbers. */
const version4: CodeReader = (bytes, offset) => {
  const code = bytes[offset]!;
  if (code === 0x0a || code === 0x0c || code === 0x8c) return ['\n', offset + 1];
  if (code === 0x20 || code === 0x0d || code === 0x09 || code === 0xa0) return [' ', offset + 1];
  if (code >= 0xa9 && code <= 0xab) return ['-', offset + 1];
  if (code < 0xc0) return ['', offset + 1];
  const end = bytes.subarray(offset + 1, offset + MAX_CODE).indexOf(code);
  return ['', end < 0 ? offset + 1 : offset + 2 + end];
};

const version5: CodeReader = (bytes, offset) => {
  const code = bytes[offset]!;
  // A group of variable length states its size.
  if (code >= 0xd0 && code <= 0xef) return ['', offset + 4 + word(bytes, offset + 2, true)];
  if (code >= 0xc0 && code <= 0xcf) {
    const next = offset + FIXED_5[code - 0xc0]!;
    if (code === 0xc0) return [wordPerfectCharacter(bytes[offset + 2] ?? 0, bytes[offset + 1] ?? 0), next];
    return [code === 0xc1 ? '\t' : '', next];
  }
  if (code === 0x0a || code === 0x0c || code === 0x8c || code === 0x99) return ['\n', offset + 1];
  // Soft returns; 0x93 and 0x94 are invisible.
  if (code === 0x20 || code === 0x0d || code === 0x93 || code === 0x94 || code === 0xa0)
    return [' ', offset + 1];
  return [code >= 0xa9 && code <= 0xab ? '-' : '', offset + 1];
};

const version6: CodeReader = (bytes, offset) => {
  const code = bytes[offset]!;
  if (code >= 0x01 && code <= 0x20) return [shortCharacter(code), offset + 1];
  if (code >= 0xd0 && code <= 0xef) {
    // Tabs and hard returns are white space.
    const text = code === 0xd0 ? '\n' : code === 0xe0 ? '\t' : '';
    return [text, offset + Math.max(4, word(bytes, offset + 2, true))];
  }
  if (code >= 0xf0) {
    const next = offset + FIXED_6[code - 0xf0]!;
    return [code === 0xf0 ? wordPerfectCharacter(bytes[offset + 2] ?? 0, bytes[offset + 1] ?? 0) : '', next];
  }
  if (code === 0x80) return [' ', offset + 1];
  if (code === 0x84) return ['-', offset + 1];
  return [(code >= 0xb7 && code <= 0xb9) || code === 0xcc || code === 0xc7 ? '\n' : '', offset + 1];
};

/**
 * Groups of variable length begin at 0xd0 and state their size, high byte first; the others end with their
 * first byte.
 */
const macintosh: CodeReader = (bytes, offset) => {
  const code = bytes[offset]!;
  if (code === 0x20) return [' ', offset + 1];
  if (code < 0xc0) return [code === 0x0d || code === 0x0a || code === 0x0c ? '\n' : '', offset + 1];
  if (code >= 0xd0) return [code === 0xdc ? '\n' : '', offset + 4 + word(bytes, offset + 2, false)];
  const end = bytes.subarray(offset + 1, offset + MAX_CODE).indexOf(code);
  const next = end < 0 ? offset + 1 : offset + 2 + end;
  // The letter in the Macintosh encoding, its set, its number.
  if (code === 0xc0)
    return [wordPerfectCharacter(bytes[offset + 2] ?? 0, bytes[offset + 3] ?? 0), offset + 5];
  return [code === 0xc1 ? '\t' : '', next];
};

function word(bytes: Uint8Array, offset: number, little: boolean): number {
  const [low = 0, high = 0] = little
    ? bytes.subarray(offset, offset + 2)
    : [bytes[offset + 1], bytes[offset]];
  return low + 256 * high;
}

/**
 * WordPerfect's character sets with letters and punctuation; the index of a character is its number in the set.
 * Other symbols are blanks.
 */

/** Set 1, starting at number 23. */
const MULTINATIONAL =
  'ßĸjÁáÂâÄäÀàÅåÆæÇçÉéÊêËëÈèÍíÎîÏïÌìÑñÓóÔôÖöÒòÚúÛûÜüÙùŸÿÃãĐđØøÕõÝýÐðÞþĂăĀāĄąĆćČčĈĉĊċĎďĚěĖėĒēĘ' +
  'ęǴǵĞğǦǧĢģĜĝĠġĤĥĦħİiĪīĮįĨĩĲĳĴĵĶķĹĺĽľĻļĿŀŁłŃń ŉŇňŅņŐőŌōŒœŔŕŘřŖŗŚśŠšŞşŜŝŤťŢţŦŧŬŭŰűŪūŲųŮůŨũŴŵŶ' +
  'ŷŹźŽžŻżŊŋ              ỲỳĎďƠơƯưĔĕĬĭIıŎŏ';
/** Set 4, without the ornaments at its end. */
const TYPOGRAPHIC = '●○■•*¶§¡¿«»£¥₧ƒªº½¼¢²ⁿ®©¤¾³‛’‘‟”“–—‹›○□†‡™℠℞●◦■▪□▫‒ﬀﬃﬄﬁﬂ…$₣₢₠₤‚„⅓⅔⅛⅜⅝⅞ⓂⓅ€℅℆‰№—¹␉␌';
/** Set 8. */
const GREEK = 'ΑαΒβΒϐΓγΔδΕεΖζΗηΘθΙιΚκΛλΜμΝνΞξΟοΠπΡρΣσΣςΤτΥυΦφΧχΨψΩωΆάΈέΉήΊίΪϊΌόΎύΫϋΏώεϑϰ';
/** Set 10. */
const CYRILLIC =
  'АаБбВвГгДдЕеЁёЖжЗзИиЙйКкЛлМмНнОоПпРрСсТтУуФфХхЦцЧчШшЩщЪъЫыЬьЭэЮюЯяӘәЃѓҐґҒғЂђЄєЄєҖҗЅѕ  ИиІі' +
  'Її  ЈјЌќҚқӃӄҜҝЉљҢңЊњѺѻѠѡЋћЎўӮӯҮүҰұƔɣҲҳХхҺһѾѿЏџҶҷҸҹШшѢѣѦѧѪѫѮѯ';

const SETS: ReadonlyMap<number, { readonly first: number; readonly characters: readonly string[] }> = new Map(
  [
    [1, { first: 23, characters: [...MULTINATIONAL] }],
    [4, { first: 0, characters: [...TYPOGRAPHIC] }],
    [8, { first: 0, characters: [...GREEK] }],
    [10, { first: 0, characters: [...CYRILLIC] }],
  ],
);

/** The most frequent letters beyond ASCII, which WordPerfect 6 encodes as one byte, 1 to 32. */
const SHORT = 'åÅæÆäÄáàâãÃçÇëéÉèêíñÑøØõÕöÖüÜúùß';

/** Returns a character by its set and number; a blank for other symbols. */
function wordPerfectCharacter(set: number, number: number): string {
  if (set === 0) return number > 32 && number < 127 ? String.fromCharCode(number) : ' ';
  const { first, characters } = SETS.get(set) ?? { first: 0, characters: [] };
  return characters[number - first] ?? ' ';
}

/** Returns the letter of a byte from 1 to 32 in the text of WordPerfect 6. */
function shortCharacter(byte: number): string {
  return SHORT[byte - 1] ?? '';
}
