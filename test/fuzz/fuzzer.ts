// The loop of one target: changes inputs, and keeps those that execute a branch in a new way.
import { Random } from '../helpers/random.js';
import { CoverageMap, takeFeatures, tokensOfCode } from './coverage.js';
import { mutate, splice } from './mutate.js';
import type { Finding } from './shared.js';
import type { FuzzTarget } from './target.js';

const DEFAULT_MAX_BYTES = 1024;
/** Inputs that are made from one entry of the corpus before another is chosen. */
const ROUNDS = 24;
/** Executions to make an input smaller. */
const TRIM_RUNS = 48;
const MINIMIZE_RUNS = 1500;
const MAX_FINDINGS = 24;
/** Frames of the stack of a finding. Other executions record no stack: it takes half of their time. */
const STACK = 30;

export interface FuzzerHooks {
  /** Called before each execution. */
  readonly starts: (input: Uint8Array) => void;
  /** Called after it. */
  readonly ends: () => void;
  readonly found: (finding: Finding) => void;
  readonly stopped: () => boolean;
  /** An error outside the promise of the last execution, once. */
  readonly strayError: () => unknown;
}

export class Fuzzer {
  readonly corpus: Uint8Array[] = [];
  readonly coverage = new CoverageMap();
  readonly maxBytes: number;
  readonly #target: FuzzTarget;
  readonly #random: Random;
  readonly #hooks: FuzzerHooks;
  readonly #tokens: Uint8Array[];
  readonly #keys = new Set<string>();

  constructor(target: FuzzTarget, seed: number, hooks: FuzzerHooks) {
    this.#target = target;
    this.#random = new Random(seed);
    this.#hooks = hooks;
    Error.stackTraceLimit = 0;
    this.maxBytes = target.maxBytes ?? DEFAULT_MAX_BYTES;
    this.#tokens = [...(target.tokens ?? []).map((token) => Buffer.from(token, 'latin1')), ...tokensOfCode()];
  }

  /** Runs the target once. @returns what it threw */
  async execute(input: Uint8Array): Promise<{ error: unknown } | undefined> {
    this.#hooks.starts(input);
    try {
      const running = this.#target.run(input);
      if (running !== undefined) await running;
      const stray = this.#hooks.strayError();
      return stray === undefined ? undefined : { error: stray };
    } catch (error) {
      return { error };
    } finally {
      this.#hooks.ends();
    }
  }

  /** Runs each seed; those that cover something new are the corpus. */
  async addSeeds(seeds: readonly Uint8Array[]): Promise<void> {
    for (const seed of [new Uint8Array(0), ...seeds]) {
      if (this.#hooks.stopped()) return;
      await this.#try(seed);
    }
    const { generate } = this.#target;
    for (let i = 0; i < 200 && generate !== undefined && !this.#hooks.stopped(); i++)
      await this.#try(generate(this.#random));
  }

  /** Until the hooks say stop. */
  async run(): Promise<void> {
    const { generate } = this.#target;
    const sources = {
      other: () => this.#choose(),
      tokens: this.#tokens,
      maxBytes: this.maxBytes,
    };
    while (!this.#hooks.stopped()) {
      const entry = this.#choose();
      for (let i = 0; i < ROUNDS && !this.#hooks.stopped(); i++) {
        const base = generate !== undefined && this.#random.once(4) ? generate(this.#random) : entry;
        await this.#try(this.#random.once(32) ? base : mutate(base, this.#random, sources));
      }
    }
  }

  /** Late entries more often than early ones: they cover what is new. */
  #choose(): Uint8Array {
    const { corpus } = this;
    const length = corpus.length;
    if (length === 0) return new Uint8Array(0);
    const at = this.#random.once(3)
      ? length - 1 - this.#random.below(Math.min(length, 16))
      : this.#random.below(length);
    return corpus[at] ?? new Uint8Array(0);
  }

  async #try(input: Uint8Array): Promise<void> {
    const outcome = await this.execute(input);
    if (outcome !== undefined) return this.report(input, outcome.error);
    if (this.coverage.take() > 0) this.corpus.push(input.length > 256 ? await this.#trim(input) : input);
  }

  /** A smaller input with the same features as far as a few executions find one. */
  async #trim(input: Uint8Array): Promise<Uint8Array> {
    const wanted = await this.#featuresOf(input);
    let best = input;
    let runs = 0;
    for (let size = best.length >> 1; size >= 16 && runs < TRIM_RUNS; size >>= 1) {
      for (let at = 0; at + size <= best.length && runs < TRIM_RUNS && !this.#hooks.stopped(); runs++) {
        const smaller = splice(best, at, size, new Uint8Array(0));
        const features = await this.#featuresOf(smaller);
        if (wanted.size > 0 && features.size >= wanted.size && isSuperset(features, wanted)) best = smaller;
        else at += size;
      }
    }
    return best;
  }

