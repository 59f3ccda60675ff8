import { stat } from 'node:fs/promises';
import { readInput, STANDARD_INPUT } from '../../../clients/soif-tools/input.js';
import { Progress } from '../progress.js';

/** Smaller files are read without a bar. */
const SHOWN_FROM_BYTES = 16 * 1024 * 1024;

/** The files of a command line; no file means standard input. */
export function filesOf(names: readonly string[]): readonly string[] {
  return names.length === 0 ? [STANDARD_INPUT] : names;
}

/**
 * The bytes of one file of a command line, decompressed if it is gzip. A bar on standard error shows the progress of a long
 * file, if standard error is a terminal and standard output is not.
 */
export async function* openFile(path: string): AsyncGenerator<Uint8Array, void, undefined> {
  const size = path === STANDARD_INPUT ? 0 : await sizeOf(path);
  if (size < SHOWN_FROM_BYTES || !process.stderr.isTTY || process.stdout.isTTY) {
    yield* readInput(path);
    return;
  }
  using progress = new Progress({ format: `{bar} {percentage} %  ${path}` });
  let done = 0;
  yield* readInput(path, {
    onRead: (bytes) => {
      done += bytes;
      progress.update(done, size);
    },
  });
}

/** 0 if it is unknown; reading the file reports any error. */
async function sizeOf(path: string): Promise<number> {
  const stats = await stat(path).catch(() => undefined);
  return stats?.size ?? 0;
}
