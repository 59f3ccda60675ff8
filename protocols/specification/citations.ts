// Finds the rules that a text cites: `SOIF-2.3`, `SOIF-2.2, 7.1`, `BRK-7.4 to 7.8`, `R-24 to R-34`.
import { SPECIFICATIONS } from './documents.js';

const PREFIXES = SPECIFICATIONS.flatMap(({ prefixes }) => prefixes).join('|');
const NUMBER = '\\d+(?:\\.\\d+)*[a-z]?';
// A further number has the prefix, or at least two parts: `BRK-7.4, 8` is a rule and a section of another kind.
const FURTHER = `(?:, | and | or | to )(?:\\1-${NUMBER}|\\d+(?:\\.\\d+)+[a-z]?)(?![\\w.-]*-)`;
// Not the beginning of a pattern such as /SOIF-4\.4/.
const CITATION = new RegExp(`(?<![\\w-])(${PREFIXES})-(${NUMBER})((?:${FURTHER})*)(?![\\w\\\\-])`, 'g');

/** Returns the numbers that a text cites, in its order; a range by all of its rules. */
export function citationsIn(text: string): string[] {
  const found: string[] = [];
  for (const [, prefix = '', first = '', more = ''] of text.matchAll(CITATION)) {
    let previous = first;
    found.push(`${prefix}-${first}`);
    for (const [, word = '', number = ''] of more.matchAll(
      /(, | and | or | to )(?:[A-Z]+-)?([\d.]*\d[a-z]?)/g,
    )) {
      if (word === ' to ') found.push(...between(previous, number).map((one) => `${prefix}-${one}`));
      found.push(`${prefix}-${number}`);
      previous = number;
    }
  }
  return found;
}

/** The numbers between 7.4 and 7.8, or 4 and 8, if they differ only in their last part. */
function between(first: string, last: string): string[] {
  const [start, startAt] = splitLast(first);
  const [end, endAt] = splitLast(last);
  if (start !== end || endAt - startAt > 100) return [];
  return Array.from(
    { length: Math.max(0, endAt - startAt - 1) },
    (_, index) => `${start}${startAt + index + 1}`,
  );
}

function splitLast(number: string): [section: string, last: number] {
  const at = number.lastIndexOf('.') + 1;
  return [number.slice(0, at), Number.parseInt(number.slice(at), 10)];
}
