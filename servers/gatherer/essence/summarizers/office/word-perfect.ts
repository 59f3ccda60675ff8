import type { SourceDocument, Summary } from '../../document.js';
import { guarded, summarizeExtracted } from '../extracted.js';

/** Bytes of WordPerfect 6's codes of fixed length, 0xf0 to 0xff, code bytes at both ends included. */
const FIXED_6 = [4, 5, 3, 3, 3, 3, 4, 4, 4, 5, 5, 6, 6, 8, 8, 1];
/** The same of WordPerfect 5, 0xc0 to 0xcf. */
const FIXED_5 = [4, 9, 11, 3, 3, 5, 6, 6, 7, 6, 3, 3, 3, 3, 3, 3];

/** WordPerfect 5 and 6: as Text (6.2), by an own reader of their codes. */
export function summarizeWordPerfect(document: SourceDocument): Summary {
  const text = guarded(document, 'WordPerfect', '', () =>
    wordPerfectText(document.body, document.settings.maxObjectBytes),
  );
  return summarizeExtracted({ attributes: [], text });
}

function wordPerfectText(bytes: Uint8Array, limit: number): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 16 || view.getUint32(0) !== 0xff575043) throw new Error('no WordPerfect document');
  const six = bytes[10]! >= 2;
  const parts: string[] = [];
  for (let at = view.getUint32(4, true); at < bytes.length && parts.length < limit; ) {
    const code = bytes[at]!;
    if (code >= 0x20 && code <= 0x7e) parts.push(String.fromCharCode(code));
    else if (code >= 0xd0 && code <= 0xef) {
      // A group of variable length says its size; in a tab or a hard return there is white space.
      if (six) {
        parts.push(code === 0xd0 ? '\n' : code === 0xe0 ? '\t' : '');
        at += Math.max(4, view.getUint16(at + 2, true));
      } else at += 4 + view.getUint16(at + 2, true);
      continue;
    } else if (six && code >= 0xf0) {
      if (code === 0xf0) parts.push(extended(bytes[at + 1] ?? 0, bytes[at + 2] ?? 0));
      at += FIXED_6[code - 0xf0]!;
      continue;
    } else if (!six && code >= 0xc0 && code <= 0xcf) {
      if (code === 0xc0) parts.push(extended(bytes[at + 1] ?? 0, bytes[at + 2] ?? 0));
      else if (code === 0xc1) parts.push('\t');
      at += FIXED_5[code - 0xc0]!;
      continue;
    } else if (six) parts.push(code === 0x80 ? ' ' : code === 0x84 ? '-' : isReturn6(code) ? '\n' : '');
    else
      parts.push(
        code === 0x0a || code === 0x0c ? '\n' : code === 0x0d ? ' ' : code >= 0xa9 && code <= 0xab ? '-' : '',
      );
    at++;
  }
  return parts.join('');
}

function isReturn6(code: number): boolean {
  return (code >= 0xb7 && code <= 0xb9) || code === 0xcc || code === 0xc7;
}

/** Letters of WordPerfect's set 1, from 26 on in pairs of capital and small. */
const LETTERS = 'ÁáÂâÄäÀàÅåÆæÇçÉéÊêËëÈèÍíÎîÏïÌìÑñÓóÔôÖöÒòÚúÛûÜüÙù';

/** A character of another set; typographic signs become the plain ones. */
function extended(character: number, set: number): string {
  if (set === 1) return character === 23 ? 'ß' : (LETTERS[character - 26] ?? ' ');
  if (set === 4) return character >= 33 && character <= 34 ? '–' : character === 28 ? "'" : '"';
  return set === 0 && character > 32 && character < 127 ? String.fromCharCode(character) : ' ';
}
