// Reads the values of SSTP headers.
import { ProtocolError } from '../errors.js';
import type { SstpHeader } from './message.js';
import { MAX_U32 } from './registry.js';

/**
 * The value of a single-valued header; `undefined` when it is absent.
 * @param name in capitals, as the decoder returns it
 * @throws ProtocolError rule S-33 when it occurs twice
 */
export function singleHeader(headers: readonly SstpHeader[], name: string): string | undefined {
  let found: string | undefined;
  for (const [key, value] of headers) {
    if (key !== name) continue;
    if (found !== undefined) throw sstpError('S-33', `${name} is given twice`);
    found = value;
  }
  return found;
}

/**
 * Parses a number (S-34): decimal digits without sign, leading zeros accepted, at most 4294967295.
 * @throws ProtocolError rule S-34
 */
export function parseU32(text: string, name: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= MAX_U32)) throw sstpError('S-34', `${name} is not a number from 0 to ${MAX_U32}`);
  return value;
}

/** The number of a single-valued header; `undefined` when it is absent. @throws ProtocolError as both */
export function numberHeader(headers: readonly SstpHeader[], name: string): number | undefined {
  const text = singleHeader(headers, name);
  return text === undefined ? undefined : parseU32(text, name);
}

/** The error for a message that breaks a rule. */
export function sstpError(rule: string, message: string): ProtocolError {
  return new ProtocolError(message, { protocol: 'sstp', rule, offset: 0 });
}
