import { stat } from 'node:fs/promises';
import { readInput, STANDARD_INPUT } from '../../../clients/soif-tools/input.js';
import { Progress } from '../output/progress.js';

/** Files from this size are read with a progress bar. */
const MIN_BAR_BYTES = 16 * 1024 * 1024;

/** Returns the files of a command line; without any, standard input. */
export function filesOf(names: readonly string[]): readonly string[] {
  return names.length === 0 ? [STANDARD_INPUT] : names;
}

/**
 * Yields the bytes of one file of a command line, decompressed if it is gzip. A bar on standard error shows the
 * progress of a long file, if standard error is a terminal and standard output is not.
 */
export async function* openFile(path: string): AsyncGenerator<Uint8Array, void, undefined> {
  const size = path === STANDARD_INPUT ? 0 : await sizeOf(path);
  if (size < MIN_BAR_BYTES || !process.stderr.isTTY || process.stdout.isTTY) {
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

/** Returns the size of a file in bytes; 0 if it is unknown. Reading the file reports any error. */
async function sizeOf(path: string): Promise<number> {
  const stats = await stat(path).catch(() => undefined);
  return stats?.size ?? 0;
}
