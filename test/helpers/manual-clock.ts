// A clock that only the test moves, and events to wait for before it does.
import { ManualClock } from '../../servers/crawler/frontier/conformance/manual-clock.js';

export { ManualClock };

/** Resolves in the next turn of the event loop. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Lets a program read what the system holds for it: what a socket of this machine has sent is there at once.
 */
export async function inputRead(): Promise<void> {
  for (let turns = 0; turns < 3; turns++) await nextTurn();
}

/**
 * Waits for a condition: some turns of the event loop, then longer, so that other processes have the processor.
 * The runner ends a test whose condition never holds.
 */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let turns = 0; !(await condition()); turns++)
    await (turns < 20 ? nextTurn() : new Promise((resolve) => setTimeout(resolve, 5)));
}

/** Waits until a figure stays the same for some turns of the event loop, and returns it. */
export async function steady(figure: () => number): Promise<number> {
  let before = figure();
  for (let turns = 0; turns < 20; turns++) {
    await nextTurn();
    if (figure() === before) continue;
    before = figure();
    turns = 0;
  }
  return before;
}

/** Waits until the program has set a timer of this many milliseconds: it waits for what the timer limits. */
export async function timerOf(clock: ManualClock, milliseconds: number): Promise<void> {
  await until(() => clock.waiting.includes(milliseconds));
}

/**
 * Lets time pass in steps until a condition holds; whatever can happen without time happens between two steps.
 */
export async function passTime(clock: ManualClock, stepMs: number, condition: () => boolean): Promise<void> {
  while (!condition()) {
    clock.advance(stepMs);
    await nextTurn();
  }
}
