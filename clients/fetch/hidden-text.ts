// Hides logins in what servers reply: some repeat the command that they refuse, and replies are logged.

const ENDS_IN_WORD = /[\p{L}\p{N}]$/u;
const BEGINS_IN_WORD = /^[\p{L}\p{N}]/u;

/**
 * Replaces each of the words by `[hidden]` where it is a whole word; words that only contain it stay.
 * @param words user names and passwords; empty ones are ignored
 */
export function hideWords(text: string, words: readonly string[]): string {
  let shown = text;
  // The longest first: one may be a prefix of another.
  for (const word of [...new Set(words)].sort((a, b) => b.length - a.length)) {
    if (word === '') continue;
    const pieces = shown.split(word);
    // What stands beside an occurrence: text, or the same word again.
    const beside = (index: number) =>
      pieces[index] || (index === 0 || index === pieces.length - 1 ? '' : word);
    const parts: string[] = [];
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) {
        // A character has two units at most. More of a long text for each occurrence would be quadratic, and a
        // server decides both.
        const within = ENDS_IN_WORD.test(beside(index - 1).slice(-2)) || BEGINS_IN_WORD.test(beside(index));
        parts.push(within ? word : '[hidden]');
      }
      parts.push(piece);
    }
    shown = parts.join('');
  }
  return shown;
}
