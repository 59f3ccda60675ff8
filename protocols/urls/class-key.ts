// The class key of a URL: URLs with the same key share a queue (CRAWL-9.2).
import { hostOfDns } from './host.js';

/** The input of a class key. */
export interface ClassKeySubject {
  readonly uri: string;
  /** The URI on which it was found. A `dns:` URI is in the queue of the URI that needs it. */
  readonly via?: string | undefined;
}

/**
 * The class key of a URL by the host name policy (CRAWL-9.2): URLs with the same key share a queue, a delay and
 * a connection. The key is the authority without user information, with port 443 for `https` without a port,
 * and `#` for `:`.
 *
 * @param via for a `dns:` URI: the URI that needs the address
 * @returns `default...` for a URL without an authority (`news:group`) and for a file of this machine
 */
export function classKey(url: string, via?: string): string {
  if (url.startsWith('dns:')) {
    if (via !== undefined && !via.startsWith('dns:')) return classKey(via);
    return hostOfDns(url) || NO_AUTHORITY;
  }
  // A file of this machine.
  if (url.startsWith('file://localhost/')) return NO_AUTHORITY;
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

export const NO_AUTHORITY = 'default...';
const SLASH = 0x2f;
const QUESTION_MARK = 0x3f;
const AT_SIGN = 0x40;
