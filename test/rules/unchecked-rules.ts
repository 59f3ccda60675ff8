// MUSTs that no test, case or vector checks, each with the reason.

/** The reason by the number of the rule. */
export const UNCHECKED: Readonly<Record<string, string>> = {
  'R-6': 'an absence: the server has no code that writes a database',
  'C-27': 'a sum of other checks, which are tested by their own numbers',
  'E-1': 'a sum of the steps, which are tested by their own numbers',
  'E-3': 'an order, which the rules of its steps imply: E-25, E-28, E-136',
  'E-78': 'three steps, which are tested by their own numbers: E-6, E-61',
  'E-112': 'the identity of objects is tested as SOIF-6.6',
};
