import { type FoundObject, linesOf } from './lines.js';

/** E-50: names of archives by a substring of their root URL. */
const SITES: readonly (readonly [word: string, site: string])[] = [
  ['cica', 'CICA DOS'],
  ['garbo', 'Garbo DOS (Finland)'],
  ['hobbes', 'Hobbes OS/2'],
  ['ulowell', 'U. Lowell DOS Games'],
  ['oakland', 'Oakland U. DOS'],
  ['umich', 'U. Michigan DOS'],
];

/**
 * E-50: an index of a PC software archive. The first line lists root URLs, of which the first is used; every other line is
 * `(("." "p1" ... "name") "date" size "desc")`.
 */
export function* convertPcIndex(text: string): Generator<FoundObject> {
  const [first = '', ...lines] = linesOf(text);
  // The look-behind keeps the search linear in a long word without `://`.
  const root = /(?<![a-z])[a-z]+:\/\/[^\s"()]+/i.exec(first)?.[0];
  if (root === undefined) return;
  const site = SITES.find(([word]) => root.toLowerCase().includes(word))?.[1] ?? 'Unknown';
  for (const line of lines) {
    const found = /^\s*\(\(((?:\s*"(?:[^"\\]|\\.)*")+)\s*\)\s*"([^"]*)"\s+(\d+)\s*"((?:[^"\\]|\\.)*)"/.exec(
      line,
    );
    if (found === null) continue;
    const [, path = '', date = '', size = '0', description = ''] = found;
    const parts = Array.from(path.matchAll(/"((?:[^"\\]|\\.)*)"/g), (part) => removeEscapes(part[1] ?? ''));
    const attributes: [string, string][] = [['Archive-Site', site]];
    if (date.length >= 6) attributes.push(['ASCII-Date', date]);
    if (Number(size) !== 0) attributes.push(['File-Size', size]);
    if (description !== '') attributes.push(['Description', removeEscapes(description)]);
    const names = parts.filter((part) => part !== '.' && part !== '');
    yield { url: [root.replace(/\/+$/, ''), ...names].join('/'), attributes };
  }
}

function removeEscapes(text: string): string {
  return text.replace(/\\(.)/g, '$1');
}
