import { AttributeLines, type FoundObject, linesOf } from './lines.js';

/** E-49: an IAFA template with lines `Name: value`; a line without a colon continues the previous one. */
export function convertIafa(text: string, url: string): FoundObject[] {
  const found = new AttributeLines();
  let last: string | undefined;
  for (const line of linesOf(text)) {
    const [, name, value = ''] = /^([A-Za-z0-9#-]+):[ \t]*(.*)$/s.exec(line) ?? [];
    if (name !== undefined) {
      found.add(name, value.trim());
      last = name;
    } else if (last !== undefined && !line.includes(':') && line.trim() !== '') {
      found.add(last, line.trim());
    }
  }
  return found.pairs.length === 0 ? [] : [{ url, attributes: found.pairs }];
}
