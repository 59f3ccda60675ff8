/**
 * Returns texts that every match of an RE2 expression contains, ignoring case; empty if none is certain. The
 * scan goes from left to right and uses only characters outside groups that must occur. Unknown syntax gives an
 * empty result, which costs speed but never a match.
 */
export function requiredLiterals(source: string): string[] {
  const texts: string[] = [];
  const characters = Array.from(source);
  let run: string[] = [];
  const endRun = () => {
    if (run.length > 0) texts.push(run.join(''));
    run = [];
  };
  for (let i = 0; i < characters.length; i++) {
    const c = characters[i]!;
    if (c === '|') return [];
    if (c === '(' || c === '[') {
      const end = c === '(' ? groupEnd(characters, i) : classEnd(characters, i);
      if (end === undefined) return [];
      endRun();
      i = end;
    } else if (c === '\\') {
      const next = characters[++i];
      if (next === undefined) return [];
      if (/[dDsSwWbBAzZ]/.test(next)) endRun();
      else if (/[\p{L}\p{N}]/u.test(next)) return [];
      else run.push(next);
    } else if (c === '*' || c === '?' || c === '{') {
      run.pop();
      endRun();
      if (c === '{') i = characters.indexOf('}', i);
      if (i < 0) return [];
    } else if (c === '.' || c === '^' || c === '$' || c === '+') {
      endRun();
    } else {
      run.push(c);
    }
  }
  endRun();
  return texts;
}

/** Index of the bracket that closes the group at `open`. */
function groupEnd(characters: readonly string[], open: number): number | undefined {
  let depth = 0;
  for (let i = open; i < characters.length; i++) {
    const c = characters[i];
    if (c === '\\') {
      if (characters[++i] === 'Q') return undefined;
    } else if (c === '[') {
      const end = classEnd(characters, i);
      if (end === undefined) return undefined;
      i = end;
    } else if (c === '(') depth++;
    else if (c === ')' && --depth === 0) return i;
  }
  return undefined;
}

/**
 * Index of the bracket that closes the class at `open`; undefined for nested classes, which are not supported.
 */
function classEnd(characters: readonly string[], open: number): number | undefined {
  let i = open + 1;
  if (characters[i] === '^') i++;
  for (let first = true; i < characters.length; i++, first = false) {
    if (characters[i] === '\\') {
      if (characters[++i] === 'Q') return undefined;
    } else if (characters[i] === '[') return undefined;
    else if (characters[i] === ']' && !first) return i;
  }
  return undefined;
}
