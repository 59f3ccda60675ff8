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
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes.length < 512 || this.#view.getUint32(0) !== 0xd0cf11e0)
      throw new Error('not an OLE compound file');
    const shift = this.#u16(30);
    if (shift !== 9 && shift !== 12) throw new Error('sectors of an impossible size');
    this.#sector = 1 << shift;
    this.#readTable();
    const directory = this.#chain(this.#u32(48), this.#table, bytes.length);
    const view = new DataView(directory.buffer, directory.byteOffset, directory.byteLength);
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
    const smallView = new DataView(small.buffer, small.byteOffset, small.byteLength);
    for (let offset = 0; offset + 4 <= small.length; offset += 4)
      this.#smallTable.push(smallView.getUint32(offset, true));
  }

  /** Returns the first stream with one of these names. */
  stream(...names: string[]): Uint8Array | undefined {
    const stream = names.map((name) => this.#streams.get(name)).find((found) => found !== undefined);
    if (stream === undefined) return undefined;
    if (!stream.small) return this.#chain(stream.start, this.#table, stream.size);
    const size = Math.min(stream.size, this.#small.length);
    const out = new Uint8Array(size);
    let filled = 0;
    for (
      let sector = stream.start;
      sector < FIRST_SPECIAL && filled < size;
      sector = this.#smallTable[sector] ?? FIRST_SPECIAL
    ) {
      const part = this.#small.subarray(sector * 64, sector * 64 + Math.min(64, size - filled));
      if (part.length === 0) break;
      out.set(part, filled);
      filled += part.length;
    }
    return out.subarray(0, filled);
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

  /** Concatenates the sectors of a chain; a circular chain ends at the file's length. */
  #chain(start: number, table: readonly number[], size: number): Uint8Array {
    const limit = Math.min(size, this.#bytes.length);
    const out = new Uint8Array(limit);
    let filled = 0;
    for (
      let sector = start;
      sector < FIRST_SPECIAL && filled < limit;
      sector = table[sector] ?? FIRST_SPECIAL
    ) {
      const offset = (sector + 1) * this.#sector;
      const part = this.#bytes.subarray(offset, offset + Math.min(this.#sector, limit - filled));
      if (part.length === 0) break;
      out.set(part, filled);
      filled += part.length;
    }
    return out.subarray(0, filled);
  }

  #u16(offset: number): number {
    return this.#view.getUint16(offset, true);
  }

  #u32(offset: number): number {
    return offset + 4 <= this.#bytes.length ? this.#view.getUint32(offset, true) : FIRST_SPECIAL;
  }
}
