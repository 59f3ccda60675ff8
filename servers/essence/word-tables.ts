// Tables that are written as words between blanks.

/** The words of a text, between blanks and line ends. */
export function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

/** The set of the words of a text. */
export function wordSet(text: string): ReadonlySet<string> {
  return new Set(words(text));
}

/** The words of each row by its name. */
export function wordLists(rows: Readonly<Record<string, string>>): ReadonlyMap<string, readonly string[]> {
  return new Map(Object.entries(rows).map(([name, text]) => [name, words(text)]));
}

/** Maps each word of a row to the name of the row: `{ Title: 'title doctitle' }`. */
export function namesByWord<Name extends string>(
  rows: Readonly<Record<Name, string>>,
): ReadonlyMap<string, Name> {
  const names = Object.keys(rows) as Name[];
  return new Map(names.flatMap((name) => words(rows[name]).map((word) => [word, name] as const)));
}

/** Maps each word at an odd place to the word that follows it: `lt < gt >`. */
export function wordPairs(text: string): Map<string, string> {
  const list = words(text);
  const pairs = new Map<string, string>();
  for (let index = 0; index + 1 < list.length; index += 2) pairs.set(list[index]!, list[index + 1]!);
  return pairs;
}
