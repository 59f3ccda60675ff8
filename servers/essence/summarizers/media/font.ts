import { latin, viewOf } from '../../bytes.js';
import type { SourceDocument, Summary } from '../../document.js';
import { guarded, oneLine, present } from '../extracted.js';
import { titledFields } from '../text.js';

/** Maximum number of comment lines that are kept. */
const MAX_LINES = 200;

/** Font: its name and comments (6.2, E-75): AFM, BDF, Type 1 (PFA, PFB), TrueType and OpenType. */
export function summarizeFont(document: SourceDocument): Summary {
  const named = guarded(document, 'the font', [], () => readFont(document.body));
  return { attributes: titledFields(document, named), text: '' };
}

function readFont(bytes: Uint8Array): (readonly [string, string])[] {
  const view = viewOf(bytes);
  const head = latin(bytes, 0, 65_536);
  const collection = head.startsWith('ttcf');
  if (collection || head.startsWith('OTTO') || head.startsWith('true') || head.startsWith('\0\x01\0\0')) {
    return trueType(bytes, view, collection ? view.getUint32(12) : 0);
  }
  if (head.startsWith('STARTFONT') || head.startsWith('StartFontMetrics')) return metrics(head);
  return type1(head);
}

/** BDF and AFM: lines of a keyword and a value. */
function metrics(head: string): (readonly [string, string])[] {
  const field = (pattern: RegExp) => pattern.exec(head)?.[1]?.replace(/^"|"$/g, '').trim();
  const comments = Array.from(head.matchAll(/^(?:COMMENT|Comment)[ \t]+(.+)$/gm), (found) =>
    found[1]!.trim(),
  );
  return present([
    ['Title', field(/^FullName[ \t]+(.+)$/m) ?? field(/^FontName[ \t]+(.+)$/m) ?? field(/^FONT[ \t]+(.+)$/m)],
    ['Description', comments.slice(0, MAX_LINES)],
    ['Description', field(/^(?:Notice|COPYRIGHT)[ \t]+(.+)$/m)],
  ]);
}

/** Type 1 and Metafont: comments begin with `%`; the font's names are strings of its dictionary. */
function type1(head: string): (readonly [string, string])[] {
  const clear = head.split('eexec')[0]!;
  const field = (name: string) =>
    oneLine(new RegExp(`/${name}\\s*\\(((?:[^()\\\\]|\\\\.)*)\\)`).exec(clear)?.[1] ?? '');
  const comments = Array.from(clear.matchAll(/^%(?!!)[%\s]*(\S.*)$/gm), (found) => found[1]!.trim());
  return present([
    ['Title', field('FullName') || /\/FontName\s*\/(\S+)/.exec(clear)?.[1]],
    ['Description', comments.slice(0, MAX_LINES)],
    ['Description', field('Notice')],
  ]);
}

/** IDs in the `name` table: 4 is the full name, 0 the copyright, 10 the description, 9 the designer. */
const NAME_IDS: ReadonlyMap<number, string> = new Map([
  [4, 'Title'],
  [10, 'Description'],
  [0, 'Description'],
  [9, 'Author'],
]);

function trueType(bytes: Uint8Array, view: DataView, start: number): (readonly [string, string])[] {
  const tables = Math.min(200, view.getUint16(start + 4));
  const names = new Map<number, string>();
  for (let i = 0; i < tables; i++) {
    const offset = start + 12 + 16 * i;
    if (latin(bytes, offset, offset + 4) !== 'name') continue;
    const table = view.getUint32(offset + 8);
    const strings = table + view.getUint16(table + 4);
    const count = Math.min(2000, view.getUint16(table + 2));
    for (let k = 0; k < count; k++) {
      const record = table + 6 + 12 * k;
      const platform = view.getUint16(record);
      const id = view.getUint16(record + 6);
      // Windows' English names are UTF-16 and take precedence over those of the Macintosh.
      if (!NAME_IDS.has(id) || (platform === 3 && view.getUint16(record + 4) !== 0x409)) continue;
      if (platform !== 3 && names.has(id)) continue;
      const from = strings + view.getUint16(record + 10);
      const data = bytes.subarray(from, from + Math.min(4000, view.getUint16(record + 8)));
      names.set(id, oneLine(new TextDecoder(platform === 1 ? 'macintosh' : 'utf-16be').decode(data)));
    }
  }
  return present(Array.from(NAME_IDS, ([id, name]) => [name, names.get(id)]));
}
