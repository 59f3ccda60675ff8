// What a mutant of the conformance kit's own peers is, and how one suite is tried with all of its mutants.
import type { Test } from 'tap';
import type { CaseResult } from '../../clients/conformance/index.js';

/** A correct peer with one defect. */
export interface Mutant<Change> {
  /** One sentence without a full stop: what the peer does wrong. Unique in its suite. */
  readonly name: string;
  /** The rule that it breaks. */
  readonly rule: string;
  /**
   * How the bytes of the correct peer are changed. A change that counts is made anew for each run, by a getter.
   */
  readonly change: Change;
  /** The cases about the rule, which must fail. All cases that fail are listed in `fixtures/`. */
  readonly fails: readonly string[];
  /** Patterns of the only cases to run, for a defect that makes a client wait. Default: all quick cases. */
  readonly only?: readonly string[];
}

/** A peer that differs from the correct one in something that the rules leave free: it passes every case. */
export interface Variant<Change> {
  readonly name: string;
  /** The rule that allows it. */
  readonly rule: string;
  readonly change: Change;
  /** Patterns of the cases that may be skipped, because the peer lacks a feature. */
  readonly skips?: readonly string[] | undefined;
}

/** Which cases to run, and the milliseconds for one. */
export interface RunRequest {
  readonly only: readonly string[];
  readonly timeoutMs: number;
}

export interface RunReport {
  readonly results: readonly CaseResult[];
  /** Whether the change altered any byte. */
  readonly changed: boolean;
}

/** Runs cases of the suite against the correct peer with this change; `undefined` changes nothing. */
export type Runner<Change> = (change: Change | undefined, request: RunRequest) => Promise<RunReport>;

/** A suite of the kit with its mutants and variants. */
export interface MutatedSuite<Change> {
  /** The name of the suite. */
  readonly suite: string;
  /** Of a suite that is tried in parts, with another peer each: the name of the part. */
  readonly part?: string;
  /** The cases that this part is about; it tries no others. Default: all. */
  readonly covers?: RegExp;
  /**
   * Cases that wait or transfer much: they run with the correct peer, and with the mutants that they must
   * detect.
   */
  readonly slow: RegExp;
  /** Whether every mutant runs with all cases, because they cost little. Default: a sample does. */
  readonly whole?: boolean;
  /**
   * Cases that run always, before the others: the first one that needs what the suite learns about the peer
   * fails for all.
   */
  readonly first: readonly string[];
  readonly mutants: readonly Mutant<Change>[];
  readonly variants: readonly Variant<Change>[];
  /** Starts the correct peer, which all mutants share. */
  start(t: Test): Promise<Runner<Change>>;
}

/** Makes a mutant from what it changes. */
export type Maker<Edit, Change> = (
  name: string,
  rule: string,
  edit: Edit,
  fails: readonly string[],
) => Mutant<Change>;

/**
 * The mutants about one rule that must fail the same cases, from a table of their names and of what they
 * change.
 */
export function about<Edit, Change>(
  rule: string,
  fails: readonly string[],
  make: Maker<Edit, Change>,
  edits: Readonly<Record<string, NoInfer<Edit>>>,
): readonly Mutant<Change>[] {
  return Object.entries(edits).map(([name, edit]) => make(name, rule, edit, fails));
}

/** A mutant whose change needs no other form. */
export function whole<Change>(name: string, rule: string, change: Change, fails: readonly string[]) {
  return { name, rule, change, fails };
}

/** Such a mutant that runs with the cases that it must fail only. */
export function alone<Change>(name: string, rule: string, change: Change, fails: readonly string[]) {
  return { name, rule, change, fails, only: fails };
}

/**
 * Returns what makes mutants that read something else, from a table of their names, of what they match, and of
 * what they read.
 */
export function readings<Replacement, Change>(
  misreading: (
    name: string,
    rule: string,
    pattern: RegExp,
    replacement: Replacement,
    fails: readonly string[],
  ) => Mutant<Change>,
) {
  type Reading = readonly [pattern: RegExp, replacement: Replacement];
  const make: Maker<Reading, Change> = (name, rule, [pattern, replacement], fails) =>
    misreading(name, rule, pattern, replacement, fails);
  return (rule: string, fails: readonly string[], table: Readonly<Record<string, Reading>>) =>
    about(rule, fails, make, table);
}

/** The variants that one rule allows, from a table of their names and changes. */
export function allowed<Change>(
  rule: string,
  changes: Readonly<Record<string, Change>>,
): readonly Variant<Change>[] {
  return Object.entries(changes).map(([name, change]) => ({ name, rule, change }));
}
