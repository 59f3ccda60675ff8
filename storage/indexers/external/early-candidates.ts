// Runs the programs of queries to their end, however slowly the candidates are taken, and bounds their number.

/** Programs that run for queries at a time, for all engines of this process. */
const MAX_PROGRAMS = 20;

/** A counter of programs, with a queue in the order of arrival. */
class ProgramSlots {
  #running = 0;
  readonly #waiting = new Set<() => void>();

  /** Waits for a place. Returns undefined if a signal aborts first. */
  async acquire(signals: readonly AbortSignal[]): Promise<Disposable | undefined> {
    if (signals.some((signal) => signal.aborted)) return undefined;
    if (this.#running >= MAX_PROGRAMS) {
      const isGranted = await new Promise<boolean>((resolve) => {
        const settle = (granted: boolean) => {
          this.#waiting.delete(grant);
          for (const signal of signals) signal.removeEventListener('abort', abort);
          resolve(granted);
        };
        const grant = () => settle(true);
        const abort = () => settle(false);
        this.#waiting.add(grant);
        for (const signal of signals) signal.addEventListener('abort', abort, { once: true });
      });
      if (!isGranted) return undefined;
    } else this.#running += 1;
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        const [next] = this.#waiting;
        // The place passes on.
        if (next === undefined) this.#running -= 1;
        else next();
      },
    };
  }
}

const SLOTS = new ProgramSlots();

/**
 * Yields the candidates of an engine. The engine's program runs on while the consumer does something else, so that it ends soon: a client
 * that reads slowly keeps OIDs in memory, not a process. Waits while too many programs run; yields nothing if a signal aborts until then.
 *
 * @param signals the deadline of the query, and the signal that its results are no longer needed
 */
export async function* earlyCandidates<T>(
  candidates: () => AsyncIterable<readonly T[]>,
  signals: readonly AbortSignal[],
): AsyncGenerator<readonly T[], void, undefined> {
  let found: T[] = [];
  let isOver = false;
  let wake = () => {};
  const run = async () => {
    try {
      using slot = await SLOTS.acquire(signals);
      if (slot === undefined) return;
      for await (const batch of candidates()) {
        for (const candidate of batch) found.push(candidate);
        wake();
      }
    } finally {
      isOver = true;
      wake();
    }
  };
  const running = run();
  // The rejection is thrown below, when everything found before it was taken.
  running.catch(() => undefined);
  for (;;) {
    if (found.length > 0) {
      const batch = found;
      found = [];
      yield batch;
    } else if (isOver) break;
    else {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  await running;
}
