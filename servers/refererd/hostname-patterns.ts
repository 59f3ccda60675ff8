/**
 * a shell pattern of allowed hosts: `*` matches any text, also across dots, `?` one character, `[...]`
 * and `[!...]` one character of a set; there are no escapes. Matching takes time linear in the text for each
 * `*`.
 */
export class HostnamePattern {
  readonly #steps: readonly Step[];
  /** Whether the pattern contains a letter: without one it is meant for addresses, and no name is looked up. */
  readonly hasLetter: boolean;

  constructor(pattern: string) {
    const plain = pattern.toLowerCase();
    this.#steps = parseSteps(plain);
    this.hasLetter = /[a-z]/.test(plain);
  }

  /** @param text an address or a name, in lower case */
  matches(text: string): boolean {
    const steps = this.#steps;
    let offset = 0;
    let step = 0;
    // When the steps after the last star do not match, matching restarts after that star, one character later
    // in the text.
    let starStep = -1;
    let starOffset = 0;
    while (offset < text.length) {
      const current = steps[step];
      if (current === '*') {
        starStep = step++;
        starOffset = offset;
      } else if (current !== undefined && matchesCharacter(current, text[offset] ?? '')) {
        step += 1;
        offset += 1;
      } else if (starStep >= 0) {
        step = starStep + 1;
        offset = ++starOffset;
      } else {
        return false;
      }
    }
    while (steps[step] === '*') step += 1;
    return step === steps.length;
  }
}

/** A star, or a condition for one character. */
type Step = '*' | '?' | { readonly character: string } | CharacterSet;

interface CharacterSet {
  readonly inverted: boolean;
  readonly ranges: readonly (readonly [from: string, to: string])[];
}

function matchesCharacter(step: Exclude<Step, '*'>, character: string): boolean {
  if (step === '?') return true;
  if ('character' in step) return step.character === character;
  return step.inverted !== step.ranges.some(([from, to]) => from <= character && character <= to);
}

function parseSteps(pattern: string): Step[] {
  const steps: Step[] = [];
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i] ?? '';
    const set = character === '[' ? parseSet(pattern, i) : undefined;
    if (set !== undefined) {
      steps.push(set.set);
      i = set.end;
    } else if (character === '*') {
      // Two stars are equivalent to one.
      if (steps.at(-1) !== '*') steps.push('*');
    } else {
      steps.push(character === '?' ? '?' : { character });
    }
  }
  return steps;
}

/**
 * Parses the set that begins with the `[` at `begin`; undefined if it is not closed. A `]` directly after the
 * `[` is a member.
 */
function parseSet(
  pattern: string,
  begin: number,
): { readonly set: CharacterSet; readonly end: number } | undefined {
  const inverted = pattern[begin + 1] === '!';
  const first = begin + (inverted ? 2 : 1);
  const end = pattern.indexOf(']', first + 1);
  if (end < 0) return undefined;
  const ranges: (readonly [string, string])[] = [];
  for (let i = first; i < end; i++) {
    const from = pattern[i] ?? '';
    if (pattern[i + 1] === '-' && i + 2 < end) {
      ranges.push([from, pattern[i + 2] ?? '']);
      i += 2;
    } else {
      ranges.push([from, from]);
    }
  }
  return { set: { inverted, ranges }, end };
}

/** parses a list of patterns, one per line, from a file or the dispatcher. */
export function parseHostnamePatterns(text: string): HostnamePattern[] {
  return text
    .split('\n')
    .map((line) => line.replace(/#.*$/s, '').trim().replace(/\.$/, ''))
    .filter((pattern) => pattern !== '')
    .map((pattern) => new HostnamePattern(pattern));
}
