// Parses URLs into their canonical form by the platform's `URL` class; finds the host of a URL by pattern.
import { addedPort, methodOfScheme } from './access-method.js';

/** G-59: default ports that the URL standard does not have. */
const DEFAULT_PORTS: ReadonlyMap<string, string> = new Map([
  ['gopher', '70'],
  ['news', '119'],
  ['nntp', '119'],
]);

/** The "special" schemes, for which the URL standard defines hosts, default ports and paths. */
const STANDARD_SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'ftp', 'file']);

/** The scheme of a reference in lower case; `undefined` for a reference without a scheme. */
export function schemeOf(reference: string): string | undefined {
  return /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(reference)?.[1]?.toLowerCase();
}

/**
 * Resolves a reference whose result has the given scheme and `//host/path` form.
 * @returns the URL as the standard writes it (tildes unchanged); `undefined` when it is not usable
 */
export function parseHierarchical(
  scheme: string,
  reference: string,
  base: string | undefined,
): string | undefined {
  if (methodOfScheme(scheme) === undefined) return undefined;
  if (STANDARD_SCHEMES.has(scheme)) return formatStandard(parse(reference, base));

  // The standard treats other schemes as opaque: the host would keep its case and the path its dots. So the
  // reference is parsed as FTP and then gets its scheme back.
  const withScheme = (text: string, as: string) =>
    text.replaceAll('\\', '%5C').replace(/^[A-Za-z][A-Za-z0-9+.-]*:/, `${as}:`);
  const sameScheme = base !== undefined && schemeOf(base) === scheme;
  const parseAs = (as: string) =>
    parse(withScheme(reference, as), sameScheme && base !== undefined ? withScheme(base, as) : undefined);
  const url = parseAs('ftp');
  if (url === undefined || !isUsableHost(url)) return undefined;
  // The parser drops port 21, FTP's default, which is not this scheme's. Parsing as HTTP keeps it.
  const port = url.port !== '' ? url.port : (parseAs('http')?.port ?? '');
  const usual = DEFAULT_PORTS.get(scheme) ?? String(addedPort(scheme) ?? '');
  const shownPort = port === '' || port === usual ? '' : `:${port}`;
  return `${scheme}://${userInfo(url)}${hostWithoutOuterDots(url)}${shownPort}${pathOf(url)}${queryOf(url)}`;
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
    return undefined; // `URL` only throws TypeError: not a URL
  }
}

function formatStandard(url: URL | undefined): string | undefined {
  if (url === undefined) return undefined;
  const path = pathOf(url);
  // A relative reference gets its scheme from the base.
  const isFile = url.protocol === 'file:';
  // G-87: the manual names files of this machine so, and rules are written for it (E-130).
  if (isFile && url.host === '') return `file://localhost${path}${queryOf(url)}`;
  if (!isUsableHost(url)) return undefined;
  const hasOuterDots = url.hostname.startsWith('.') || url.hostname.endsWith('.');
  if (path === url.pathname && (isFile || !hasOuterDots)) return url.href;
  const port = url.port === '' ? '' : `:${url.port}`;
  const host = isFile ? url.hostname : hostWithoutOuterDots(url);
  return `${url.protocol}//${userInfo(url)}${host}${port}${path}${queryOf(url)}`;
}

/** CRAWL-2.1: only letters, digits and `- _ .`, no empty label inside; IPv6 addresses in brackets. */
function isUsableHost(url: URL): boolean {
  return /^\[[0-9a-f:.]+\]$|^\.?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?$/.test(url.hostname);
}

/** CRAWL-2.1: one leading and one trailing dot of the host are dropped. */
function hostWithoutOuterDots(url: URL): string {
  return url.hostname.replace(/^\.|\.$/g, '');
}

/** SOIF-12.3, R-41: the path. Parsers of the URL standard escape `^` in it since 2024, that of Node 20 does not. */
export function pathOf(url: URL): string {
  return url.pathname.replaceAll('^', '%5E');
}

/** SOIF-12.3, R-41: the query with its `?`, which {@link URL.search} omits if the query is empty. */
export function queryOf(url: URL): string {
  if (url.search !== '') return url.search;
  const [withoutFragment = ''] = url.href.split('#', 1);
  return withoutFragment.endsWith('?') ? '?' : '';
}

function userInfo(url: URL): string {
  if (url.username === '' && url.password === '') return '';
  return `${url.username}${url.password === '' ? '' : `:${url.password}`}@`;
}

const ILLEGAL = /[^!$%&'()*+,\-./0-9:;=?@A-Z_a-z~[\]]/gu;

/** G-59: escapes illegal characters as UTF-8 bytes. */
function escapeIllegal(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd').replace(ILLEGAL, encodeURIComponent);
}

/**
 * Returns the host of a URI as it is written, an IPv6 address in brackets, or the name in a `dns:` URI; '' if
 * the URI has no authority. A file of this machine (`file://localhost/`) has no host either: no server is
 * contacted for it.
 */
export function hostOf(uri: string): string {
  if (uri.startsWith('file://localhost/')) return '';
  if (uri.startsWith('dns:')) return hostOfDns(uri);
  return /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?(\[[^\]]*\]|[^/?#:]*)/i.exec(uri)?.[1] ?? '';
}

/** Returns the name in a `dns:` URI such as `dns:host?TYPE=A`. */
export function hostOfDns(uri: string): string {
  const name = uri.slice('dns:'.length).replace(/^\/\/[^/]*\//, '');
  const end = name.search(/[?;/]/);
  return end < 0 ? name : name.slice(0, end);
}

/** `host:port` as a URL has it: with brackets around an IPv6 address. */
export function authorityOf(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Removes the brackets around the IPv6 address of a URL. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}
