import { RE2JS } from 're2js';
import { UsageError } from '../../protocols/errors.js';

/** A pattern of RE2's language that is found anywhere in a text, in linear time. @throws UsageError when it is none */
export function patternMatcher(pattern: string): (text: string) => boolean {
  try {
    const compiled = RE2JS.compile(pattern);
    return (text) => compiled.matcher(text).find();
  } catch (cause) {
    throw new UsageError(`${pattern} is no regular expression`, { cause });
  }
}
