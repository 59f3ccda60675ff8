// Memory that the thread of a target shares with the thread that watches it, and their messages.

/** Positions in {@link SharedState.control}. */
export const RUNNING = 0;
export const STOP = 1;
export const LENGTH = 2;
export const EDGES = 3;
export const CORPUS = 4;
export const BRANCHES = 5;
export const PHASE = 6;
/** Executions, low and high 31 bits; increases at the start of each. */
export const COUNT_LOW = 7;
export const COUNT_HIGH = 8;
const CONTROLS = 16;

export const PHASES = ['loading', 'seeds', 'fuzzing', 'long inputs', 'minimizing'] as const;

/** Bytes of the longest input: those that show whether time is linear. */
export const MAX_INPUT = 256 * 1024;

export interface SharedState {
  readonly control: Int32Array<SharedArrayBuffer>;
  /** The input that runs now. */
  readonly input: Uint8Array<SharedArrayBuffer>;
}

export function newSharedMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(4 * CONTROLS + MAX_INPUT);
}

export function sharedState(memory: SharedArrayBuffer): SharedState {
  return {
    control: new Int32Array(memory, 0, CONTROLS),
    input: new Uint8Array(memory, 4 * CONTROLS, MAX_INPUT),
  };
}

export function executions({ control }: SharedState): number {
  return Atomics.load(control, COUNT_HIGH) * 0x4000_0000 + Atomics.load(control, COUNT_LOW);
}

/** What a run does. */
export interface FuzzOptions {
  readonly target: string;
  readonly seed: number;
  /** Seconds of the whole run. */
  readonly seconds: number;
  /** Executions; 0: as many as fit in the time. */
  readonly runs: number;
  /** Bytes of the corpus to keep. */
  readonly corpusBytes: number;
}

export interface Finding {
  readonly kind: 'error' | 'hang' | 'memory' | 'slow' | 'death';
  /** Equal for inputs that meet the same defect. */
  readonly key: string;
  readonly message: string;
  readonly input: Uint8Array;
}

/** From the thread of a target to its process, and from there to the command. */
export type FuzzMessage =
  | { readonly kind: 'finding'; readonly finding: Finding }
  | { readonly kind: 'done'; readonly corpus: readonly Uint8Array[] };

export interface FuzzStatistics {
  readonly executions: number;
  readonly edges: number;
  readonly branches: number;
  readonly corpus: number;
  readonly phase: string;
  /** MiB of resident memory, the most so far. */
  readonly peak: number;
}
