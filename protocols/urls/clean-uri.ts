// Cleans discovered URIs before a crawl uses them (CRAWL-2.1), and resolves references into them.
import { canonicalUrl, MAX_URL_LENGTH, UrlResolver } from './canonical.js';

export interface CleanUriOptions {
  /** UTF-16 units, before and after escaping; default {@link MAX_URL_LENGTH}. */
  readonly maxLength?: number;
}

/**
 * Cleans a discovered string before a crawl uses it (CRAWL-2.1). Unlike `canonicalUrl`, which unifies more for
 * the Gatherer's summaries, it keeps `~`, unusual spellings of addresses, and unknown schemes.
 *
 * @param base an absolute URI cleaned by this function; a relative `input` is resolved against it
 * @returns `undefined` when the string is not a usable URI
 */
export function cleanUri(input: string, base?: string, options: CleanUriOptions = {}): string | undefined {
  const maxLength = options.maxLength ?? MAX_URL_LENGTH;
  if (input.length > maxLength) return undefined;
  const text = repairText(input);
  if (text === '' && base === undefined) return undefined;
  const parts = resolveReference(splitUri(text), base === undefined ? undefined : splitUri(base));
  const uri = parts === undefined ? undefined : formatUri(parts);
  return uri === undefined || uri.length > maxLength ? undefined : uri;
}

/** CRAWL-2.1 step 6: the parts by RFC 2396 appendix B, without the fragment (step 11). */
interface UriParts {
  readonly scheme: string | undefined;
  readonly authority: string | undefined;
  readonly path: string;
  readonly query: string | undefined;
}

/** CRAWL-2.1 steps 2 to 5. */
function repairText(input: string): string {
  const text = input
    .replaceAll('\u00a0', ' ')
    .trim()
    .replace(/[\t\r\n]+/g, '');
  const mark = text.indexOf('?');
  const head = (mark < 0 ? text : text.slice(0, mark)).replaceAll('\\', '/');
  const whole = mark < 0 ? head : head + text.slice(mark);
  return whole.replace(/^(https?:)\/{3,}/i, '$1//');
}

function splitUri(text: string): UriParts {
  const match = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?/.exec(text);
  return {
    scheme: match?.[1]?.toLowerCase(),
    authority: match?.[2],
    path: match?.[3] ?? '',
    query: match?.[4],
  };
}

/** CRAWL-2.1 steps 6 and 12. */
function resolveReference(reference: UriParts, base: UriParts | undefined): UriParts | undefined {
  const { scheme, authority, path } = reference;
  if (scheme !== undefined) {
    if (!/^[a-z][a-z0-9+.-]*$/.test(scheme)) return undefined;
    if (!isWeb(scheme) || authority !== undefined) return reference;
    // `http:foo` without slashes is a relative reference, if the base has the same scheme.
    if (base?.scheme !== scheme) return undefined;
  }
  if (base?.scheme === undefined) return undefined;
  if (authority !== undefined) return { ...reference, scheme: base.scheme };
  const from = { scheme: base.scheme, authority: base.authority };
  if (path === '') return { ...from, path: base.path, query: reference.query ?? base.query };
  if (path.startsWith('/')) return { ...from, path, query: reference.query };
  const directory = base.path.slice(0, base.path.lastIndexOf('/') + 1);
  return { ...from, path: (directory === '' ? '/' : directory) + path, query: reference.query };
}

function isWeb(scheme: string): boolean {
  return scheme === 'http' || scheme === 'https';
}

function formatUri({ scheme = '', authority, path, query }: UriParts): string | undefined {
  const suffix = query === undefined ? '' : `?${escapeIllegal(query, ILLEGAL_IN_QUERY)}`;
  if (authority === undefined) {
    // An opaque URI, e.g. `dns:archive.org`.
    if (path === '') return undefined;
    const kept = path.startsWith('/') ? removeDotSegments(path) : path;
    // Two slashes would begin an authority, which the reference does not have.
    if (kept.startsWith('//')) return undefined;
    return `${scheme}:${escapeIllegal(kept, ILLEGAL_IN_PATH)}${suffix}`;
  }
  const server = cleanAuthority(scheme, authority);
  if (server === undefined) return undefined;
  // CRAWL-2.1 step 8: an empty path is the root.
  const cleanPath = path === '' ? '/' : removeDotSegments(path);
  return `${scheme}://${server}${escapeIllegal(cleanPath, ILLEGAL_IN_PATH)}${suffix}`;
}

