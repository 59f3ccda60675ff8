import { InvalidArgumentError } from 'commander';
import { portOption } from './option-values.js';

/** Address of a server on the command line. */
export interface PeerAddress {
  /** With `tls://` before it if the connection is made with TLS. */
  readonly host: string;
  /** Undefined if the address has no port: the command's default applies. */
  readonly port: number | undefined;
}

/**
 * Parses `HOST`, `HOST:PORT`, or an IPv6 address, which needs brackets before a port; each may begin with
 * `tls://`.
 */
export function peerAddress(text: string): PeerAddress {
  const [, scheme = '', address = ''] = /^(tls:\/\/)?(.*?)\/?$/s.exec(text) ?? [];
  const { host, port } = plainAddress(address);
  return { host: `${scheme}${host}`, port };
}

function plainAddress(text: string): PeerAddress {
  const match = /^\[([^\]]+)\](?::(.*))?$/.exec(text) ?? /^([^:]+)(?::(.*))?$/.exec(text);
  if (match !== null) {
    const port = match[2];
    return { host: match[1]!, port: port === undefined ? undefined : portOption(port) };
  }
  if (/^[\da-f:.]*:[\da-f:.]*:[\da-f:.]*$/i.test(text)) return { host: text, port: undefined };
  throw new InvalidArgumentError('must be HOST, HOST:PORT or tls://HOST:PORT');
}
