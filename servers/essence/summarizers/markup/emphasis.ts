/** Maximum number of open marks of one kind. */
const MAX_OPEN = 1000;

/**
 * Removes the marks of emphasis that occur in pairs, in linear time: a mark opens before a character that is
 * not blank and after one that is no letter or digit, and closes the other way round. All other marks are text.
 *
 * @param marks a global expression that matches one mark
 */
export function withoutEmphasis(text: string, marks: RegExp): string {
  const open = new Map<string, number[]>();
  const removed = new Map<number, number>();
  for (const found of text.matchAll(marks)) {
    const mark = found[0];
    const { index } = found;
    const before = text[index - 1] ?? ' ';
    const after = text[index + mark.length] ?? ' ';
    const stack = open.get(mark) ?? [];
    const opener = isBlank(before) || isWord(after) ? undefined : stack.pop();
    if (opener !== undefined) {
      removed.set(opener, mark.length);
      removed.set(index, mark.length);
    } else if (!isBlank(after) && !isWord(before) && stack.length < MAX_OPEN) {
      stack.push(index);
    }
    open.set(mark, stack);
  }
  if (removed.size === 0) return text;
  const parts: string[] = [];
  let last = 0;
  for (const [index, length] of [...removed].sort(([a], [b]) => a - b)) {
    parts.push(text.slice(last, index));
    last = index + length;
  }
  parts.push(text.slice(last));
  return parts.join('');
}

export function isBlank(character: string): boolean {
  return /\s/.test(character);
}

export function isWord(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character);
}

/**
 * Removes the punctuation after a URL in running text; a closing parenthesis stays if the URL has an opening
 * one.
 */
export function bareUrl(written: string): string {
  let end = written.length;
  while (end > 0) {
    const last = written[end - 1]!;
    const isEnd = last === ')' ? !written.slice(0, end).includes('(') : '.,;:!?\'"*_~`|]}>'.includes(last);
    if (!isEnd) break;
    end--;
  }
  return written.slice(0, end);
}
