import { InvalidArgumentError } from 'commander';
import { portOption } from './option-values.js';

/** Address of a server on the command line. */
export interface PeerAddress {
  readonly host: string;
  /** Undefined if the address has no port: the command's default applies. */
  readonly port: number | undefined;
}

/** Parses `HOST`, `HOST:PORT`, or an IPv6 address, which needs brackets before a port. */
export function peerAddress(text: string): PeerAddress {
  const match = /^\[([^\]]+)\](?::(.*))?$/.exec(text) ?? /^([^:]+)(?::(.*))?$/.exec(text);
  if (match !== null) {
    const port = match[2];
    return { host: match[1]!, port: port === undefined ? undefined : portOption(port) };
  }
  if (/^[\da-f:.]*:[\da-f:.]*:[\da-f:.]*$/i.test(text)) return { host: text, port: undefined };
  throw new InvalidArgumentError('must be HOST or HOST:PORT');
}
