/** The server of a URL (CRAWL-12.1). */
export interface ServerOfUrl {
  /** `host` for the default port of http, otherwise `host:port`; '' without a host. */
  readonly server: string;
  /** In lower case, an IPv6 address in brackets; '' for a file. */
  readonly host: string;
  /** Scheme and authority, to which robots.txt belongs. */
  readonly origin: string;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { https: '443', ftp: '21', gopher: '70' };

const URL_PARTS = /^([a-z][a-z0-9+.-]*):\/\/(?:[^/?#]*@)?(\[[^\]]*\]|[^/?#:]*)(?::(\d*))?/i;

/** CRAWL-12.1: returns the server of a URL. The server of `dns:` is the host in the query. */
export function serverOf(url: string): ServerOfUrl {
  const [, scheme = '', name = '', port = ''] = URL_PARTS.exec(url) ?? [];
  if (scheme === '') {
    const queriedHost = /^dns:(?:\/\/[^/]*\/)?([^?;/]*)/i.exec(url)?.[1]?.toLowerCase() ?? '';
    return { server: queriedHost, host: queriedHost, origin: '' };
  }
  const host = name.toLowerCase();
  if (host === '') return { server: '', host: '', origin: '' };
  const lowerScheme = scheme.toLowerCase();
  const shownPort = port === '' ? (DEFAULT_PORTS[lowerScheme] ?? '') : port;
  return {
    server: shownPort === '' ? host : `${host}:${shownPort}`,
    host,
    origin: `${lowerScheme}://${host}${port === '' ? '' : `:${port}`}`,
  };
}

/** Only http and https servers have a robots.txt (CRAWL-12.4). */
export function hasRobots(url: string): boolean {
  return /^https?:/i.test(url);
}

/**
 * Returns the host of a {@link ServerOfUrl.server} and the origins that have this name, the most likely first.
 */
export function parseServer(server: string): { readonly host: string; readonly origins: readonly string[] } {
  const port = /:(\d+)$/.exec(server)?.[1];
  if (port === undefined) return { host: server, origins: [`http://${server}`] };
  const host = server.slice(0, -port.length - 1);
  if (port === '443') return { host, origins: [`https://${host}`, `http://${server}`] };
  return { host, origins: [`http://${server}`, `https://${server}`] };
}
