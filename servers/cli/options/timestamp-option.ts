import { InvalidArgumentError } from 'commander';
import { parseTimestamp } from '../../../protocols/gatherd/commands.js';

/** Parses a time in seconds since 1970 as in GATHERD-4.1, also after the year 2038. */
export function timestampOption(value: string): number {
  const seconds = parseTimestamp(value);
  if (seconds === undefined) throw new InvalidArgumentError('must be a whole number');
  return seconds;
}
