// Binds the logins of a configuration to the servers that may get them (G-82, G-83).
import type { HttpLogin, ServerLogin } from '../../../clients/fetch/index.js';
import type { FtpAuth, GathererConfig, HttpBasicAuth } from '../../../protocols/config/index.js';
import { ConfigError } from '../../../protocols/errors.js';
import { withoutBrackets, withoutUserInfo } from '../../../protocols/urls/index.js';

/** Hosts that the warning about a login for several servers names. */
const MAX_NAMED = 5;
const FTP_PORT = 21;

/** The logins of a configuration, each with the servers that it is for. */
export interface BoundLogins {
  readonly httpBasicAuth: readonly HttpLogin[];
  readonly ftpAuth: readonly ServerLogin[];
  /** About logins that several servers may get, or no server. */
  readonly warnings: readonly ConfigError[];
}

type Configuration = Pick<GathererConfig, 'rootNodes' | 'leafNodes' | 'httpBasicAuth' | 'ftpAuth'>;

/**
 * Binds each login to its servers. The original lines name a realm, and any server can name any realm: so a
 * login without a URL is for the servers of the RootNodes and LeafNodes. An FTP login without a port is for
 * port 21, and for the ports of that host's RootNodes and LeafNodes.
 */
export function boundLogins({ rootNodes, leafNodes, httpBasicAuth, ftpAuth }: Configuration): BoundLogins {
  const nodes = [...rootNodes, ...leafNodes].map(({ url }) => withoutUserInfo(url));
  const origins = originsOf(nodes);
  return {
    httpBasicAuth: httpBasicAuth.map(({ url, ...login }) => ({
      ...login,
      urls: url === undefined ? origins : [url],
    })),
    ftpAuth: ftpAuth.flatMap((login) => ftpLogins(login, nodes)),
    warnings: httpBasicAuth.some(isUnbound) ? warningsAbout(origins) : [],
  };
}

function isUnbound({ url }: HttpBasicAuth): boolean {
  return url === undefined;
}

/** `http://host:port/` of each web server among the URLs. */
function originsOf(urls: readonly string[]): string[] {
  const web = urls.filter((url) => /^https?:/.test(url) && URL.canParse(url));
  return [...new Set(web.map((url) => `${new URL(url).origin}/`))];
}

function warningsAbout(origins: readonly string[]): ConfigError[] {
  if (origins.length === 1) return [];
  const [first = 'http://HOST/'] = origins;
  const named = origins.slice(0, MAX_NAMED).join(', ');
  const more = origins.length > MAX_NAMED ? ` and ${origins.length - MAX_NAMED} more` : '';
  const who =
    origins.length === 0
      ? 'a login without a URL is for the servers of the RootNodes and LeafNodes, and they name no web server'
      : `a login without a URL is sent to each of these servers that names its realm: ${named}${more}`;
  const remedy = `bind it to one: HTTP-Basic-Auth: ${first} REALM USER PASSWORD (G-82)`;
  return [new ConfigError('configuration', 0, 'HTTP-Basic-Auth', `${who}; ${remedy}`)];
}

function ftpLogins({ host, port, user, password }: FtpAuth, nodes: readonly string[]): ServerLogin[] {
  const name = withoutBrackets(host);
  const ports =
    port !== undefined
      ? [port]
      : [FTP_PORT, ...nodes.filter((url) => url.startsWith('ftp:')).flatMap((url) => portAt(url, name))];
  return [...new Set(ports)].map((number) => ({ host: name, port: number, user, password }));
}

function portAt(url: string, host: string): number[] {
  if (!URL.canParse(url)) return [];
  const { hostname, port } = new URL(url);
  return withoutBrackets(hostname) === host && port !== '' ? [Number(port)] : [];
}
