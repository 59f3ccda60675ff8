// The canonical form of document URLs (G-57 to G-59), and the resolution of references into it.
import { parseHierarchical, parseNews, schemeOf } from './parse-url.js';

/** CRAWL-2.1: no URI is longer, before or after escaping. */
export const MAX_URL_LENGTH = 2083;

export interface CanonicalOptions {
  /** UTF-16 units, before and after escaping; default {@link MAX_URL_LENGTH}. */
  readonly maxLength?: number;
  /** G-58: keep `~` as it is (RFC 3986) instead of writing `%7e`; default false. */
  readonly keepTilde?: boolean;
}

/**
 * The canonical form of a URL (G-57, G-58, G-59): lower-case scheme and host, no default port, no fragment, no
 * dot segments, `~` and `%7E` as `%7e`, illegal bytes escaped as UTF-8, other escapes as written. A file on
 * this machine is `file://localhost/path` whether the host is empty or `localhost`. The function is idempotent.
 *
 * @param base an absolute URL that a relative `input` is resolved against
 * @returns `undefined` when the input is not a URL of a known scheme, or too long
 */
export function canonicalUrl(
  input: string,
  base?: string,
  options: CanonicalOptions = {},
): string | undefined {
  const maxLength = options.maxLength ?? MAX_URL_LENGTH;
  const whole = withoutFragment(input);
  if (whole.length > maxLength) return undefined;
  if (isAlreadyCanonical(whole)) return whole;
  const reference = stripBlanks(whole);
  const url = resolveAndFormat(reference, base, options.keepTilde === true);
  return url === undefined || url.length > maxLength ? undefined : url;
}

/**
 * Resolves the references of one document. The base is parsed once; the usual references (an absolute plain
 * http URL, a plain relative or absolute path) then cost a pattern test and a concatenation.
 */
export class UrlResolver {
  /** The base in canonical form. */
  readonly base: string;
  readonly #options: CanonicalOptions;
  readonly #maxLength: number;
  /**
   * `http://host` and `http://host/dir/`; both '' when the base is not http(s), which disables the fast path.
   */
  readonly #origin: string;
  readonly #directory: string;

  /** @throws TypeError when `base` has no canonical form */
  constructor(base: string, options: CanonicalOptions = {}) {
    const canonical = canonicalUrl(base, undefined, options);
    if (canonical === undefined) throw new TypeError('the base of a resolver must be an absolute URL');
    this.base = canonical;
    this.#options = options;
    this.#maxLength = options.maxLength ?? MAX_URL_LENGTH;
    const origin = /^https?:\/\/[^/]+/.exec(canonical)?.[0] ?? '';
    const query = canonical.indexOf('?');
    const path = query < 0 ? canonical : canonical.slice(0, query);
    this.#origin = origin;
    this.#directory = origin === '' ? '' : path.slice(0, path.lastIndexOf('/') + 1);
  }

  /** @returns the canonical absolute URL, or `undefined` as {@link canonicalUrl} */
  resolve(href: string): string | undefined {
    const reference = withoutFragment(href);
    const fast = this.#resolveFast(reference);
    if (fast === undefined) return canonicalUrl(reference, this.base, this.#options);
    return fast.length > this.#maxLength ? undefined : fast;
  }

  #resolveFast(reference: string): string | undefined {
    if (isAlreadyCanonical(reference)) return reference;
    if (this.#origin === '') return undefined;
    if (PLAIN_PATH.test(reference)) return this.#origin + reference;
    return PLAIN_RELATIVE.test(reference) ? this.#directory + reference : undefined;
  }
}

const USER_INFO = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)@/;

/**
 * Removes `user:password@` from a URL (G-81): the rest is the identity of the document.
 * @param url a canonical URL
 */
export function withoutUserInfo(url: string): string {
  return url.includes('@') ? url.replace(USER_INFO, '$1') : url;
}

/**
 * Returns `user:password` of a canonical URL, escaped as in the URL; undefined if it has no login.
 */
export function userInfoOf(url: string): string | undefined {
  return url.includes('@') ? USER_INFO.exec(url)?.[2] : undefined;
}

/**
 * Returns a canonical URL with this login instead of its own.
 * @param login `user:password`, escaped as in URLs; undefined returns the URL unchanged
 */
export function withUserInfo(url: string, login: string | undefined): string {
  if (login === undefined) return url;
  return withoutUserInfo(url).replace(/^[a-z][a-z0-9+.-]*:\/\//, (scheme) => `${scheme}${login}@`);
}

/*
 * The fast path accepts only references that the parser would return unchanged: characters that are never
 * escaped, no `%` (an escape may be `%7E`), no `~`, no segment that begins with a dot, and a host whose last
 * label begins with a letter (otherwise it may be an IPv4 address in an unusual spelling) and that has no
 * `xn--` label to validate.
 */
const SAFE_PATH = String.raw`(?:\/(?!\.)[\w\-.*=&+,:;@$!()]*)+`;
const SAFE_QUERY = String.raw`(?:\?[\w\-.*/=&+,:;@$!()?]*)?`;
const PLAIN_ABSOLUTE = new RegExp(
  String.raw`^https?:\/\/(?!xn--)(?:[a-z0-9][a-z0-9_-]*\.(?!xn--))*[a-z][a-z0-9_-]*${SAFE_PATH}${SAFE_QUERY}$`,
);
const PLAIN_PATH = new RegExp(String.raw`^(?!\/\/)${SAFE_PATH}${SAFE_QUERY}$`);
const PLAIN_RELATIVE = new RegExp(String.raw`^\w[\w\-.*=&+,;@$!()]*(?:${SAFE_PATH})?${SAFE_QUERY}$`);

function isAlreadyCanonical(reference: string): boolean {
  return PLAIN_ABSOLUTE.test(reference);
}

/** CRAWL-2.1: removes blanks and no-break spaces around, tabs and line ends inside. */
function stripBlanks(input: string): string {
  return input.replace(/^[\0- \u00a0]+|[\0- \u00a0]+$|[\t\r\n]+/g, '');
}

/** G-59: the fragment is removed first, so that it has no effect. */
function withoutFragment(reference: string): string {
  const hash = reference.indexOf('#');
  return hash < 0 ? reference : reference.slice(0, hash);
}

function resolveAndFormat(
  reference: string,
  base: string | undefined,
  keepTilde: boolean,
): string | undefined {
  const scheme = schemeOf(reference) ?? (base === undefined ? undefined : schemeOf(base));
  if (scheme === undefined) return undefined;
  const url =
    scheme === 'news' && !/^(?:news:)?\/\//i.test(reference)
      ? parseNews(reference)
      : parseHierarchical(scheme, reference, base);
  if (url === undefined) return undefined;
  return keepTilde ? url : url.replaceAll('~', '%7e').replaceAll('%7E', '%7e');
}
