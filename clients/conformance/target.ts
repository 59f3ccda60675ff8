// Parses and formats the address of a server under test.
import { UsageError } from '../../protocols/errors.js';

/** Address of the server under test. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/**
 * Reads `HOST`, `HOST:PORT`, `HOST PORT`, `[IPV6]:PORT` or `IPV6`.
 * @throws UsageError for anything else
 */
export function targetOf(args: readonly string[], defaultPort: number): Target {
  const [address, separatePort, ...more] = args;
  if (address === undefined || more.length > 0) throw new UsageError('HOST or HOST:PORT is required');
  if (/^[\da-f:.]*:[\da-f:.]*:[\da-f:.]*$/i.test(address)) {
    return { host: address, port: portOf(separatePort) ?? defaultPort };
  }
  const match = /^\[([^\]]+)\](?::(.*))?$/.exec(address) ?? /^([^:]+)(?::(.*))?$/.exec(address);
  if (match === null || address.startsWith('-')) throw new UsageError(`not HOST or HOST:PORT: "${address}"`);
  if (match[2] !== undefined && separatePort !== undefined) throw new UsageError('two ports are given');
  return { host: match[1]!, port: portOf(match[2] ?? separatePort) ?? defaultPort };
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,5}$/.test(text) || Number(text) < 1 || Number(text) > 65_535) {
    throw new UsageError(`not a TCP port: "${text}"`);
  }
  return Number(text);
}

/** `HOST:PORT`, with brackets around an IPv6 address. */
export function targetText({ host, port }: Target): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
