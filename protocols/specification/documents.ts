// Which document holds the rules of which prefix.

/** A specification document of this project. */
export interface DocumentEntry {
  /** Its folder, from the root of the package; the file is `specification.md`. */
  readonly folder: string;
  /** The prefixes of its rules: `BRK` of `BRK-2.9`. */
  readonly prefixes: readonly string[];
}

/** All documents, in the order in which a reader meets the protocols. */
export const SPECIFICATIONS: readonly DocumentEntry[] = [
  { folder: 'protocols/soif', prefixes: ['SOIF'] },
  { folder: 'protocols/gatherd', prefixes: ['GATHERD'] },
  { folder: 'protocols/broker', prefixes: ['BRK'] },
  { folder: 'protocols/bulk', prefixes: ['BT', 'BP'] },
  { folder: 'protocols/registry', prefixes: ['REG'] },
  { folder: 'protocols/sstp', prefixes: ['S', 'P', 'R', 'F', 'C'] },
  { folder: 'protocols/config', prefixes: ['G'] },
  { folder: 'servers/essence', prefixes: ['E'] },
  { folder: 'servers/crawler', prefixes: ['CRAWL'] },
];

/** Returns the document that holds rules of this prefix; undefined for an unknown prefix. */
export function documentOf(ruleId: string): DocumentEntry | undefined {
  const prefix = ruleId.slice(0, ruleId.indexOf('-'));
  return SPECIFICATIONS.find(({ prefixes }) => prefixes.includes(prefix));
}
