// Counts events, e.g. requests to a server or names that appear in a directory. A test decides by their number
// when it acts, not by a time.
import { mkdirSync, watch } from 'node:fs';
import type { Test } from 'tap';

/** Events so far, and those who wait for more of them. */
export class EventCount {
  #count = 0;
  #waiting: { readonly target: number; readonly resolve: () => void }[] = [];

  get count(): number {
    return this.#count;
  }

  add(events = 1): void {
    this.#count += events;
    this.#waiting = this.#waiting.filter(({ target, resolve }) => {
      if (this.#count < target) return true;
      resolve();
      return false;
    });
  }

  /** Resolves with the event that makes the count this number. */
  reached(target: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ target, resolve });
      this.add(0);
    });
  }

  /** Resolves after this number of further events. */
  further(events: number): Promise<void> {
    return this.reached(this.#count + events);
  }
}

/**
 * Counts the names that are made, replaced and removed in directories, which are created if absent, until the
 * test ends.
 */
export function countNames(t: Test, ...directories: readonly string[]): EventCount {
  const names = new EventCount();
  for (const directory of directories) {
    mkdirSync(directory, { recursive: true });
    const watcher = watch(directory, (event) => {
      if (event === 'rename') names.add();
    });
    t.teardown(() => watcher.close());
  }
  return names;
}
