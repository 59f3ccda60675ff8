// References in scripts: strings that are probably URLs (CRAWL-11.2, ExtractorJS).
import { isLikelyUrl } from './likely-url.js';

/**
 * A string between quotes, which may be escaped because the script writes another script. Quotes within it end
 * it.
 */
const STRING = /(\\{0,8}(?:["'`]|u002[27]|x2[27]))([^"'`\n\r]{2,1024}?)\1/g;

const ESCAPE = /\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))/gs;

/**
 * Calls back with each string of a script that is probably a URL, escapes resolved. Takes time in proportion to
 * the text.
 */
export function scanScript(text: string, add: (reference: string) => void): void {
  STRING.lastIndex = 0;
  for (let match = STRING.exec(text); match !== null; match = STRING.exec(text)) {
    const [, quote = '', content = ''] = match;
    // The end of one string may begin the next: scripts are not parsed.
    STRING.lastIndex = match.index + quote.length;
    if (!content.includes('/') && !content.includes('.')) continue;
    const candidate = withoutEscapes(content).replaceAll('&amp;', '&').trim();
    if (isLikelyUrl(candidate)) add(candidate);
  }
}

function withoutEscapes(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(
    ESCAPE,
    (_, braced: string | undefined, four: string | undefined, two: string | undefined, other = '') => {
      const code = braced ?? four ?? two;
      if (code === undefined) return other;
      const point = Number.parseInt(code, 16);
      return point <= 0x10ffff ? String.fromCodePoint(point) : '';
    },
  );
}
