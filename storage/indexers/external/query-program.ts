// Reads the candidates that a running program names for a query, until it ends or is stopped.
import type { Candidate, CandidateOptions } from './candidate-search.js';
import type { Program, ProgramEnd } from './program.js';

/** What an engine makes of the output and the end of its program. */
export interface QueryProgram {
  /** Returns the candidates in some lines. */
  readonly read: (lines: readonly string[]) => readonly Candidate[];
  /**
   * Called when the program ended by itself, not for a deadline. @throws StorageError if the index cannot be
   * used
   */
  readonly check: (end: ProgramEnd) => void;
}

/**
 * BRK-8.13: yields the candidates that a program names. At the deadline it is stopped, and what it has written
 * counts; when the results are not needed any more, or the caller stops reading, its output is closed, too. The
 * limit of CPU seconds is a deadline as well.
 *
 * @returns whether the program ended by itself
 */
export async function* queryProgram(
  program: Program,
  { read, check }: QueryProgram,
  { deadline, dropped }: CandidateOptions,
): AsyncGenerator<readonly Candidate[], boolean> {
  let isKilled = false;
  let isWhole = false;
  const stop = () => {
    isKilled = true;
    program.stop();
  };
  const drop = () => {
    isKilled = true;
    program.drop();
  };
  try {
    program.endInput();
    deadline.addEventListener('abort', stop, { once: true });
    dropped.addEventListener('abort', drop, { once: true });
    if (deadline.aborted) stop();
    if (dropped.aborted) drop();
    for await (const lines of program.lines()) yield read(lines);
    const end = await program.ended;
    isWhole = !isKilled && end.signal !== 'SIGXCPU';
    if (isWhole) check(end);
    return isWhole;
  } finally {
    deadline.removeEventListener('abort', stop);
    dropped.removeEventListener('abort', drop);
    if (!isWhole) program.drop();
  }
}
