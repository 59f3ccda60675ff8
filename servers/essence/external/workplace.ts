import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Characters of a document's name that its file keeps. */
const MAX_NAME = 100;

/**
 * A private directory for one run of a program, and in it the document as a file. Names of the network become file names
 * only cleaned: letters, digits, `.`, `_`, `-`, not beginning with `.` or `-`, so that a program takes them for no option.
 */
export class Workplace implements AsyncDisposable {
  private constructor(readonly directory: string) {}

  static async open(): Promise<Workplace> {
    return new Workplace(await mkdtemp(join(tmpdir(), 'essence-')));
  }

  /** Writes a file and returns its absolute path. */
  async write(name: string, body: Uint8Array | string): Promise<string> {
    const file = join(this.directory, safeName(name));
    await writeFile(file, body, { mode: 0o600 });
    return file;
  }

  async close(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** The name of a document as a file's name that means nothing to anybody; its suffix stays. */
export function safeName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9._-]+/g, '_').slice(-MAX_NAME);
  return /^[A-Za-z0-9_]/.test(plain) ? plain : `document${plain}`;
}
