import { AttributeLines, type FoundObject, linesOf } from './lines.js';

/** Attributes that form the URL: only their first word is used. */
const LOCATION = new Set(['site', 'path', 'file']);

/**
 * E-48: a Linux Software Map entry with lines `Name = value`; the name ends at white space and loses one final digit. With Site, Path
 * and File the object is the file that it describes, else the entry itself.
 */
export function convertLsm(text: string, url: string): FoundObject[] {
  const found = new AttributeLines();
  for (const line of linesOf(text)) {
    const equals = line.indexOf('=');
    if (equals < 0) continue;
    const written = /^\s*(\S+)/.exec(line.slice(0, equals))?.[1]?.replace(/\d$/, '') ?? '';
    const name = written.toLowerCase() === 'desc' ? 'Description' : written;
    const value = line.slice(equals + 1).trim();
    if (name !== '')
      found.add(name, LOCATION.has(name.toLowerCase()) ? (value.split(/\s/, 1)[0] ?? '') : value);
  }
  if (found.pairs.length === 0) return [];
  const [site, path, file] = ['Site', 'Path', 'File'].map((name) => found.get(name)?.split('\n', 1)[0] ?? '');
  const complete = [site, path, file].every((part) => part !== '');
  const joined = `${site}/${path}/${file}`.replace(/\/{2,}/g, '/');
  return [{ url: complete ? `ftp://${joined}` : url, attributes: found.pairs }];
}
