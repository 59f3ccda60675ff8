import { LRUCache } from 'lru-cache';

/**
 * Returns an LRU cache of at most `entries` entries. Unlike the option `max`, which reserves memory for all of
 * them, this cache allocates memory as it grows.
 * @param make makes the entry that `memo` does not find
 */
export function lruCache<V extends object | string | number>(
  entries: number,
  make?: (key: string) => V,
): LRUCache<string, V> {
  return new LRUCache({
    maxSize: entries,
    sizeCalculation: () => 1,
    ...(make === undefined ? {} : { memoMethod: make }),
  });
}
