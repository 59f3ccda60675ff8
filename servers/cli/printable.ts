/**
 * Makes untrusted text safe for one line of a terminal: line ends, control characters and marks of writing direction,
 * which could move the cursor or reorder the output, become blanks.
 */
export function printable(text: string): string {
  return text.replace(/[\0-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, ' ');
}
