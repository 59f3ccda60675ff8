import { stat } from 'node:fs/promises';
import { readInput, STANDARD_INPUT } from '../../../clients/soif-tools/input.js';
import { Progress } from '../progress.js';

/** Files that take no time need no bar. */
const SHOWN_FROM_BYTES = 16 * 1024 * 1024;

/** The files of a command line; none at all means standard input. */
export function filesOf(names: readonly string[]): readonly string[] {
  return names.length === 0 ? [STANDARD_INPUT] : names;
}

/**
 * The bytes of one file of a command line, gunzipped when it is gzip. While a long file is read, a bar on standard
 * error shows how far it is, if that is a terminal and standard output another place.
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

/** 0 when it is not known; whether the file can be read, the reading will tell. */
async function sizeOf(path: string): Promise<number> {
  const stats = await stat(path).catch(() => undefined);
  return stats?.size ?? 0;
}
