import { LRUCache } from 'lru-cache';

/**
 * Returns an LRU cache of at most `entries` entries. Unlike the option `max`, which reserves memory for all of
 * them, this cache allocates memory as it grows.
 */
export function lruCache<V extends object | string | number>(entries: number): LRUCache<string, V> {
  return new LRUCache({ maxSize: entries, sizeCalculation: () => 1 });
}
