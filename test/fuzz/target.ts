// What a fuzz target is, and the properties that targets check besides "it does not crash".
import { KitError } from '../../protocols/errors.js';
import { SoifObject } from '../../protocols/soif/index.js';
import { Random } from '../helpers/random.js';

/** One codec or reader. */
export interface FuzzTarget {
  /**
   * Gives the input to the code. Everything that it throws is a finding: a target passes the errors that the
   * code may throw through {@link allowed}.
   */
  readonly run: (input: Uint8Array) => void | Promise<void>;
  /**
   * Reads the input as the programs do, where that is not `run`: a library that crashes must be in a process of
   * its own. Too much memory or a death is a finding only if this fails.
   */
  readonly confirm?: (input: Uint8Array) => Promise<void>;
  /** Inputs to start from. */
  readonly seeds?: readonly (string | Uint8Array)[];
  /** Folders of `test/fuzz/corpus` whose files are seeds, too. */
  readonly corpus?: readonly string[];
  /** Words to insert, besides the strings and numbers of the code itself. */
  readonly tokens?: readonly string[];
  /** Makes an input with the structure of the format, right or nearly right. */
  readonly generate?: (random: Random) => Uint8Array;
  /** Bytes of an input. Default 1024. */
  readonly maxBytes?: number;
  /** Whether inputs of 128 KiB must take time linear in their length. Default true. */
  readonly linear?: boolean;
}

/** A property of the code does not hold. */
class OracleError extends Error {
  override readonly name = 'OracleError';
}

/** @throws OracleError unless `condition` */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new OracleError(message);
}

/**
 * Calls `action`; undefined when it throws an error of the kit, or one that `isAllowed` accepts. Other errors
 * pass.
 */
export function allowed<T>(
  action: () => T,
  isAllowed: (error: unknown) => boolean = () => false,
): T | undefined {
  try {
    return action();
  } catch (error) {
    if (error instanceof KitError || isAllowed(error)) return undefined;
    throw error;
  }
}

/** As {@link allowed}, of a promise. */
export async function allowedAsync<T>(
  action: () => Promise<T>,
  isAllowed: (error: unknown) => boolean = () => false,
): Promise<T | undefined> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof KitError || isAllowed(error)) return undefined;
    throw error;
  }
}

export const latin1 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
export const utf8 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
export const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));

/** FNV-1a. */
function hashOf(input: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of input) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** Decisions that depend on the input alone, so that it reproduces the run. */
export const randomOf = (input: Uint8Array): Random => new Random(hashOf(input));

const SINGLE_BYTES = 120;

/** The input in pieces: single bytes if it is short, otherwise cut at a few places. */
export function cut(input: Uint8Array, random: Random): Uint8Array[] {
  if (input.length <= SINGLE_BYTES && random.once(2))
    return Array.from(input, (_, i) => input.slice(i, i + 1));
  const offsets = random.list(6, () => random.below(input.length + 1)).sort((a, b) => a - b);
  const ends = [...offsets, input.length];
  return ends.map((end, i) => input.slice(i === 0 ? 0 : ends[i - 1], end));
}

/** @throws OracleError when `read` has other results for the input in pieces than for the whole input */
export function sameInPieces(input: Uint8Array, read: (pieces: readonly Uint8Array[]) => unknown): void {
  const whole = shown(read([input]));
  const pieces = cut(input, randomOf(input));
  const parts = shown(read(pieces));
  if (whole === parts) return;
  let at = 0;
  while (whole[at] === parts[at]) at++;
  const from = Math.max(0, at - 60);
  throw new OracleError(
    `pieces change the result: ${whole.slice(from, at + 60)} | in pieces of ${pieces
      .map((piece) => piece.length)
      .slice(0, 8)
      .join(',')}: ${parts.slice(from, at + 60)}`,
  );
}

/**
 * Text that is equal for equal values, wherever their bytes are stored and in whatever order their properties
 * are.
 */
export function shown(value: unknown): string {
  return JSON.stringify(plain(value));
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return `<${latin1(value)}>`;
  if (value instanceof SoifObject) {
    return [value.type, value.url, value.attributes.map(({ name, value: bytes }) => [name, latin1(bytes)])];
  }
  if (Array.isArray(value) || value instanceof Map || value instanceof Set) return Array.from(value, plain);
  const entries = Object.entries(value).map(([name, inner]) => [name, plain(inner)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Splits a text at `¦`, or at `|` if it contains no `¦`. */
export const wordsIn = (text: string): string[] => text.split(text.includes('¦') ? '¦' : '|');
