// Gopher URLs: from a URL to the request line, from a menu item to its URL (G-55).
import { UsageError } from '../errors.js';
import { authorityOf, canonicalUrl, unescapeBytes, withoutBrackets } from '../urls/index.js';
import type { GopherItem } from './menu-decoder.js';

/** G-55: the parts of a Gopher URL. Strings have one UTF-16 unit from 0 to 255 for each byte. */
export interface GopherAddress {
  readonly host: string;
  readonly port: number;
  /** One character; `1` when the URL has no path. */
  readonly type: string;
  readonly selector: string;
  /** The text after the first tab: the search words. */
  readonly search: string | undefined;
  /** The text after the second tab: a Gopher+ request. */
  readonly plus: string | undefined;
}

export const GOPHER_PORT = 70;

/** Bytes that no request line can have. */
const UNREQUESTABLE = /[\r\n\0]/;
/** No character that would end the host of a URL, or begin it later. */
const HOST = /^[^\0- /?#@\\%[\]]+$/;

/**
 * Parses a canonical `gopher:` URL (RFC 4266): `gopher://host:port/TSELECTOR%09SEARCH%09PLUS`.
 * @throws UsageError for any other URL, or for bytes that would end the request line
 */
export function parseGopherUrl(url: string): GopherAddress {
  const match = /^gopher:\/\/(?:[^/?@]*@)?(\[[^\]]*\]|[^/?:]+)(?::(\d{1,5}))?(?:\/(.*))?$/s.exec(url);
  if (match === null) throw new UsageError('not a canonical gopher URL');
  const [, host = '', port = String(GOPHER_PORT), path = ''] = match;
  const bytes = unescapeBytes(path);
  if (UNREQUESTABLE.test(bytes)) throw new UsageError('a Gopher selector cannot contain line ends');
  const [selector = '', search, plus] = bytes.slice(1).split('\t');
  return {
    host: withoutBrackets(host),
    port: Number(port),
    type: bytes[0] ?? '1',
    selector,
    search,
    plus,
  };
}

/** Encodes the request line for an address. */
export function encodeGopherRequest({ selector, search, plus }: GopherAddress): Uint8Array {
  const fields = plus === undefined ? [selector, search] : [selector, search ?? '', plus];
  const line = `${fields.filter((field) => field !== undefined).join('\t')}\r\n`;
  return Uint8Array.from(line, (character) => character.charCodeAt(0));
}

/**
 * The canonical URL of a menu item. A search item has a URL too.
 * @returns `undefined` for items that are not links (information, errors), and for selectors that cannot be
 *   requested
 */
export function gopherItemUrl(item: GopherItem): string | undefined {
  if (item.type === 'i' || item.type === '3') return undefined;
  // A convention of later servers: a link to the Web.
  const web = /^\/?URL:(.+)$/is.exec(item.selector);
  if (web !== null) return canonicalUrl(escapeBytes(web[1]!, /[^!-~]/g));
  if (!HOST.test(item.host) || item.port === 0 || UNREQUESTABLE.test(item.type + item.selector))
    return undefined;
  const authority = authorityOf(item.host, item.port);
  if (item.type === '8' || item.type === 'T') return canonicalUrl(`telnet://${authority}/`);
  // A selector is not a path: with its slashes escaped, the canonical form does not resolve dot segments.
  const hasDotSegments = /(^|\/)\.{1,2}(\/|$)/.test(item.selector);
  const selector = escapeBytes(item.selector, hasDotSegments ? /[^\w\-.]/g : /[^\w\-.*=&+,:;@$!()/]/g);
  return canonicalUrl(`gopher://${authority}/${escapeBytes(item.type, /[^\w+]/g)}${selector}`);
}

function escapeBytes(bytes: string, illegal: RegExp): string {
  return bytes.replace(
    illegal,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}
