// What stands behind each rule: the files that cite it, by what they are, and the cases of the conformance kit.
import { readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { type BookedRule, loadSuite, suiteNames } from '../../clients/conformance/index.js';
import { citationsIn } from '../../protocols/specification/index.js';
import { ROOT, textOf } from '../architecture/sources.js';

/** What a citing file is. */
const KINDS = ['code', 'tests', 'cases', 'vectors', 'mutants'] as const;
type Kind = (typeof KINDS)[number];

/** Numbers by kind: files for code, tests, vectors and mutants; cases of `harvest conformance`. */
export type Coverage = Record<Kind, number>;

/** Paths of the sources, vectors and examples that may cite rules, from the root. */
export function citingFiles(): string[] {
  return ['protocols', 'storage', 'clients', 'servers', 'test', 'examples'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(?:ts|json|py|go)$/.test(entry.name))
      .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join('/')),
  );
}

function kindOf(file: string): Kind | undefined {
  if (/\/vectors\/[^/]+\.json$/.test(file)) return 'vectors';
  if (file.startsWith('test/conformance/')) return 'mutants';
  // The reasons for rules without a test are no test.
  if (file.startsWith('test/')) return file === 'test/rules/unchecked-rules.ts' ? undefined : 'tests';
  // Suites of contracts are tests that the package exports.
  if (/^(?:servers|storage)\/.*\bconformance\b/.test(file)) return 'tests';
  // The cases are counted one by one.
  return file.startsWith('clients/conformance/') || file.startsWith('examples/') ? undefined : 'code';
}

/** Counts what stands behind the rules. A citation of a section (`CRAWL-5`) counts for no rule. */
export async function coverageOf(rules: readonly BookedRule[]): Promise<ReadonlyMap<string, Coverage>> {
  const found = new Map(rules.map(({ id }) => [id, { code: 0, tests: 0, cases: 0, vectors: 0, mutants: 0 }]));
  const count = (id: string, kind: Kind) => {
    const coverage = found.get(id);
    if (coverage !== undefined) coverage[kind]++;
  };
  for (const file of citingFiles()) {
    const kind = kindOf(file);
    if (kind !== undefined) for (const id of new Set(citationsIn(textOf(file)))) count(id, kind);
  }
  for (const name of await suiteNames())
    for (const { rules } of (await loadSuite(name)).cases)
      for (const id of new Set(rules)) count(id, 'cases');
  return found;
}

/** Whether a program checks the rule. */
export function isChecked({ tests, cases, vectors }: Coverage): boolean {
  return tests + cases + vectors > 0;
}
