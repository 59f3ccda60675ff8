import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { defined } from '../../../protocols/defined.js';
import { UsageError } from '../../../protocols/errors.js';
import type { PeerLimits } from '../../host/connection-table.js';
import type { LogRotation } from '../../host/logger.js';
import type { CertificateFiles } from '../../host/tls.js';
import type { MonitorOptions } from '../../monitor/monitor.js';
import {
  countOption,
  integerOption,
  pathOption,
  peerAddress,
  portOption,
  secondsOption,
  stopLimitOption,
  timeoutOption,
} from './option-values.js';

/** Values of {@link addPeerOptions}. */
export interface PeerOptions {
  /** Seconds; undefined: the servers' own defaults. */
  readonly timeout?: number;
  /** Bytes per second. */
  readonly minRate: number;
  /** Seconds. */
  readonly grace: number;
  /** Seconds; undefined: `grace` and {@link STOP_MARGIN_S}. */
  readonly stopLimit?: number;
}

/** Values of {@link addConnectionOptions}. */
export interface ConnectionOptions extends PeerOptions {
  readonly maxConnections?: number;
  readonly maxPerAddress?: number;
}

/** Values of {@link addTlsOptions}. */
export interface TlsOptions {
  readonly tlsCert?: string;
  readonly tlsKey?: string;
}

/** The value of {@link monitorOption}. */
export interface MonitorOption {
  readonly monitor?: MonitorOptions['address'];
}

/** Seconds from the end of the grace period to the end of the process. */
const STOP_MARGIN_S = 5;

/**
 * Adds the options that bound how long one peer may take: `--timeout`, `--min-rate`, `--grace`, `--stop-limit`.
 *
 * @param timeout default of `--timeout` in seconds, or how the servers' own defaults are described
 */
export function addPeerOptions(command: Command, timeout: number | string): Command {
  const what = 'end a connection after this time without progress';
  const option = new Option(
    '--timeout <seconds>',
    typeof timeout === 'number' ? what : `${what} (default: ${timeout})`,
  ).argParser(timeoutOption);
  return command
    .addOption(typeof timeout === 'number' ? option.default(timeout) : option)
    .option(
      '--min-rate <bytes>',
      'cut a client that accepts fewer bytes per second; 0 = only one that accepts none',
      integerOption,
      100,
    )
    .option('--grace <seconds>', 'time for transfers in progress when stopped', secondsOption, 5)
    .addOption(stopLimitOption(`--grace and ${STOP_MARGIN_S} seconds`));
}

/**
 * Adds `--max-connections` and `--max-per-address`.
 *
 * @param connections default of the first, or how the servers' own defaults are described
 */
export function addConnectionOptions(command: Command, connections: number | string): Command {
  const what = 'maximum number of connections';
  const option = new Option(
    '--max-connections <number>',
    typeof connections === 'number' ? what : `${what} of each server (default: ${connections})`,
  ).argParser(countOption);
  return command
    .addOption(typeof connections === 'number' ? option.default(connections) : option)
    .addOption(maxPerAddressOption());
}

/**
 * Adds `--tls-cert` and `--tls-key`.
 *
 * @param what the service that uses TLS, e.g. `the port`
 */
export function addTlsOptions(command: Command, what: string): Command {
  return command
    .option(
      '--tls-cert <file>',
      `serve ${what} with TLS: PEM file of the certificate and its authorities`,
      pathOption,
    )
    .option(
      '--tls-key <file>',
      'PEM file of its private key; both files are read again when they change',
      pathOption,
    );
}

/** The files of the options; undefined without them. @throws UsageError if one is missing */
export function certificateFiles({ tlsCert, tlsKey }: TlsOptions): CertificateFiles | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined)
    throw new UsageError('--tls-cert and --tls-key: one of them is missing');
  return { certificate: tlsCert, key: tlsKey };
}

/** Values of {@link addRotationOptions}. */
export interface RotationOptions {
  /** MiB. */
  readonly logMaxSize?: number;
  readonly logKeep: number;
}

/** Adds `--log-max-size` and `--log-keep`. */
export function addRotationOptions(command: Command): Command {
  return command
    .option(
      '--log-max-size <MiB>',
      'begin a new log at this size; the former one is FILE.1, the one before it FILE.2',
      countOption,
    )
    .option('--log-keep <number>', 'with --log-max-size: former logs that are kept', countOption, 5);
}

/** The rotation of the log; undefined without an option. */
export function logRotation({ logMaxSize, logKeep }: RotationOptions): LogRotation | undefined {
  return logMaxSize === undefined ? undefined : { maxBytes: logMaxSize * 2 ** 20, keep: logKeep };
}

/** `--monitor`. */
export function monitorOption(): Option {
  const help =
    'answer /healthz, /readyz and /metrics (Prometheus) here: PORT, HOST:PORT, or the path of a socket';
  return new Option('--monitor <address>', help).argParser(monitorAddress);
}

/** `PORT` of loopback, `HOST:PORT`, or a path, which contains a slash. */
function monitorAddress(text: string): MonitorOptions['address'] {
  if (text.includes('/')) return { path: resolve(text) };
  const { host, port } = /^\d+$/.test(text)
    ? { host: '127.0.0.1', port: portOption(text) }
    : peerAddress(text);
  if (port === undefined) throw new InvalidArgumentError('must be PORT, HOST:PORT or the path of a socket');
  return { host, port };
}

/** `--max-per-address`. */
export function maxPerAddressOption(): Option {
  const help =
    'maximum number of connections of one address or IPv6 /64 (default: a quarter; this machine: all)';
  return new Option('--max-per-address <number>', help).argParser(countOption);
}

/** The options as the servers take them: milliseconds, bytes per second, counts. */
export function connectionLimits(options: ConnectionOptions): PeerLimits {
  const { maxConnections, maxPerAddress, minRate, timeout } = options;
  return {
    maxConnections,
    maxPerAddress,
    minBytesPerSecond: minRate,
    timeoutMs: timeout === undefined ? undefined : timeout * 1000,
  };
}

/** Milliseconds of grace, and from the request to stop to the end of the process. */
export function stopTimes({ grace, stopLimit = grace + STOP_MARGIN_S }: PeerOptions): {
  readonly graceMs: number;
  readonly stopLimitMs: number;
} {
  return { graceMs: grace * 1000, stopLimitMs: stopLimit * 1000 };
}

/** Values of {@link addPublicOptions}. */
export interface PublicOptions {
  readonly publicUrl?: string;
  readonly referencesUrl?: string;
  readonly trustedProxies?: string;
}

/** Adds `--public-url`, `--references-url` and `--trusted-proxies`. */
export function addPublicOptions(command: Command): Command {
  return command
    .option(
      '--public-url <url>',
      'address at which visitors reach the search page, e.g. behind a proxy (Public-URL)',
    )
    .option('--references-url <url>', 'address at which visitors reach the pages of links (References-URL)')
    .option(
      '--trusted-proxies <addresses>',
      'proxies whose X-Forwarded-For and -Proto are believed: addresses and ranges, separated by commas (Trusted-Proxies)',
    );
}

/** The variables of broker.conf that the options set. */
export function publicSettings(options: PublicOptions): Record<string, string> {
  const { publicUrl, referencesUrl, trustedProxies } = options;
  return defined({
    'Public-URL': publicUrl,
    'References-URL': referencesUrl,
    'Trusted-Proxies': trustedProxies?.replaceAll(',', ' '),
  });
}
