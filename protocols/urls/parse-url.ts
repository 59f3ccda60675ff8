import { methodOfScheme } from './access-method.js';

/** G-59: default ports that the URL standard does not know. */
const DEFAULT_PORTS: ReadonlyMap<string, string> = new Map([
  ['gopher', '70'],
  ['news', '119'],
  ['nntp', '119'],
]);

/** Schemes for which the URL standard itself knows hosts, default ports and paths ("special" schemes). */
const STANDARD_SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'ftp', 'file']);

/** The scheme of a reference in lower case, `undefined` when it has none. */
export function schemeOf(reference: string): string | undefined {
  return /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(reference)?.[1]?.toLowerCase();
}

/**
 * Resolves a reference whose result has the given scheme and `//host/path` form.
 * @returns the URL as the standard writes it (tildes untouched), `undefined` when it cannot be used
 */
export function parseHierarchical(
  scheme: string,
  reference: string,
  base: string | undefined,
): string | undefined {
  if (methodOfScheme(scheme) === undefined) return undefined;
  if (STANDARD_SCHEMES.has(scheme)) return formatStandard(parse(reference, base));

  // The standard treats other schemes as opaque: the host would keep its case and the path its dots. So the
  // reference is read as FTP and gets its scheme back afterwards.
  const disguise = (text: string, as: string) =>
    text.replaceAll('\\', '%5C').replace(/^[A-Za-z][A-Za-z0-9+.-]*:/, `${as}:`);
  const sameScheme = base !== undefined && schemeOf(base) === scheme;
  const read = (as: string) =>
    parse(disguise(reference, as), sameScheme && base !== undefined ? disguise(base, as) : undefined);
  const url = read('ftp');
  if (url === undefined || !isUsableHost(url)) return undefined;
  // Port 21 is FTP's default but not this scheme's: a second reading as HTTP, whose default is another, tells it.
  const port = url.port !== '' ? url.port : (read('http')?.port ?? '');
  const shownPort = port === '' || port === DEFAULT_PORTS.get(scheme) ? '' : `:${port}`;
  return `${scheme}://${userInfo(url)}${hostWithoutOuterDots(url)}${shownPort}${url.pathname}${url.search}`;
}

/** `news:group` and `news:message-id` (G-55, G-70): no host, an opaque name. */
export function parseNews(reference: string): string | undefined {
  const name = reference.replace(/^news:/i, '');
  if (name === '' || schemeOf(reference) === undefined) return undefined;
  return `news:${escapeIllegal(name)}`;
}

function parse(reference: string, base: string | undefined): URL | undefined {
  try {
    return new URL(reference, base);
  } catch {
    return undefined; // the standard's only complaint is a TypeError: not a URL
  }
}

function formatStandard(url: URL | undefined): string | undefined {
  if (url === undefined) return undefined;
  // The reference may have been relative to a base with another scheme than its own text suggests.
  if (url.protocol === 'file:') return isUsableHost(url) || url.host === '' ? url.href : undefined;
  if (!isUsableHost(url)) return undefined;
  if (!url.hostname.startsWith('.') && !url.hostname.endsWith('.')) return url.href;
  const port = url.port === '' ? '' : `:${url.port}`;
  return `${url.protocol}//${userInfo(url)}${hostWithoutOuterDots(url)}${port}${url.pathname}${url.search}`;
}

/** CRAWL-2.1: only letters, digits and `- _ .`, no empty label inside; IPv6 addresses in brackets. */
function isUsableHost(url: URL): boolean {
  return /^\[[0-9a-f:.]+\]$|^\.?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?$/.test(url.hostname);
}

/** CRAWL-2.1: one leading and one trailing dot of the host are dropped. */
function hostWithoutOuterDots(url: URL): string {
  return url.hostname.replace(/^\.|\.$/g, '');
}

function userInfo(url: URL): string {
  if (url.username === '' && url.password === '') return '';
  return `${url.username}${url.password === '' ? '' : `:${url.password}`}@`;
}

const ILLEGAL = /[^!$%&'()*+,\-./0-9:;=?@A-Z_a-z~[\]]/gu;

/** G-59: what may not stand in a URL is written as the escapes of its UTF-8 bytes. */
function escapeIllegal(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd').replace(ILLEGAL, encodeURIComponent);
}
