// MUSTs that no test, case or vector checks, each with the reason.

/** The reason by the number of the rule. */
export const UNCHECKED: Readonly<Record<string, string>> = {};
