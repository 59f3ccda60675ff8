import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import { UsageError } from '../../protocols/errors.js';

/**
 * Compiles a pattern in RE2 syntax, which matches in linear time.
 * @param flags of RE2JS, e.g. `RE2JS.DOTALL`
 * @throws UsageError when it is not a regular expression
 */
export function compileRe2(pattern: string, flags = 0): RE2JS {
  try {
    return RE2JS.compile(pattern, flags);
  } catch (cause) {
    throw new UsageError(`${pattern} is not a regular expression`, { cause });
  }
}

/** Returns a test for texts in which the pattern is found anywhere. @throws UsageError as {@link compileRe2} */
export function patternMatcher(pattern: string): (text: string) => boolean {
  const compiled = compileRe2(pattern);
  return (text) => compiled.matcher(text).find();
}

/** Maximum number of compiled patterns in a cache; settings and their sheets have few. */
const MAX_PATTERNS = 1000;

/** Returns `compile` with a cache of its results. */
export function cachedPatterns<P extends object>(compile: (source: string) => P): (source: string) => P {
  const cache = new LRUCache<string, P>({ max: MAX_PATTERNS, memoMethod: (source) => compile(source) });
  return (source) => cache.memo(source);
}
