// The rules of all specifications, which ship with the package.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../../protocols/errors.js';
import {
  documentOf,
  parseSpecification,
  type Rule,
  SPECIFICATIONS,
  type Specification,
  sentenceOf,
} from '../../protocols/specification/index.js';

/** A rule, and where it stands. */
export interface BookedRule extends Rule {
  /** E.g. `protocols/soif/specification.md`, from the root of the package. */
  readonly document: string;
}

const books = new Map<string, Promise<Specification>>();

/** Reads a specification of the package, once. @param folder e.g. `protocols/soif` */
function loadSpecification(folder: string): Promise<Specification> {
  let book = books.get(folder);
  if (book === undefined) {
    book = readFile(fileURLToPath(import.meta.resolve(`#specification/${folder}`)), 'utf8').then(
      parseSpecification,
    );
    books.set(folder, book);
  }
  return book;
}

/** Returns all rules of a specification. */
async function rulesOf(folder: string): Promise<BookedRule[]> {
  const { rules } = await loadSpecification(folder);
  return rules.map((rule) => ({ ...rule, document: `${folder}/specification.md` }));
}

/** Returns all rules of all specifications, in their order. */
export async function allRules(): Promise<BookedRule[]> {
  return (await Promise.all(SPECIFICATIONS.map(({ folder }) => rulesOf(folder)))).flat();
}

/** Returns a rule by its number, ignoring case; undefined if no specification has it. */
export async function findRule(id: string): Promise<BookedRule | undefined> {
  const name = id.toUpperCase();
  const document = documentOf(name);
  if (document === undefined) return undefined;
  return (await rulesOf(document.folder)).find((rule) => rule.id.toUpperCase() === name);
}

/** Returns what each of these rules says: its number and its first sentence. Unknown numbers are left out. */
export async function statementsOf(ids: readonly string[]): Promise<string[]> {
  const rules = await Promise.all(ids.map(findRule));
  return rules.flatMap((rule) => (rule === undefined ? [] : [`${rule.id}: ${sentenceOf(rule)}`]));
}

/**
 * Returns the rules of a number or section (`SOIF-2` for SOIF-2.1, SOIF-2.2, ...), ignoring case.
 * @throws UsageError if no rule has the name
 */
export async function rulesNamed(name: string): Promise<BookedRule[]> {
  const wanted = name.toUpperCase();
  const document = documentOf(wanted) ?? documentOf(`${wanted}-`);
  if (document === undefined) {
    const known = SPECIFICATIONS.flatMap(({ prefixes }) => prefixes).map((prefix) => `${prefix}-`);
    throw new UsageError(
      `no specification has rules named ${name}; their numbers begin with ${known.join(', ')}`,
    );
  }
  const rules = await rulesOf(document.folder);
  const exact = rules.filter(({ id }) => id.toUpperCase() === wanted);
  const found =
    exact.length > 0
      ? exact
      : rules.filter(({ id }) => id.toUpperCase().startsWith(`${wanted}${wanted.includes('-') ? '.' : '-'}`));
  if (found.length === 0) {
    throw new UsageError(
      `${document.folder}/specification.md has no rule ${name}; \`harvest spec --list ${wanted.split('-')[0]}\` lists its rules`,
    );
  }
  return found;
}
