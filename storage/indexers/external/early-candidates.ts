// Runs the programs of queries to their end, however slowly the candidates are taken, and bounds their number.
import { Budget } from '../../../protocols/budget.js';
import { LinkedAbort } from '../../../protocols/linked-abort.js';

/** Programs that run for queries at a time, for all engines of this process. */
const MAX_PROGRAMS = 20;

const PROGRAMS = new Budget(MAX_PROGRAMS);

/**
 * Yields the candidates of an engine. The engine's program runs on while the consumer does something else, so
 * that it ends soon: a client that reads slowly keeps OIDs in memory, not a process. Waits while too many
 * programs run; yields nothing if a signal aborts until then.
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
      using stop = new LinkedAbort(...signals);
      using place = await PROGRAMS.take(1, { signal: stop.signal }).catch(() => undefined);
      if (place === undefined) return;
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
