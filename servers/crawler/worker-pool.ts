import { setMaxListeners } from 'node:events';
import { steadyTime } from '../../clients/connection/monotonic-clock.js';
import { withoutUserInfo } from '../../protocols/urls/index.js';
import type { WorkerReport } from './control.js';
import type { CrawlUri } from './crawl-uri.js';

/** The state of one worker (CRAWL-20.3). */
export interface WorkerSlot {
  /** Number of the worker, from 1. */
  readonly number: number;
  /** Aborted when the run is aborted or the worker is killed. */
  abort: AbortController;
  /** The URI in process; undefined while the worker is idle. */
  uri: CrawlUri | undefined;
  /** When the worker took the URI, milliseconds since 1970. */
  begin: number;
  killed: boolean;
}

/** The workers of a crawl with the URIs that they process. */
export class WorkerSlots {
  readonly #slots: readonly WorkerSlot[];

  constructor(count: number) {
    this.#slots = Array.from({ length: count }, (_, i) => ({
      number: i + 1,
      abort: new AbortController(),
      uri: undefined,
      begin: 0,
      killed: false,
    }));
  }

  get size(): number {
    return this.#slots.length;
  }

  /** Number of workers with a URI. */
  get busy(): number {
    return this.#slots.reduce((busy, { uri }) => busy + (uri === undefined ? 0 : 1), 0);
  }

  /** @param number from 1 */
  slot(number: number): WorkerSlot {
    return this.#slots[number - 1]!;
  }

  /** Reports the busy workers, their URLs without logins (G-81). */
  reports(): WorkerReport[] {
    const now = steadyTime();
    return this.#slots.flatMap(({ number, uri, begin }) =>
      uri === undefined
        ? []
        : [{ worker: number, url: withoutUserInfo(uri.url), step: uri.step, milliseconds: now - begin }],
    );
  }

  /** CRAWL-20.3: fails the worker's URI with -7000; returns false if the worker is idle. */
  kill(number: number): boolean {
    const slot = this.#slots[number - 1];
    if (slot?.uri === undefined) return false;
    slot.killed = true;
    slot.abort.abort(new Error('killed'));
    return true;
  }

  /** Kills the workers that have been busy with one URI for longer than this. */
  killStuck(maxMs: number): void {
    const now = steadyTime();
    for (const { number, uri, begin } of this.#slots)
      if (uri !== undefined && now - begin > maxMs) this.kill(number);
  }

  abortAll(reason: unknown): void {
    for (const { abort } of this.#slots) abort.abort(reason);
  }
}

/** Gives a killed worker a new signal, so that it can take the next URI. */
export function revive(slot: WorkerSlot): void {
  slot.killed = false;
  slot.abort = new AbortController();
  setMaxListeners(0, slot.abort.signal);
}

/**
 * CRAWL-1.5, 20.5: runs the workers as asynchronous tasks. Each repeats `step` until it returns false. The
 * first failure stops all of them through `abort` and is thrown.
 */
export async function runWorkers(
  count: number,
  step: (worker: number) => Promise<boolean>,
  abort: (reason: unknown) => void,
): Promise<void> {
  let failure: { readonly error: unknown } | undefined;
  const work = async (_: unknown, index: number): Promise<void> => {
    try {
      while (failure === undefined && (await step(index + 1)));
    } catch (error) {
      failure ??= { error };
      abort(error);
    }
  };
  await Promise.all(Array.from({ length: count }, work));
  if (failure !== undefined) throw failure.error;
}
