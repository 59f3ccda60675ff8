// MUSTs that no test, case or vector checks, each with the reason.

/** The reason by the number of the rule. */
export const UNCHECKED: Readonly<Record<string, string>> = {
  'R-6': 'an absence: the server has no code that writes a database',
  'C-27': 'a sum of other checks, which are tested by their own numbers',
};
