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
