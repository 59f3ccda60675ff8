/** Splits a macro line into words; double quotes group blanks, a doubled one is a quote. */
export function macroArguments(text: string): string[] {
  return Array.from(text.matchAll(/"([^"]*(?:""[^"]*)*)"?|[^\s"]\S*/g), (found) => {
    const word = found[1] === undefined ? found[0] : found[1].replaceAll('""', '"');
    return removeEscapes(word);
  }).filter((word) => word !== '');
}

/** Replaces troff's escapes (E-74): removes fonts and sizes, converts characters. */
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
