// Tries one suite with its correct peer, its variants and its mutants, and counts which case is failed by which
// mutant.
import type { Test } from 'tap';
import { type CaseDescription, loadSuite } from '../../clients/conformance/index.js';
import { failuresOf, PATIENCE_MS } from '../clients/conformance/run-cases.js';
import { readExpected, writeExpected } from './expected.js';
import type { MutatedSuite, Runner, RunReport } from './mutant.js';
import { REFUSED } from './run-proxied.js';
import { cheapestMutants, everyMutant, selects } from './trials.js';

/** Milliseconds for one case whose outcome is not known yet. */
const RECORD_MS = 10_000;
/** Runs at a time; a run mostly waits. */
const TOGETHER = 6;

/** What the mutants of a suite, or of a part of it, showed. */
export interface Outcome {
  readonly suite: string;
  /** With the name of the part. */
  readonly name: string;
  readonly cases: number;
  readonly mutants: number;
  readonly variants: number;
  /** Mutants that were run. */
  readonly tried: number;
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
  /** Tries the cheapest mutant of each case, and no variant. */
  readonly cheapest: boolean;
}

/** Runs everything and asserts it. */
export async function tryMutants<Change>(
  t: Test,
  mutated: MutatedSuite<Change>,
  { pattern, records, cheapest }: Choice,
): Promise<Outcome> {
  const { part, covers = /^/, mutants, variants, slow } = mutated;
  const suite = part === undefined ? mutated.suite : `${mutated.suite}-${part}`;
  const cases = (await loadSuite(mutated.suite)).cases.filter(({ id }) => covers.test(id));
  const ids = cases.map(({ id }) => id);
  checkNames(t, mutated, ids);
  const run = await mutated.start(t);
  const quick = ids.filter((id) => !slow.test(id));
  if (pattern === '') await checkCorrect(t, run, cheapest ? quick : ids);
  const expected = await readExpected(suite);
  if (!records) {
    t.same(Object.keys(expected).sort(), mutants.map(({ name }) => name).sort(), 'every mutant is listed');
  }
  const chosen = ({ name }: { readonly name: string }) => name.includes(pattern);
  await inParallel(cheapest ? [] : variants.filter(chosen), async ({ name, rule, change, skips = [] }) => {
    const { results, changed } = await run(change, { only: quick, timeoutMs: PATIENCE_MS });
    const bad = results.filter(
      ({ verdict, id }) => verdict === 'fail' || (verdict === 'skip' && !selects(skips, id)),
    );
    t.same(
      bad.map(({ id, verdict, message }) => `${id} ${verdict}: ${message}`),
      [],
      `${suite}, ${rule} allows: ${name}`,
    );
    t.ok(changed, `${suite}: the variant changes something: ${name}`);
  });
  const observed: Record<string, readonly string[]> = {};
  const all = cheapest ? cheapestMutants(mutated, ids, expected) : everyMutant(mutated, quick);
  const trials = all.filter(({ mutant }) => chosen(mutant));
  await inParallel(trials, async (trial) => {
    const { name, rule, fails } = trial.mutant;
    const listed = (expected[name] ?? []).filter((id) => id === REFUSED || selects(trial.only, id));
    // A change that counts begins anew with each run.
    const failedWith = async (timeoutMs: number) =>
      failedIn(await run(trial.mutant.change, { only: trial.only, timeoutMs }));
    const failed = records ? await failedWith(RECORD_MS) : await failuresOf(listed, failedWith);
    observed[name] = failed;
    t.same(
      fails.filter((id) => selects(trial.only, id) && !failed.includes(id) && failed[0] !== REFUSED),
      [],
      `${suite}, ${rule}: ${name}: the cases about it fail`,
    );
    if (records) return;
    t.same(failed, listed, `${suite}, ${rule}: ${name}: the listed cases fail, and no others`);
  });
  if (records) await writeExpected(suite, { ...(pattern === '' ? {} : expected), ...observed });
  const failing = new Set(Object.values(observed).flat());
  return {
    suite: mutated.suite,
    name: suite,
    cases: cases.length,
    mutants: mutants.length,
    variants: variants.length,
    tried: trials.length,
    uncovered: mustCases(cases).filter((id) => !failing.has(id)),
    unnoticed: trials.map(({ mutant }) => mutant.name).filter((name) => observed[name]?.length === 0),
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
  const { results, changed } = await run(undefined, { only: ids, timeoutMs: PATIENCE_MS });
  const bad = results.filter(({ verdict }) => verdict !== 'pass');
  t.same(
    bad.map(({ id, verdict, message }) => `${id} ${verdict}: ${message}`),
    [],
    'the correct peer passes every case',
  );
  t.equal(results.length, ids.length);
  t.notOk(changed, 'without a change no byte is altered');
}

function failedIn({ results }: RunReport): string[] {
  return results.filter(({ verdict }) => verdict === 'fail').map(({ id }) => id);
}

async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  await Promise.all(
    Array.from({ length: TOGETHER }, async () => {
      for (const item of waiting) await work(item);
    }),
  );
}
