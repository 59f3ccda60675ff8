import { resolve } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { MAX_OBJECT_BYTES } from '../../../protocols/soif/options.js';

/** The address on which the servers listen unless an option names another. */
export const LOOPBACK = '127.0.0.1';

/** The maximum of a RootNode's limits (G-28). */
const MAX_INTEGER = 0x7fff_ffff;

/** A whole number from 0. */
export function integerOption(value: string): number {
  if (!/^\d{1,12}$/.test(value)) throw new InvalidArgumentError('must be a whole number');
  if (Number(value) > MAX_INTEGER) throw new InvalidArgumentError(`must be at most ${MAX_INTEGER}`);
  return Number(value);
}

/** A whole number from 1: G-32 has no value for "unlimited" in URL-Max and Host-Max. */
export function countOption(value: string): number {
  const count = integerOption(value);
  if (count === 0) throw new InvalidArgumentError('must be a whole number from 1');
  return count;
}

/** Bytes of one SOIF object. */
export function objectBytesOption(value: string): number {
  const bytes = countOption(value);
  if (bytes > MAX_OBJECT_BYTES) throw new InvalidArgumentError(`must be at most ${MAX_OBJECT_BYTES}`);
  return bytes;
}

/** A path from the root: it stays valid when the program changes its working directory. */
export function pathOption(value: string): string {
  return resolve(value);
}

/** A TCP port; 0 means any free port. */
export function portOption(value: string): number {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError('a port must be a whole number, at most 65535');
  const port = integerOption(value);
  if (port > 65_535) throw new InvalidArgumentError('must be a port, at most 65535');
  return port;
}

/** Node's timers count milliseconds in 31 bits; a longer timer fires immediately. */
const MAX_SECONDS = 2_147_483;

/** Seconds, fractions allowed. */
export function secondsOption(value: string): number {
  if (!/^\d{1,9}(\.\d+)?$/.test(value)) throw new InvalidArgumentError('must be a number of seconds');
  if (Number(value) > MAX_SECONDS) throw new InvalidArgumentError(`must be at most ${MAX_SECONDS} seconds`);
  return Number(value);
}

const PERIOD_UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };
/** A year, in seconds. */
const MAX_PERIOD = 365 * 86_400;

/** A period such as `90s`, `30m`, `12h`, `1d` or `2w`; without a unit seconds. Returns seconds, at least 1. */
export function periodOption(value: string): number {
  const parts = /^(\d{1,9})([smhdw]?)$/.exec(value);
  if (parts === null) throw new InvalidArgumentError('must be a number with s, m, h, d or w, such as 12h');
  const seconds = Number(parts[1]) * PERIOD_UNITS[parts[2] || 's']!;
  if (seconds < 1 || seconds > MAX_PERIOD) throw new InvalidArgumentError('must be from a second to a year');
  return seconds;
}

/** Seconds to wait for a peer: at least a millisecond. */
export function timeoutOption(value: string): number {
  const seconds = secondsOption(value);
  if (seconds < 0.001) throw new InvalidArgumentError('must be more than 0 seconds');
  return seconds;
}

/** The long flag of an option by its property's name: `gathererPort` is `--gatherer-port`. */
export function longFlag(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** Collects the values of an option that may be repeated. */
export function repeatedOption(value: string, previous: readonly string[]): string[] {
  return [...previous, value];
}

/**
 * `--stop-limit`: seconds from the request to stop to the end of the process, whatever is in progress.
 *
 * @param defaultText how the default is described; without it the default is 10 seconds
 */
export function stopLimitOption(defaultText?: string): Option {
  const what = 'time until the process ends in any case when stopped';
  const option = new Option(
    '--stop-limit <seconds>',
    defaultText === undefined ? what : `${what} (default: ${defaultText})`,
  );
  option.argParser(timeoutOption);
  return defaultText === undefined ? option.default(10) : option;
}

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
  if (/^(?!tls:)[a-z][a-z\d+.-]*:\/\//i.test(text))
    throw new InvalidArgumentError('must be HOST or HOST:PORT, and tls:// before it for TLS: no URL');
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
