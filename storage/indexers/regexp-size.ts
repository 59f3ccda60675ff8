// Estimates the size of a regular expression before it is compiled: a few counted repetitions make a program of
// a hundred thousand instructions.

interface Group {
  /** Instructions of the alternatives before; they may have common beginnings, so the largest counts. */
  largest: number;
  /** Instructions of the current alternative. */
  size: number;
  /** Instructions of the last part, which a repetition multiplies. */
  last: number;
}

const COUNTED = /^\{(\d{1,6})(?:,(\d{0,6}))?\}/;
const CLASS_NAME = /^\\[pP](?:\{[^}]*\}|.)/su;
const HEX = /^\\x(?:\{[^}]*\}|..)/su;

/**
 * Returns a number of instructions that the compiled expression has at least, for RE2 syntax. The scan takes
 * the time of the text. A part that it does not understand counts nothing, so that no expression is refused for
 * it.
 */
export function leastRegexpSize(source: string): number {
  const groups: Group[] = [{ largest: 0, size: 0, last: 0 }];
  const add = (size: number) => {
    const group = groups.at(-1);
    if (group === undefined) return;
    group.size += size;
    group.last = size;
  };
  for (let i = 0; i < source.length; i++) {
    const group = groups.at(-1);
    if (group === undefined) return 0;
    const c = source[i];
    const rest = source.slice(i, i + 64);
    if (c === '\\') {
      const next = source[i + 1] ?? '';
      // What is quoted, octal or unknown to this scan counts nothing.
      if (/[QE0-9C]/.test(next)) return 0;
      const named = CLASS_NAME.exec(rest) ?? HEX.exec(rest);
      i += (named?.[0].length ?? 2) - 1;
      add(/[bBAzZ]/.test(next) ? 0 : 1);
    } else if (c === '[') {
      const end = classEnd(source, i);
      if (end === undefined) return 0;
      i = end;
      add(1);
    } else if (c === '(') {
      groups.push({ largest: 0, size: 0, last: 0 });
      if (source[i + 1] === '?') {
        const close = source.slice(i).search(/[:>)]/);
        if (close < 0) return 0;
        i += source[i + close] === ')' ? close - 1 : close;
      }
    } else if (c === ')') {
      if (groups.length < 2) return 0;
      groups.pop();
      add(Math.max(group.largest, group.size));
    } else if (c === '|') {
      group.largest = Math.max(group.largest, group.size);
      group.size = 0;
      group.last = 0;
    } else if (c === '{' && COUNTED.test(rest)) {
      const [text, least = '0', most] = COUNTED.exec(rest) ?? [''];
      const times = most === undefined || most === '' ? Number(least) : Number(most);
      group.size += group.last * (times - 1);
      group.last *= times;
      i += text.length - 1;
    } else if (c !== '^' && c !== '$' && c !== '*' && c !== '+' && c !== '?') add(1);
    else if (c === '^' || c === '$') add(0);
    // A character beyond U+FFFF is one instruction, and two units of the string.
    if (/^[\ud800-\udbff][\udc00-\udfff]/.test(rest)) i++;
  }
  const [whole] = groups;
  return groups.length !== 1 || whole === undefined ? 0 : Math.max(whole.largest, whole.size);
}

/** Index of the bracket that closes the class at `open`. */
function classEnd(source: string, open: number): number | undefined {
  let i = open + 1;
  if (source[i] === '^') i++;
  for (let isFirst = true; i < source.length; i++, isFirst = false) {
    if (source[i] === '\\') i++;
    else if (source[i] === '[' && source[i + 1] === ':') {
      const end = source.indexOf(':]', i);
      if (end < 0) return undefined;
      i = end + 1;
    } else if (source[i] === ']' && !isFirst) return i;
  }
  return undefined;
}
