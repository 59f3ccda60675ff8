import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';

/** Maximum number of entries of an archive's directory that are read. */
const MAX_ENTRIES = 20_000;
/** Maximum size of one member, in unpacked bytes (E-45). */
const MAX_MEMBER_BYTES = 64 * 1024 * 1024;
/** Maximum unpacked bytes per packed byte (E-45). */
const MAX_RATIO = 200;

/** The members of an office document, which is a zip archive. */
export class ZipMembers {
  readonly #file: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;

  private constructor(file: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#file = file;
    this.#entries = entries;
  }

  /** Reads the directory. @throws Error if the bytes are not a zip archive */
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

  /** Returns the names of matching members in natural order: `slide2` before `slide10`. */
  names(pattern: RegExp): string[] {
    return [...this.#entries.keys()]
      .filter((name) => pattern.test(name))
      .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  }

  /** Passes a member's text to `write` in chunks; does nothing if the member is missing. @throws Error if it is damaged or too large */
  async read(name: string, write: (text: string) => void): Promise<void> {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    if (
      entry.uncompressedSize > MAX_MEMBER_BYTES ||
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
