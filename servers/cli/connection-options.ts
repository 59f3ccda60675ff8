// The options of every command that serves connections: declared once, for gatherd, the broker, refererd and `harvest run`.
import { type Command, Option } from 'commander';
import type { PeerLimits } from '../host/index.js';
import {
  countOption,
  integerOption,
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

/** The options as arguments of the same command, which is started in the background. */
export function connectionArguments(options: ConnectionOptions): string[] {
  const { maxConnections, maxPerAddress, minRate, timeout, grace, stopLimit } = options;
  const given = {
    'max-connections': maxConnections,
    'max-per-address': maxPerAddress,
    'min-rate': minRate,
    timeout,
    grace,
    'stop-limit': stopLimit,
  };
  return Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  );
}
