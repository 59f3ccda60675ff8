// Tries one suite with its correct peer, its variants and its mutants, and counts which case is failed by which mutant.
import type { Test } from 'tap';
import { type CaseDescription, loadSuite, matchesPattern } from '../../clients/conformance/index.js';
import { readExpected, writeExpected } from './expected.js';
import type { MutatedSuite, Runner, RunReport } from './mutant.js';
import { REFUSED } from './run-proxied.js';

/** Milliseconds for one case: far more than any answer needs, since a mutant that hangs names the cases to run. */
const TIMEOUT_MS = 10_000;
/** A mutant that makes the kit wait costs this time for each of its cases. */
const WAITING_MS = 1_000;
/** Runs at a time; a run mostly waits. */
const TOGETHER = 6;

/** What the mutants of a suite showed. */
export interface Outcome {
  readonly suite: string;
  readonly cases: number;
  readonly mutants: number;
  readonly variants: number;
  /** Cases that are a MUST and that no mutant fails. */
  readonly uncovered: readonly string[];
  /** Mutants that no case noticed. */
  readonly unnoticed: readonly string[];
}

/** Which mutants to try. */
export interface Choice {
  /** Only mutants and variants whose names have this text. */
  readonly pattern: string;
  /** Lists the cases that fail in `fixtures/`, instead of comparing them. */
  readonly records: boolean;
}

/** Runs everything and asserts it. */
export async function tryMutants<Change>(
  t: Test,
  mutated: MutatedSuite<Change>,
  { pattern, records }: Choice,
): Promise<Outcome> {
  const { suite, mutants, variants, slow } = mutated;
  const { cases } = await loadSuite(suite);
  const ids = cases.map(({ id }) => id);
  checkNames(t, mutated, ids);
  const run = await mutated.start(t);
  if (pattern === '') await checkCorrect(t, run, ids);
  const quick = ids.filter((id) => !slow.test(id));
  const failing = new Map<string, number>();
  const unnoticed: string[] = [];
  const expected = await readExpected(suite);
  if (!records) {
    t.same(Object.keys(expected).sort(), mutants.map(({ name }) => name).sort(), 'every mutant is listed');
  }
  const observed: Record<string, readonly string[]> = {};
  const chosen = (name: string) => name.includes(pattern);
  await inParallel(variants, async ({ name, rule, change, skips = [] }) => {
    if (!chosen(name)) return;
    const { results, changed } = await run(change, { only: quick, timeoutMs: TIMEOUT_MS });
    const bad = results.filter(
      ({ verdict, id }) => verdict === 'fail' || (verdict === 'skip' && !matchesAny(id, skips)),
    );
    t.same(
      bad.map(({ id, verdict, message }) => `${id} ${verdict}: ${message}`),
      [],
      `${suite}, ${rule} allows: ${name}`,
    );
    t.ok(changed, `${suite}: the variant changes something: ${name}`);
  });
  await inParallel(mutants, async (mutant) => {
    if (!chosen(mutant.name)) return;
    const { name, rule, change, fails } = mutant;
    const only = mutant.only ?? [
      ...(mutated.whole === true || isInSample(name) ? quick : [...mutated.first, ...few(quick, name)]),
      ...fails,
    ];
    const timeoutMs = mutant.only === undefined ? TIMEOUT_MS : WAITING_MS;
    const report = await run(change, { only, timeoutMs });
    const failed = failedIn(report);
    for (const id of failed) failing.set(id, (failing.get(id) ?? 0) + 1);
    if (failed.length === 0) unnoticed.push(name);
    observed[name] = failed;
    t.same(
      fails.filter((id) => !failed.includes(id) && failed[0] !== REFUSED),
      [],
      `${suite}, ${rule}: ${name}: the cases about it fail`,
    );
    if (records) return;
    t.same(failed, expected[name] ?? [], `${suite}, ${rule}: ${name}: the listed cases fail, and no others`);
  });
  if (records) await writeExpected(suite, { ...(pattern === '' ? {} : expected), ...observed });
  const uncovered = mustCases(cases).filter((id) => !failing.has(id));
  return {
    suite,
    cases: cases.length,
    mutants: mutants.length,
    variants: variants.length,
    uncovered,
    unnoticed,
  };
}

function mustCases(cases: readonly CaseDescription[]): string[] {
  return cases.filter(({ level }) => level === 'MUST').map(({ id }) => id);
}

/** Names are unique, and every case that a mutant names exists. */
function checkNames<Change>(
  t: Test,
  { mutants, variants }: MutatedSuite<Change>,
  ids: readonly string[],
): void {
  const names = [...mutants, ...variants].map(({ name }) => name);
  t.same(
    names.filter((name, i) => names.indexOf(name) !== i),
    [],
    'every mutant has its own name',
  );
  const unknown = mutants.flatMap(({ fails }) => fails.filter((id) => !ids.includes(id)));
  t.same([...new Set(unknown)], [], 'every case that a mutant must fail exists');
}

async function checkCorrect<Change>(t: Test, run: Runner<Change>, ids: readonly string[]): Promise<void> {
  const { results, changed } = await run(undefined, { only: ids, timeoutMs: TIMEOUT_MS });
  const bad = results.filter(({ verdict }) => verdict !== 'pass');
  t.same(
    bad.map(({ id, verdict, message }) => `${id} ${verdict}: ${message}`),
    [],
    'the correct peer passes every case',
  );
  t.equal(results.length, ids.length);
  t.notOk(changed, 'without a change no byte is altered');
}

/** One mutant in this many runs with all quick cases, the others with those about them and a few others. */
const SAMPLE = 16;
const FEW = 6;

function hashOf(text: string): number {
  let hash = 7;
  for (const char of text) hash = (hash * 31 + char.charCodeAt(0)) >>> 0;
  return hash;
}

function isInSample(name: string): boolean {
  return hashOf(name) % SAMPLE === 0;
}

/** Returns some of the ids, which depend on the name of the mutant only. */
function few(ids: readonly string[], name: string): readonly string[] {
  const ranked = ids.map((id) => ({ id, rank: hashOf(`${name} ${id}`) })).sort((a, b) => a.rank - b.rank);
  return ranked.slice(0, FEW).map(({ id }) => id);
}

function failedIn({ results }: RunReport): string[] {
  return results.filter(({ verdict }) => verdict === 'fail').map(({ id }) => id);
}

function matchesAny(id: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => matchesPattern(id, pattern));
}

async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  await Promise.all(
    Array.from({ length: TOGETHER }, async () => {
      for (const item of waiting) await work(item);
    }),
  );
}
