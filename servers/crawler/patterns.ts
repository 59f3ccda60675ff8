import { RE2JS } from 're2js';
import { UsageError } from '../../protocols/errors.js';

/**
 * Compiles a pattern in RE2 syntax, which matches in linear time.
 * @param flags of RE2JS, e.g. `RE2JS.DOTALL`
 * @throws UsageError when it is not a regular expression
 */
export function compilePattern(pattern: string, flags = 0): RE2JS {
  try {
    return RE2JS.compile(pattern, flags);
  } catch (cause) {
    throw new UsageError(`${pattern} is not a regular expression`, { cause });
  }
}

/** Returns a test for texts in which the pattern is found anywhere. @throws UsageError as {@link compilePattern} */
export function patternMatcher(pattern: string): (text: string) => boolean {
  const compiled = compilePattern(pattern);
  return (text) => compiled.matcher(text).find();
}