  async #featuresOf(input: Uint8Array): Promise<Set<number>> {
    takeFeatures();
    const outcome = await this.execute(input);
    const features = takeFeatures();
    return new Set(outcome === undefined ? features : []);
  }

  /** Makes the input smaller and reports it, unless its defect is known. */
  async report(input: Uint8Array, error: unknown): Promise<void> {
    if (this.#keys.size >= MAX_FINDINGS) return;
    Error.stackTraceLimit = STACK;
    try {
      // Once more, with a stack.
      const again = (await this.execute(input))?.error ?? error;
      const key = keyOf(again);
      if (this.#keys.has(key)) return;
      this.#keys.add(key);
      const small = await this.#minimize(input, key);
      const message = again instanceof Error ? (again.stack ?? again.message) : String(again);
      this.#hooks.found({ kind: 'error', key, message, input: small });
    } finally {
      Error.stackTraceLimit = 0;
      takeFeatures();
    }
  }

  async #minimize(input: Uint8Array, key: string): Promise<Uint8Array> {
    let best = input;
    let runs = 0;
    const isSame = async (bytes: Uint8Array): Promise<boolean> => {
      runs++;
      const outcome = await this.execute(bytes);
      return outcome !== undefined && keyOf(outcome.error) === key;
    };
    for (let size = best.length; size >= 1 && runs < MINIMIZE_RUNS; size >>= 1) {
      for (let at = 0; at < best.length && runs < MINIMIZE_RUNS && !this.#hooks.stopped(); ) {
        const smaller = splice(best, at, size, new Uint8Array(0));
        if (await isSame(smaller)) best = smaller;
        else at += size;
      }
    }
    return best;
  }

  /**
   * The fewest and smallest inputs that cover the same, as far as a greedy choice finds them, up to `bytes` in
   * all.
   */
  async minimized(bytes: number): Promise<Uint8Array[]> {
    const entries: { input: Uint8Array; features: number[] }[] = [];
    for (const input of [...this.corpus].sort((a, b) => a.length - b.length)) {
      const features = await this.#featuresOf(input);
      entries.push({ input, features: [...features] });
    }
    const kept: Uint8Array[] = [];
    let size = 0;
    const covered = new Set<number>();
    // First what executes another branch, then what executes one more or less often.
    for (const featureOf of [(f: number) => -1 - Math.floor(f / 256), (f: number) => f]) {
      for (const { input, features } of entries) {
        const news = features.map(featureOf).filter((feature) => !covered.has(feature));
        if (news.length === 0 || size + input.length + 4 > bytes) continue;
        if (!kept.includes(input)) {
          kept.push(input);
          size += input.length + 4;
        }
        for (const feature of features) covered.add(feature).add(-1 - Math.floor(feature / 256));
      }
    }
    return kept;
  }
}

function isSuperset(features: ReadonlySet<number>, wanted: ReadonlySet<number>): boolean {
  for (const feature of wanted) if (!features.has(feature)) return false;
  return true;
}

/** Error class, message without numbers and quoted text, and the place in the code that threw. */
function keyOf(error: unknown): string {
  if (!(error instanceof Error)) return `thrown ${typeof error}`;
  const message = error.message.split('|')[0] ?? '';
  const general = message.replaceAll(/"[^"]*"|'[^']*'|`[^`]*`/g, '""').replaceAll(/\d+/g, 'N');
  const frame = (error.stack ?? '')
    .split('\n')
    .find((line) => /\/(protocols|storage|clients|servers)\//.test(line) && !line.includes('/test/'));
  const place = /\/((?:protocols|storage|clients|servers)\/[^):]*:\d+)/.exec(frame ?? '')?.[1] ?? '';
  if (error.name === 'OracleError') return `${error.name}: ${general.split(':')[0]}`;
  return `${error.name}: ${general.slice(0, 120)} ${place}`;
}
