import { untilNul, viewOf } from '../../bytes.js';
import { present } from '../extracted.js';
import { codePage, decodePage } from '../rtf/code-pages.js';

/** Sector numbers from this one are special: end of chain, unused. */
const FIRST_SPECIAL = 0xfffffffa;

interface Stream {
  readonly start: number;
  readonly size: number;
  readonly small: boolean;
}

/** Reads the streams of an OLE compound file, the container of Word, Excel and others before 2007. */
export class CompoundFile {
  readonly #view: DataView;
  readonly #bytes: Uint8Array;
  readonly #sector: number;
  readonly #table: number[] = [];
  readonly #smallTable: number[] = [];
  readonly #small: Uint8Array;
  readonly #streams = new Map<string, Stream>();

  /** @throws Error if the bytes are not a compound file */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
    if (bytes.length < 512 || this.#view.getUint32(0) !== 0xd0cf11e0)
      throw new Error('not an OLE compound file');
    const shift = this.#u16(30);
    if (shift !== 9 && shift !== 12) throw new Error('sectors of an impossible size');
    this.#sector = 1 << shift;
    this.#readTable();
    const directory = this.#chain(this.#u32(48), this.#table, bytes.length);
    const view = viewOf(directory);
    let root: Stream = { start: FIRST_SPECIAL, size: 0, small: false };
    for (let offset = 0; offset + 128 <= directory.length; offset += 128) {
      const length = Math.min(64, view.getUint16(offset + 64, true));
      if (length < 2) continue;
      const name = new TextDecoder('utf-16le').decode(directory.subarray(offset, offset + length - 2));
      const size = view.getUint32(offset + 120, true);
      const stream = { start: view.getUint32(offset + 116, true), size, small: size < this.#u32(56) };
      if (view.getUint8(offset + 66) === 5) root = stream;
      else if (view.getUint8(offset + 66) === 2 && !this.#streams.has(name)) this.#streams.set(name, stream);
    }
    this.#small = this.#chain(root.start, this.#table, root.size);
    const small = this.#chain(this.#u32(60), this.#table, bytes.length);
    const smallView = viewOf(small);
    for (let offset = 0; offset + 4 <= small.length; offset += 4)
      this.#smallTable.push(smallView.getUint32(offset, true));
  }

  /** Returns the first stream with one of these names. */
  stream(...names: string[]): Uint8Array | undefined {
    const stream = names.map((name) => this.#streams.get(name)).find((found) => found !== undefined);
    if (stream === undefined) return undefined;
    if (!stream.small) return this.#chain(stream.start, this.#table, stream.size);
    return joined(stream.start, this.#smallTable, Math.min(stream.size, this.#small.length), (sector) =>
      this.#small.subarray(sector * 64, sector * 64 + 64),
    );
  }

  /** Reads the sector table. Its sectors are listed in the header and in a chain of sectors after it. */
  #readTable(): void {
    const tableSectors: number[] = [];
    for (let i = 0; i < 109; i++) tableSectors.push(this.#u32(76 + 4 * i));
    const perSector = this.#sector / 4;
    const maxSectors = this.#bytes.length / this.#sector + 1;
    let next = this.#u32(68);
    for (let i = 0; next < FIRST_SPECIAL && i < maxSectors; i++) {
      const offset = (next + 1) * this.#sector;
      for (let k = 0; k < perSector - 1; k++) tableSectors.push(this.#u32(offset + 4 * k));
      next = this.#u32(offset + 4 * (perSector - 1));
    }
    for (const sector of tableSectors.slice(0, maxSectors)) {
      if (sector >= FIRST_SPECIAL) continue;
      const offset = (sector + 1) * this.#sector;
      for (let k = 0; k < perSector; k++) this.#table.push(this.#u32(offset + 4 * k));
    }
  }

  /** The sectors of a chain; a circular chain ends at the file's length. */
  #chain(start: number, table: readonly number[], size: number): Uint8Array {
    return joined(start, table, Math.min(size, this.#bytes.length), (sector) => {
      const offset = (sector + 1) * this.#sector;
      return this.#bytes.subarray(offset, offset + this.#sector);
    });
  }

  #u16(offset: number): number {
    return this.#view.getUint16(offset, true);
  }

  #u32(offset: number): number {
    return offset + 4 <= this.#bytes.length ? this.#view.getUint32(offset, true) : FIRST_SPECIAL;
  }
}

/** Joins the sectors of a chain, up to `limit` bytes. */
function joined(
  start: number,
  table: readonly number[],
  limit: number,
  sectorAt: (sector: number) => Uint8Array,
): Uint8Array {
  const out = new Uint8Array(limit);
  let filled = 0;
  for (let sector = start; sector < FIRST_SPECIAL && filled < limit; ) {
    const part = sectorAt(sector).subarray(0, limit - filled);
    if (part.length === 0) break;
    out.set(part, filled);
    filled += part.length;
    sector = table[sector] ?? FIRST_SPECIAL;
  }
  return out.subarray(0, filled);
}

// Writes streams into a new OLE compound file, for a library that reads nothing else. A stranger's tables of
// sectors never reach the library: it follows circular chains, and reserves memory for every claimed sector.

const SECTOR = 4096;
const ENTRY = 128;
const TABLE_ENTRIES = SECTOR / 4;
/** Sectors of the table whose numbers the header holds. */
const MAX_TABLE_SECTORS = 109;
const TABLE_SECTOR = 0xfffffffd;
const END_OF_CHAIN = 0xfffffffe;
const UNUSED = 0xffffffff;
const STREAM = 2;
const ROOT = 5;

/**
 * Returns a compound file of sectors of 4096 bytes, without small sectors: the table of sectors, the directory
 * (at most 31 streams), and the streams one after another.
 *
 * @param streams contents by name; a name has at most 31 characters
 * @throws RangeError when the streams have more than 456 MB
 */
export function writeCompoundFile(streams: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const sizes = [...streams.values()].map((bytes) => Math.ceil(bytes.length / SECTOR));
  const contents = sizes.reduce((sum, size) => sum + size, 1);
  const tables = Math.ceil(contents / (TABLE_ENTRIES - 1));
  if (tables > MAX_TABLE_SECTORS) throw new RangeError('the streams are too large for one compound file');
  const file = new Uint8Array((1 + tables + contents) * SECTOR);
  const view = new DataView(file.buffer);

  view.setUint32(0, 0xd0cf11e0);
  view.setUint32(4, 0xa1b11ae1);
  const words = [0x3e, 4, 0xfffe, Math.log2(SECTOR), 6];
  words.forEach((word, i) => {
    view.setUint16(24 + 2 * i, word, true);
  });
  view.setUint32(40, 1, true);
  view.setUint32(44, tables, true);
  view.setUint32(48, tables, true);
  view.setUint32(60, END_OF_CHAIN, true);
  view.setUint32(68, END_OF_CHAIN, true);
  for (let i = 0; i < MAX_TABLE_SECTORS; i++) view.setUint32(76 + 4 * i, i < tables ? i : UNUSED, true);

  const setNext = (sector: number, next: number): void => view.setUint32(SECTOR + 4 * sector, next, true);
  for (let i = 0; i < tables * TABLE_ENTRIES; i++) setNext(i, i < tables ? TABLE_SECTOR : UNUSED);
  setNext(tables, END_OF_CHAIN);

  const directory = (1 + tables) * SECTOR;
  const writeEntry = (index: number, name: string, kind: number, start: number, size: number): void => {
    const at = directory + index * ENTRY;
    for (let i = 0; i < name.length; i++) view.setUint16(at + 2 * i, name.charCodeAt(i), true);
    view.setUint16(at + 64, 2 * name.length + 2, true);
    view.setUint8(at + 66, kind);
    view.setUint8(at + 67, 1);
    for (const offset of [68, 72, 76]) view.setUint32(at + offset, UNUSED, true);
    view.setUint32(at + 116, start, true);
    view.setUint32(at + 120, size, true);
  };
  writeEntry(0, 'Root Entry', ROOT, END_OF_CHAIN, 0);
  view.setUint32(directory + 76, streams.size > 0 ? 1 : UNUSED, true);

  let sector = tables + 1;
  let index = 0;
  for (const [name, bytes] of streams) {
    const count = sizes[index++] ?? 0;
    writeEntry(index, name, STREAM, count === 0 ? END_OF_CHAIN : sector, bytes.length);
    if (index < streams.size) view.setUint32(directory + index * ENTRY + 72, index + 1, true);
    file.set(bytes, (1 + sector) * SECTOR);
    for (let i = 1; i <= count; i++) setNext(sector++, i === count ? END_OF_CHAIN : sector);
  }
  return file;
}

/** IDs of properties in the summary information, and their attributes. */
const PROPERTIES: ReadonlyMap<number, string> = new Map([
  [2, 'Title'],
  [3, 'Subject'],
  [4, 'Author'],
  [5, 'Keywords'],
  [6, 'Abstract'],
]);

/**
 * Reads title, author and other properties of a document's summary information. @throws RangeError if it is
 * damaged
 */
export function propertiesOf(file: CompoundFile): (readonly [string, string])[] {
  const bytes = file.stream('\u0005SummaryInformation');
  if (bytes === undefined || bytes.length < 48) return [];
  const view = viewOf(bytes);
  const section = view.getUint32(44, true);
  const count = Math.min(100, view.getUint32(section + 4, true));
  const values: [string, string][] = [];
  let page = 1252;
  for (let i = 0; i < count; i++) {
    const id = view.getUint32(section + 8 + 8 * i, true);
    const offset = section + view.getUint32(section + 12 + 8 * i, true);
    const type = view.getUint32(offset, true);
    if (id === 1 && type === 2) page = view.getUint16(offset + 4, true);
    const name = PROPERTIES.get(id);
    if (name === undefined || (type !== 30 && type !== 31)) continue;
    const length = Math.min(10_000, view.getUint32(offset + 4, true)) * (type === 31 ? 2 : 1);
    const label = type === 31 ? 'utf-16le' : codePage(page);
    values.push([name, untilNul(decodePage(bytes.subarray(offset + 8, offset + 8 + length), label)).trim()]);
  }
  return present(values);
}
