import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDirectory } from '../../../storage/files/make-directory.js';
import type { ProgramSettings } from './limits.js';

/** Maximum number of characters of a document's name that are kept. */
const MAX_NAME = 100;

/**
 * A private directory with the document's file for one run of a program. File names consist of letters, digits,
 * `.`, `_` and `-`, and do not begin with `.` or `-`, so that a program does not take them for options.
 */
export class ScratchDirectory implements AsyncDisposable {
  readonly #isKept: boolean;

  private constructor(
    readonly directory: string,
    isKept: boolean,
  ) {
    this.#isKept = isKept;
  }

  /** Creates it as the settings of the program say. */
  static async open({
    temporaryDirectory = tmpdir(),
    keepFiles = false,
  }: Pick<ProgramSettings, 'temporaryDirectory' | 'keepFiles'> = {}): Promise<ScratchDirectory> {
    // A directory that cannot be written must not stop the work.
    const directory = await createDirectory(temporaryDirectory)
      .then(() => mkdtemp(join(temporaryDirectory, 'essence-')))
      .catch(() => mkdtemp(join(tmpdir(), 'essence-')));
    return new ScratchDirectory(directory, keepFiles);
  }

  /** Writes a file and returns its absolute path. */
  async write(name: string, body: Uint8Array | string): Promise<string> {
    const file = join(this.directory, safeName(name));
    await writeFile(file, body, { mode: 0o600 });
    return file;
  }

  async close(): Promise<void> {
    if (!this.#isKept) await rm(this.directory, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Converts the name of a document to a harmless file name with the same suffix. */
export function safeName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9._-]+/g, '_').slice(-MAX_NAME);
  return /^[A-Za-z0-9_]/.test(plain) ? plain : `document${plain}`;
}
