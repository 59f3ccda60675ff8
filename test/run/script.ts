// What the manifest says of a script of tests, and what a run of it gives.

/**
 * How chance and time enter a script.
 *
 * - `exact`: each run does the same.
 * - `seeded`: kills, properties, bombs, by the seed of the run. Never repeated: a failure at a random moment is
 *   a real one.
 * - `timed`: it waits for real timers. A failed one is repeated once, alone, and then reported as flaky.
 * - `measured`: it asserts memory, speed or fairness. It runs alone, and never in the gate.
 */
export type Kind = 'exact' | 'seeded' | 'timed' | 'measured';

/** The first tier that a script belongs to: `npm test`, the gate, or `npm run verify`. */
export type Tier = 'core' | 'gate' | 'verify';

/** A row of the manifest. */
export interface Script {
  /** The path below `test`, without ending, e.g. `attacks/terminal`. */
  readonly name: string;
  /** The tier in which it runs always; `gate` scripts are chosen by the paths that changed, or in turn. */
  readonly tier: Tier;
  /** Processor seconds on a core of the reference machine in tier `gate`; limits are five times as large. */
  readonly seconds: number;
  readonly kind: Kind;
  /**
   * Folders or files, from the root of the project, that the script proves. Its own file is one of them without
   * saying.
   */
  readonly paths: readonly string[];
  /** Names of Debian's packages and of other things in `needs.ts`; none for Node alone. */
  readonly needs: readonly string[];
  /** Arguments of the script. */
  readonly args?: readonly string[];
  /** A command to run instead of a compiled script, from the root of the project. */
  readonly command?: readonly string[];
}

/** The end of one script. */
export interface Outcome {
  readonly name: string;
  readonly status: 'passed' | 'failed' | 'flaky' | 'skipped';
  /** Assertions. */
  readonly passed: number;
  readonly failed: number;
  /** Seconds by the clock. */
  readonly seconds: number;
  /** Processor seconds of the script and of the processes that it waited for. */
  readonly processorSeconds: number;
  /** Why it was skipped or ended, and what it left behind. */
  readonly remarks: readonly string[];
  /** The files with its output: two for a script that was repeated. */
  readonly logs: readonly string[];
}
