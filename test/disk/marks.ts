// What the marks of a program promise in a state.
import type { CrashState } from './states.js';

/** The largest number among the marks of one of these kinds (`KIND NUMBER`), 0 without one. */
export function lastMark({ marks }: CrashState, ...kinds: readonly string[]): number {
  let last = 0;
  for (const mark of marks) {
    const [kind = '', number] = mark.split(' ');
    if (kinds.includes(kind)) last = Math.max(last, Number(number));
  }
  return last;
}

/**
 * The last acknowledged step: a killed process loses nothing, a power failure may lose what was not flushed.
 */
export function acknowledgedStep(state: CrashState): number {
  return state.recipe.mode === 'kill' ? lastMark(state, 'written', 'flushed') : lastMark(state, 'flushed');
}
