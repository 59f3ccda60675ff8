// Lines that most pages of a host have: menus, headers and footers that their markup does not name.

/** Other objects that are looked at, and at least needed: a small site must not lose its text. */
export const OTHERS = 8;
const MIN_OTHERS = 5;
/** The share of them that have a line. */
const MIN_SHARE = 0.75;
/** Directories of the results of one page that are looked at; the others show all lines. */
const MAX_DIRECTORIES = 6;

/**
 * Reads the lines of up to {@link OTHERS} objects that are stored beside a URL: their URLs have its first
 * `length` characters.
 */
export type ReadBeside = (url: string, length: number) => Promise<readonly (readonly string[])[]>;

/** Tells the lines that the pages of one directory of a host repeat, for the results of one query. */
export class RepeatedLines {
  readonly #read: ReadBeside;
  readonly #directories = new Map<string, Promise<ReadonlySet<string>>>();

  constructor(read: ReadBeside) {
    this.#read = read;
  }

  /** The lines that most of the objects beside a URL have, those of its directory before others of its host. */
  async of(url: string): Promise<ReadonlySet<string>> {
    const directory = url.slice(0, endOfDirectory(url));
    let repeated = this.#directories.get(directory);
    if (repeated === undefined) {
      if (this.#directories.size >= MAX_DIRECTORIES) return new Set();
      repeated = this.#find(url, directory.length);
      this.#directories.set(directory, repeated);
    }
    return repeated;
  }

  async #find(url: string, directory: number): Promise<ReadonlySet<string>> {
    let others = await this.#read(url, directory);
    if (others.length < MIN_OTHERS) others = await this.#read(url, endOfHost(url));
    if (others.length < MIN_OTHERS) return new Set();
    const counts = new Map<string, number>();
    for (const lines of others)
      for (const line of new Set(lines)) counts.set(line, (counts.get(line) ?? 0) + 1);
    const repeated = new Set<string>();
    for (const [line, count] of counts) if (count >= MIN_SHARE * others.length) repeated.add(line);
    return repeated;
  }
}

/** The length of a URL up to its last slash before a query, which is part of the host if it has no path. */
function endOfDirectory(url: string): number {
  const host = endOfHost(url);
  const query = url.slice(host).search(/[?#]/);
  const path = query < 0 ? url : url.slice(0, host + query);
  return Math.max(host, path.lastIndexOf('/') + 1);
}

/** The length of a URL up to the slash after its host. */
function endOfHost(url: string): number {
  const host = url.indexOf('//');
  const slash = host < 0 ? url.indexOf(':') : url.indexOf('/', host + 2);
  return slash < 0 ? url.length : slash + 1;
}