/** CRAWL-2.1 steps 7 and 9. */
function cleanAuthority(scheme: string, authority: string): string | undefined {
  const text = authority.replace(/(?:%20)+$/, '');
  const at = text.lastIndexOf('@') + 1;
  const server = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(text.slice(at));
  const port = cleanPort(scheme, server?.[2]);
  if (server === null || port === undefined) return undefined;
  const bare = port === '' ? server[1]!.replace(/\.$/, '') : server[1]!;
  const host = cleanHost(at === 0 ? bare.replace(/^\./, '') : bare);
  if (host === undefined || (host === '' && scheme !== 'file')) return undefined;
  return text.slice(0, at) + host + port;
}

/** `:PORT` or ''; `undefined` for an invalid port. */
function cleanPort(scheme: string, port: string | undefined): string | undefined {
  if (port === undefined || port === '') return '';
  if (!/^\d+$/.test(port)) return undefined;
  if (!isWeb(scheme)) return `:${port}`;
  const number = Number(port);
  if (number < 1 || number > 65_535) return undefined;
  return number === (scheme === 'http' ? 80 : 443) ? '' : `:${number}`;
}

function cleanHost(host: string): string | undefined {
  if (/^[\w.-]*$/.test(host)) return host.toLowerCase();
  if (host.startsWith('[')) return /^\[[0-9a-f:.]+\]$/i.test(host) ? host.toLowerCase() : undefined;
  // The host has letters beyond ASCII, or illegal characters.
  if (/[^\w.\-\u0080-\uffff]/.test(host)) return undefined;
  const url = `http://${host}/`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

/** CRAWL-2.1 steps 8 and 12: removes `.` and `..`, including a `..` above the root. */
function removeDotSegments(path: string): string {
  if (!path.includes('/.')) return path;
  const kept: string[] = [];
  const segments = path.split('/');
  segments.forEach((segment, i) => {
    const last = i === segments.length - 1;
    if (segment === '..') {
      if (kept.length > 1) kept.pop();
      if (last) kept.push('');
    } else if (segment === '.') {
      if (last) kept.push('');
    } else kept.push(segment);
  });
  return kept.join('/');
}

/** CRAWL-2.1 step 10: `%` is never escaped, so escapes and stray `%` stay unchanged. */
const ILLEGAL_IN_PATH = /[^\w\-~.*/=&+,:;@$!()%|']+/g;
const ILLEGAL_IN_QUERY = /[^\w\-~.*/=&+,:;@$!()%|'{}[\]^?]+/g;

function escapeIllegal(text: string, illegal: RegExp): string {
  if (text.search(illegal) < 0) return text;
  return text.replace(/\p{Surrogate}/gu, '\ufffd').replace(illegal, encodeURIComponent);
}

/**
 * Undoes the percent escapes of a URL. Each escaped byte becomes one UTF-16 unit from 0 to 255; other
 * characters stay, so the result has one unit for each byte if the rest of the text is ASCII or Latin-1.
 */
export function unescapeBytes(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

/**
 * `canonical`: as the Gatherer's summaries name documents (G-57 to G-59). `clean`: as written, only cleaned
 * (CRAWL-2.1).
 */
export type UrlForm = 'canonical' | 'clean';

/**
 * Resolves a reference into a URL that can be fetched, in the given form. In the form `clean` a tilde, braces
 * and most other characters stay as the page has them. Two exceptions from CRAWL-2.1, which also accepts URLs
 * that cannot be fetched: a host has the form of the URL standard, so that no unusual spelling of an address
 * passes for a name; and other schemes than http and https have the canonical form.
 *
 * @param base an absolute URL
 * @returns `undefined` when the reference is not a URL of a known scheme, or too long
 */
export function resolveUrl(
  reference: string,
  base: string | undefined,
  form: UrlForm = 'canonical',
): string | undefined {
  if (form === 'canonical') return canonicalUrl(reference, base);
  const clean = cleanUri(reference, base);
  if (clean === undefined || !/^https?:/.test(clean)) return canonicalUrl(reference, base);
  if (!URL.canParse(clean)) return undefined;
  const { hostname } = new URL(clean);
  const [, before = '', host = '', after = ''] =
    /^(https?:\/\/(?:[^/?]*@)?)(\[[^\]]*\]|[^/?:]*)(.*)$/s.exec(clean) ?? [];
  return host === hostname ? clean : before + hostname + after;
}

/** What resolves the references of one document. */
export interface ReferenceResolver {
  /** @returns the absolute URL, or `undefined` as {@link resolveUrl} */
  resolve(reference: string): string | undefined;
}

/** @throws TypeError when `base` is not an absolute URL */
export function referenceResolver(base: string, form: UrlForm): ReferenceResolver {
  if (form === 'canonical') return new UrlResolver(base);
  const from = resolveUrl(base, undefined, form);
  if (from === undefined) throw new TypeError('the base of a resolver must be an absolute URL');
  return { resolve: (reference) => resolveUrl(reference, from, form) };
}
