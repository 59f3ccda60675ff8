import { InvalidArgumentError } from 'commander';

/** A whole number from 0. */
export function integerOption(value: string): number {
  if (!/^\d{1,12}$/.test(value)) throw new InvalidArgumentError('a whole number is wanted');
  return Number(value);
}

/** A TCP port; 0 is any free one. */
export function portOption(value: string): number {
  const port = integerOption(value);
  if (port > 65_535) throw new InvalidArgumentError('a port is at most 65535');
  return port;
}

/** Seconds, fractions allowed. */
export function secondsOption(value: string): number {
  if (!/^\d{1,9}(\.\d+)?$/.test(value)) throw new InvalidArgumentError('a number of seconds is wanted');
  return Number(value);
}
