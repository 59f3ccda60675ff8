import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../../../protocols/errors.js';

/** G-93: seconds; the environment only shortens it. */
export const CACHE_TTL = 7 * 86_400;
/** G-94: bytes. */
export const CACHE_BYTES = 32 * 1024 * 1024;

export interface CacheSettings {
  /** Bytes of all entries together (G-94). */
  readonly maxBytes: number;
  /** Seconds after which an entry is not used any more (G-93). */
  readonly ttl: number;
}

/**
 * Limits from `GATHERER_CACHE_TTL` (seconds) and `HARVEST_MAX_LOCAL_CACHE` (up to 65535 megabytes, above bytes).
 * @throws UsageError when one of them is not a whole number
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

/** G-95: the cache of who has no Working-Directory: below `$TMPDIR` or `/tmp`, one for each user. */
export function defaultCacheDirectory(): string {
  return join(tmpdir(), `harvest-cache-${process.getuid?.() ?? 'user'}`);
}
