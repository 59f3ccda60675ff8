import type { Entry, ZipFile } from 'yauzl';
import type { RangedBytes } from './open-archive.js';

/** Maximum number of entries of an archive's directory that are read. */
const MAX_ENTRIES = 20_000;
/** Maximum size of one member, in unpacked bytes (E-45). */
const MAX_MEMBER_BYTES = 64 * 1024 * 1024;
/** Maximum size of all members that are read of one document, in unpacked bytes (E-45). */
const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;
/** Maximum unpacked bytes per packed byte (E-45). */
const MAX_RATIO = 200;

/** The members of an office document or book, which is a zip archive. */
export class ZipMembers {
  readonly #file: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #maxMemberBytes: number;
  #remaining: number;
  /** Whether all of the directory was read. */
  readonly isComplete: boolean;

  private constructor(
    file: ZipFile,
    entries: ReadonlyMap<string, Entry>,
    maxBytes: number,
    maxMemberBytes: number,
    isComplete: boolean,
  ) {
    this.#file = file;
    this.#entries = entries;
    this.#remaining = maxBytes;
    this.#maxMemberBytes = maxMemberBytes;
    this.isComplete = isComplete;
  }

  /**
   * Reads the directory.
   *
   * @param body in memory, or read where it is needed
   * @param maxBytes of all members that are read, unpacked
   * @param maxMemberBytes of one of them
   * @throws Error if the bytes are not a zip archive
   */
  static async open(
    body: Uint8Array | RangedBytes,
    maxBytes = MAX_DOCUMENT_BYTES,
    maxMemberBytes = MAX_MEMBER_BYTES,
  ): Promise<ZipMembers> {
    // Only documents in archives pay for the library.
    const { openArchive } = await import('./open-archive.js');
    const file = await openArchive(body);
    const entries = new Map<string, Entry>();
    let count = 0;
    await new Promise<void>((resolve, reject) => {
      file.on('entry', (entry: Entry) => {
        entries.set(entry.fileName, entry);
        if (++count < MAX_ENTRIES) file.readEntry();
        else resolve();
      });
      file.once('end', resolve).once('error', reject);
      file.readEntry();
    });
    return new ZipMembers(file, entries, maxBytes, maxMemberBytes, count < MAX_ENTRIES);
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** Returns the names of matching members in natural order: `slide2` before `slide10`. */
  names(pattern: RegExp): string[] {
    return [...this.#entries.keys()]
      .filter((name) => pattern.test(name))
      .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  }

  /**
   * Passes a member's text to `write` in chunks, until it returns false; does nothing if the member is missing.
   *
   * @throws Error if it is damaged, or too large by itself or together with those before it (E-45)
   */
  async read(name: string, write: (text: string) => boolean): Promise<void> {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    if (
      entry.uncompressedSize > this.#maxMemberBytes ||
      entry.uncompressedSize > (entry.compressedSize + 1024) * MAX_RATIO
    ) {
      throw new Error(`${name} unpacks to ${entry.uncompressedSize} bytes, which is too much (E-45)`);
    }
    const decoder = new TextDecoder();
    for await (const chunk of await this.#file.openReadStreamPromise(entry)) {
      this.#remaining -= chunk.length;
      if (this.#remaining < 0) throw new Error(`up to ${name} the document unpacks to too much (E-45)`);
      if (!write(decoder.decode(chunk, { stream: true }))) return;
    }
    write(decoder.decode());
  }

  close(): void {
    this.#file.close();
  }
}
