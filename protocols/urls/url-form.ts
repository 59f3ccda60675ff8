// The two forms in which a crawl writes the URLs that it finds.
import { canonicalUrl, UrlResolver } from './canonical.js';
import { cleanUri } from './clean-uri.js';

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
