/** Words of a macro line; double quotes hold blanks together and are doubled to stand for themselves. */
export function macroArguments(text: string): string[] {
  return Array.from(text.matchAll(/"((?:[^"]|"")*)"?|[^\s"]\S*/g), (found) => {
    const word = found[1] === undefined ? found[0] : found[1].replaceAll('""', '"');
    return removeEscapes(word);
  }).filter((word) => word !== '');
}

/** troff's escapes: fonts and sizes vanish, characters become what they stand for (E-74). */
export function removeEscapes(text: string): string {
  if (!text.includes('\\')) return text;
  return text
    .replace(/\\["#].*$/, '')
    .replace(/\\f(?:\[[^\]]{0,200}\]|\(..|.)|\\s[-+]?\d{1,2}|\\[hvwNoxbl]'[^']{0,200}'|\\[&|^/,:%)]/g, '')
    .replace(/\\\*(?:\[[^\]]{0,200}\]|\(..|.)/g, '')
    .replace(/\\\((?:em|en|hy|mi)|\\\[(?:em|en|hy|mi)\]/g, '-')
    .replace(/\\\((?:lq|rq|dq)|\\\*q/g, '"')
    .replace(/\\\((?:aq|cq|oq)/g, "'")
    .replace(/\\\(co/g, '(c)')
    .replace(/\\\(bu/g, '*')
    .replace(/\\(?:\(..|\[[^\]]{0,200}\])/g, '')
    .replace(/\\e/g, '\\')
    .replace(/\\([- .'`_~0])/g, (_, c: string) => (c === '0' || c === '~' ? ' ' : c))
    .replace(/\\(.)/g, '$1');
}
