// The names of servers and documents in the link databases.
import { ProtocolError } from '../errors.js';
import { addedPort } from './access-method.js';
import { pathOf, queryOf } from './parse-url.js';

/** The identity of a server in the link databases: `site.name:80` and `site.name:81` are two. */
export interface ServerName {
  /** Lower case, ASCII form, no trailing dot; an IPv6 address in brackets. */
  readonly host: string;
  /** 1..65535 */
  readonly port: number;
}

/** default ports of the schemes. */
const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ['http:', 80],
  ['https:', 443],
  ['ftp:', 21],
  ['gopher:', 70],
]);

function defaultPort(protocol: string): number | undefined {
  return DEFAULT_PORTS.get(protocol) ?? addedPort(protocol.slice(0, -1));
}

/**
 * URLs that the parser would return unchanged: characters that are never escaped, no segment that begins with a
 * dot, no port, and a host whose last label begins with a letter (it cannot be an IPv4 address) and that has no
 * `xn--` label.
 */
const PLAIN_URL =
  /^https?:\/\/(?!xn--|[a-z\d.-]*\.xn--)(?:[a-z\d](?:[a-z\d-]*[a-z\d])?\.)*[a-z](?:[a-z\d-]*[a-z\d])?(?:\/(?!\.)[\w\-*=&+,:;@$!()~%.]*)+(?:\?[\w\-*=&+,:;@$!()~%./?]*)?$/;
/** `%2e` is a dot too. */
const ESCAPED_DOT = /%2e/i;

/**
 * The canonical URL of a document: the result of the WHATWG parser, without the fragment and without a
 * trailing dot of the host. The function is idempotent.
 * @throws ProtocolError rule R-23 (no absolute URL with a host) or R-41 (user information)
 */
export function canonicalDocumentUrl(text: string): string {
  if (PLAIN_URL.test(text) && !ESCAPED_DOT.test(text)) return text;
  const url = parse(text);
  const { protocol, port } = url;
  const shownPort = port === '' || Number(port) === defaultPort(protocol) ? '' : `:${port}`;
  // A scheme unknown to the parser may have an empty path (R-41: `/`).
  const path = pathOf(url) || '/';
  return `${protocol}//${normalizedHost(url)}${shownPort}${path}${queryOf(url)}`;
}

/**
 * The server that a value of a site request names: a URL, whose path is dropped, or `HOST`, `HOST:PORT`,
 * `HOST/PATH`, which are parsed as http.
 * @throws ProtocolError rule R-23 (neither), R-39 (a scheme without a default port) or R-41 (user information)
 */
export function serverNameOf(text: string): ServerName {
  // tests for `://` first, because the parser takes `a.example:81` for a URL of the scheme `a.example`.
  const url = parse(text.includes('://') ? text : `http://${text}`);
  const port = url.port === '' ? defaultPort(url.protocol) : Number(url.port);
  if (port === undefined || port === 0)
    throw urlError('R-39', 'a port is required: the scheme has no default');
  return { host: normalizedHost(url), port };
}

/** `host:port`, the key of servers. */
export function formatServerName({ host, port }: ServerName): string {
  return `${host}:${port}`;
}

/** The parts of a URL in the description of a document. */
export interface DocumentUrlParts extends ServerName {
  /** Scheme in lower case, without the colon. */
  readonly scheme: string;
  /** Path and query, begins with `/`. */
  readonly path: string;
}

/**
 * Parses a URL into the parts of.
 * @throws ProtocolError as {@link canonicalDocumentUrl} and {@link serverNameOf}
 */
export function documentUrlParts(text: string): DocumentUrlParts {
  const canonical = canonicalDocumentUrl(text);
  const end = canonical.indexOf('://');
  const slash = canonical.indexOf('/', end + 3);
  return { ...serverNameOf(canonical), scheme: canonical.slice(0, end), path: canonical.slice(slash) };
}

function parse(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.host === '') throw urlError('R-23', 'neither a URL nor a server name');
  if (url.username !== '' || url.password !== '') throw urlError('R-41', 'a URL with user information');
  const host = normalizedHost(url);
  if (host === '') throw urlError('R-23', 'a host of dots only');
  if (host.length < url.hostname.length) {
    // Without its dots the host may be an address: `0..` is 0.0.0.0.
    url.hostname = host;
    if (url.hostname.endsWith('.')) throw urlError('R-23', 'neither a name nor an address');
  }
  return url;
}

/** removes what the parser keeps: a trailing dot, and capitals in hosts of unknown schemes. */
function normalizedHost(url: URL): string {
  const host = url.hostname.toLowerCase();
  let end = host.length;
  while (end > 0 && host[end - 1] === '.') end--;
  return host.slice(0, end);
}

function urlError(rule: string, message: string): ProtocolError {
  return new ProtocolError(message, { protocol: 'url', rule, offset: 0 });
}

/**
 * The start of a URL with a scheme and a host that link databases have. A file of this machine has no
 * host.
 */
const LINKABLE_URL = /^(?!file:\/\/localhost\/)(?:https?|ftp|gopher|file):\/\/(?!\/)/;

/**
 * Converts a URL from the Gatherer's canonical form (G-57) to that of the link databases. They differ in
 * the tilde, which the Gatherer writes `%7e` (G-58) and R-41 leaves as written. The function is idempotent.
 *
 * @param url in the Gatherer's canonical form
 * @returns `undefined` for a URL that link databases do not have: another access method, no host, user
 *   information
 */
export function referenceUrl(url: string): string | undefined {
  if (!LINKABLE_URL.test(url)) return undefined;
  try {
    return canonicalDocumentUrl(url.includes('%7') ? url.replaceAll(/%7e/gi, '~') : url);
  } catch (error) {
    if (error instanceof ProtocolError) return undefined;
    throw error;
  }
}
