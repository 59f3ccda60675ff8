/**
 * The class key of a URL by the host name policy (CRAWL-9.2): URLs with the same key share a queue, a delay and a
 * connection. The authority without user information, `https` without a port as port 443, `:` written as `#`.
 *
 * @param url a canonical URL
 * @returns `default...` for a URL without an authority (`news:group`, `file:///path`)
 */
export function classKey(url: string): string {
  const start = url.indexOf('://');
  if (start < 0) return NO_AUTHORITY;
  let end = start + 3;
  let userInfoEnd = end;
  for (; end < url.length; end++) {
    const c = url.charCodeAt(end);
    if (c === SLASH || c === QUESTION_MARK) break;
    if (c === AT_SIGN) userInfoEnd = end + 1;
  }
  const authority = url.slice(userInfoEnd, end);
  if (authority === '') return NO_AUTHORITY;
  const key = url.startsWith('https:') && !/:\d+$/.test(authority) ? `${authority}:443` : authority;
  return key.includes(':') ? key.replaceAll(':', '#') : key;
}

const NO_AUTHORITY = 'default...';
const SLASH = 0x2f;
const QUESTION_MARK = 0x3f;
const AT_SIGN = 0x40;
