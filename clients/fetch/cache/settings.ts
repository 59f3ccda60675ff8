// The limits and the default directory of the disk cache.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../../../protocols/errors.js';

/** Seconds (G-93); the environment can only shorten it. */
export const CACHE_TTL = 7 * 86_400;
/** Bytes (G-94). */
export const CACHE_BYTES = 32 * 1024 * 1024;

export interface CacheSettings {
  /** Bytes of all entries together (G-94). */
  readonly maxBytes: number;
  /** Seconds after which an entry expires (G-93). */
  readonly ttl: number;
}

/**
 * Limits from `GATHERER_CACHE_TTL` (seconds) and `HARVEST_MAX_LOCAL_CACHE` (up to 65535 megabytes, above
 * bytes).
 * @throws UsageError if one of them is not a whole number
 */
export function cacheSettings(environment: Readonly<Record<string, string | undefined>>): CacheSettings {
  const ttl = numberOf(environment, 'GATHERER_CACHE_TTL');
  const size = numberOf(environment, 'HARVEST_MAX_LOCAL_CACHE');
  return {
    ttl: Math.min(ttl ?? CACHE_TTL, CACHE_TTL),
    maxBytes: size === undefined ? CACHE_BYTES : size <= 65_535 ? size * 1024 * 1024 : size,
  };
}

function numberOf(environment: Readonly<Record<string, string | undefined>>, name: string) {
  const value = environment[name]?.trim();
  if (value === undefined || value === '') return undefined;
  if (!/^\d{1,15}$/.test(value)) throw new UsageError(`${name} must be a whole number, not ${value}`);
  return Number(value);
}

/** The cache of a program without a Working-Directory: below `$TMPDIR` or `/tmp`, one per user (G-95). */
export function defaultCacheDirectory(): string {
  return join(tmpdir(), `harvest-cache-${process.getuid?.() ?? 'user'}`);
}
