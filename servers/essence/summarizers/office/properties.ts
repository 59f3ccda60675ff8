import { present } from '../extracted.js';
import { codePage, decodePage } from '../rtf/code-pages.js';
import type { CompoundFile } from './compound-file.js';

/** IDs of properties in the summary information, and their attributes. */
const PROPERTIES: ReadonlyMap<number, string> = new Map([
  [2, 'Title'],
  [3, 'Subject'],
  [4, 'Author'],
  [5, 'Keywords'],
  [6, 'Abstract'],
]);

/**
 * Reads title, author and other properties of a document's summary information. @throws RangeError if it is
 * damaged
 */
export function propertiesOf(file: CompoundFile): (readonly [string, string])[] {
  const bytes = file.stream('\u0005SummaryInformation');
  if (bytes === undefined || bytes.length < 48) return [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const section = view.getUint32(44, true);
  const count = Math.min(100, view.getUint32(section + 4, true));
  const values: [string, string][] = [];
  let page = 1252;
  for (let i = 0; i < count; i++) {
    const id = view.getUint32(section + 8 + 8 * i, true);
    const offset = section + view.getUint32(section + 12 + 8 * i, true);
    const type = view.getUint32(offset, true);
    if (id === 1 && type === 2) page = view.getUint16(offset + 4, true);
    const name = PROPERTIES.get(id);
    if (name === undefined || (type !== 30 && type !== 31)) continue;
    const length = Math.min(10_000, view.getUint32(offset + 4, true)) * (type === 31 ? 2 : 1);
    const label = type === 31 ? 'utf-16le' : codePage(page);
    values.push([
      name,
      decodePage(bytes.subarray(offset + 8, offset + 8 + length), label)
        .replace(/\0[\s\S]*$/, '')
        .trim(),
    ]);
  }
  return present(values);
}
