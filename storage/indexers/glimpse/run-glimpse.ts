// Runs glimpse for a query, on an index or through the glimpseserver.
import { StorageError } from '../../../protocols/errors.js';
import type { Candidate, CandidateOptions } from '../external/candidate-search.js';
import { failureOf, Program, type ProgramEnd, statusOf } from '../external/program.js';
import { queryProgram } from '../external/query-program.js';
import type { GlimpseServer } from './glimpse-server.js';
import { oidOfFile } from './object-files.js';

/** What {@link runGlimpse} runs. */
export interface GlimpsePrograms {
  readonly glimpse: string;
  readonly server: GlimpseServer | undefined;
  /** As in `ProgramOptions`. */
  readonly graceMs: number | undefined;
}

/**
 * Runs glimpse, through the server if the server is free (BRK-8.10, 8.12, 8.13). Glimpse 4.18 sometimes aborts
 * because it frees memory that it does not own, and answers the same query on the same index a moment later:
 * after the first crash it runs again, without the server.
 */
export async function* runGlimpse(
  query: readonly string[],
  path: string,
  options: CandidateOptions,
  programs: GlimpsePrograms,
): AsyncGenerator<readonly Candidate[]> {
  const crashed = yield* attempt(query, path, options, programs, true);
  if (crashed) yield* attempt(query, path, options, { ...programs, server: undefined }, false);
}

/** @returns whether glimpse crashed, if it `mayCrash`; else a crash is an error */
async function* attempt(
  query: readonly string[],
  path: string,
  options: CandidateOptions,
  { server, glimpse, graceMs }: GlimpsePrograms,
  mayCrash: boolean,
): AsyncGenerator<readonly Candidate[], boolean> {
  const viaServer = server?.tryAcquire(path) === true;
  const target = viaServer && server !== undefined ? server.arguments : ['-H', path];
  let isIdle = true;
  let crashed = false;
  try {
    const program = await Program.start(glimpse, {
      arguments: ['-l', '-y', ...target, ...query],
      cpuSeconds: options.lifetimeMs / 1000,
      graceMs,
    });
    isIdle = false;
    const read = (lines: readonly string[]) =>
      lines.map(oidOfFile).flatMap((oid) => (oid === undefined ? [] : [{ oid }]));
    const check = (end: ProgramEnd): void => {
      isIdle = true;
      crashed = mayCrash && end.signal !== null;
      if (crashed) return;
      for (const sentence of warningsOf(program.errorOutput)) options.warnings.add(sentence);
      // 1 means that there are no matches. The Broker makes an index again that cannot be used.
      if (end.code !== 0 && end.code !== 1)
        throw new StorageError(`cannot use the index: ${failureOf(program, 'glimpse', statusOf(end), '')}`);
    };
    isIdle = yield* queryProgram(program, { read, check }, options);
    return crashed;
  } finally {
    if (viaServer) {
      if (isIdle) server?.release();
      else server?.releaseKilled();
    }
  }
}

/** BRK-4.19: returns the messages for the user; the rest of the standard error of glimpse is dropped. */
function warningsOf(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('glimpse:'))
    .map((line) => line.slice('glimpse:'.length).trim())
    .filter((line) => line !== '');
}
