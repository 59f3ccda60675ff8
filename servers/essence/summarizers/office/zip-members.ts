import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';

/** Entries of the directory of one archive. */
const MAX_ENTRIES = 20_000;
/** Bytes of one member, unpacked (E-45). */
const MAX_MEMBER = 64 * 1024 * 1024;
/** Unpacked bytes a packed byte may give (E-45). */
const MAX_RATIO = 200;

/** The wanted members of an office document, which is a zip archive. */
export class ZipMembers {
  readonly #file: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;

  private constructor(file: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#file = file;
    this.#entries = entries;
  }

  /** Reads the directory. @throws Error when the bytes are no zip archive. */
  static async open(body: Uint8Array): Promise<ZipMembers> {
    const buffer = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    const file = await fromBufferPromise(buffer, { lazyEntries: true, autoClose: false });
    const entries = new Map<string, Entry>();
    await new Promise<void>((resolve, reject) => {
      file.on('entry', (entry: Entry) => {
        entries.set(entry.fileName, entry);
        if (entries.size < MAX_ENTRIES) file.readEntry();
        else resolve();
      });
      file.once('end', resolve).once('error', reject);
      file.readEntry();
    });
    return new ZipMembers(file, entries);
  }

  /** Names of the members that match, in natural order: `slide2` before `slide10`. */
  names(pattern: RegExp): string[] {
    return [...this.#entries.keys()]
      .filter((name) => pattern.test(name))
      .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  }

  /** Gives a member's text to `write` piece by piece; nothing when there is none. @throws Error when it is broken or too large. */
  async read(name: string, write: (text: string) => void): Promise<void> {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    if (
      entry.uncompressedSize > MAX_MEMBER ||
      entry.uncompressedSize > (entry.compressedSize + 1024) * MAX_RATIO
    ) {
      throw new Error(`${name} unpacks to ${entry.uncompressedSize} bytes, which is too much (E-45)`);
    }
    const decoder = new TextDecoder();
    for await (const chunk of await this.#file.openReadStreamPromise(entry)) {
      write(decoder.decode(chunk, { stream: true }));
    }
    write(decoder.decode());
  }

  close(): void {
    this.#file.close();
  }
}
