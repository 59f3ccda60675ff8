// Waiting for what announces itself by no event: a file of another process, a state behind a socket.

/** Milliseconds between two looks. */
const INTERVAL_MS = 10;

/**
 * Waits until a condition holds. It has no time limit: the runner ends a script that no longer works, and a
 * condition that can become impossible, e.g. by the end of a process, throws.
 */
export async function waitUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
}
