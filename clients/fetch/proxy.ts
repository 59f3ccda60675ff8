// Proxies of HTTP requests: HTTP proxies (G-84, RFC 9110 9.3.6) and SOCKS (RFC 1928, 1929).
import type { Socket } from 'node:net';
import { SocksClient } from 'socks';
import { ConnectionError, messageOf, UsageError } from '../../protocols/errors.js';
import { withoutBrackets } from '../../protocols/urls/index.js';

/** A proxy that requests go through. */
export interface ProxyServer {
  readonly kind: 'http' | 'socks4' | 'socks5';
  readonly host: string;
  readonly port: number;
  readonly login?: { readonly user: string; readonly password: string };
}

const KINDS: Readonly<Record<string, ProxyServer['kind']>> = {
  'http:': 'http',
  'socks4:': 'socks4',
  'socks4a:': 'socks4',
  'socks5:': 'socks5',
  'socks5h:': 'socks5',
};

/**
 * Parses `host:port` or `http://host:port` of an HTTP proxy, or `socks5://host:port` or `socks4://host:port`.
 * The default ports are 80 and 1080. A name is looked up by the proxy, not here.
 * @param login `user:password`; empty for none
 * @throws UsageError
 */
export function parseProxy(text: string, login = ''): ProxyServer {
  const address = text.includes('://') ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const kind = KINDS[url?.protocol ?? ''];
  if (url === undefined || kind === undefined || url.hostname === '')
    throw new UsageError('not a proxy: http://HOST:PORT, socks5://HOST:PORT or socks4://HOST:PORT');
  if (url.username !== '' || url.password !== '')
    throw new UsageError('the address of a proxy has no login, which would be shown in logs');
  if (url.pathname.length > 1 || url.search !== '' || url.hash !== '')
    throw new UsageError('the address of a proxy has no path');
  const [user = '', password = ''] = login.split(/:(.*)/s);
  return {
    kind,
    host: withoutBrackets(url.hostname),
    port: url.port === '' ? (kind === 'http' ? 80 : 1080) : Number(url.port),
    ...(login === '' ? {} : { login: { user, password } }),
  };
}

/**
 * Opens a connection through a SOCKS proxy.
 * @param timeoutMs until the connection is open
 * @throws ConnectionError
 */
export async function openSocks(
  proxy: ProxyServer,
  target: { readonly host: string; readonly port: number },
  timeoutMs: number,
): Promise<Socket> {
  const { kind, host, port, login } = proxy;
  try {
    const { socket } = await SocksClient.createConnection({
      proxy: {
        host,
        port,
        type: kind === 'socks4' ? 4 : 5,
        ...(login === undefined ? {} : { userId: login.user, password: login.password }),
      },
      command: 'connect',
      destination: target,
      timeout: timeoutMs,
      set_tcp_nodelay: true,
    });
    return socket;
  } catch (cause) {
    throw new ConnectionError(`${target.host}: the proxy ${host}:${port}: ${messageOf(cause)}`, { cause });
  }
}
