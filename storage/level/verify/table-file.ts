// Reads and verifies LevelDB's table files. LevelDB has checksums in them, but classic-level cannot ask it to
// compare them.
import { messageOf, StorageError } from '../../../protocols/errors.js';
import { crc32c, maskCrc } from './crc32c.js';
import { u32, WireReader } from './wire.js';

const FOOTER_BYTES = 48;
const MAGIC = Uint8Array.of(0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb);
/** Type of compression, and the checksum. */
const TRAILER_BYTES = 5;

interface Handle {
  readonly offset: number;
  readonly size: number;
}

/** A row of a table: its key, with the sequence number of its write; without `value` it is a deletion. */
export interface TableRow {
  readonly key: Uint8Array;
  readonly sequence: bigint;
  readonly value: Uint8Array | undefined;
}

/** Compares every block of a table with its checksum. Returns sentences about damage, each once. */
export function verifyTable(bytes: Uint8Array): string[] {
  const problems: string[] = [];
  for (const handle of handlesOf(bytes, problems)) {
    if (!isSound(bytes, handle))
      problems.push(`the block at offset ${handle.offset} does not match its checksum`);
  }
  return problems;
}

/** Yields the rows of the blocks that match their checksums. */
export function* readTable(bytes: Uint8Array): Generator<TableRow, void, undefined> {
  const footer = footerOf(bytes);
  if (footer === undefined) return;
  for (const handle of dataHandles(bytes, footer.index) ?? []) {
    if (!isSound(bytes, handle)) continue;
    for (const [key, value] of entriesOf(blockOf(bytes, handle))) yield tableRow(key, value);
  }
}

/** All blocks that the table names. */
function handlesOf(bytes: Uint8Array, problems: string[]): Handle[] {
  const footer = footerOf(bytes);
  if (footer === undefined) {
    problems.push('its end is damaged');
    return [];
  }
  const handles: Handle[] = [];
  for (const [what, handle] of [
    ['list of filters', footer.meta],
    ['list of blocks', footer.index],
  ] as const) {
    const listed = dataHandles(bytes, handle);
    if (listed === undefined) problems.push(`its ${what} at offset ${handle.offset} is damaged`);
    else for (const block of listed) handles.push(block);
  }
  return handles;
}

function footerOf(bytes: Uint8Array): { readonly meta: Handle; readonly index: Handle } | undefined {
  const start = bytes.length - FOOTER_BYTES;
  if (start < 0 || MAGIC.some((byte, i) => bytes[bytes.length - MAGIC.length + i] !== byte)) return undefined;
  try {
    const reader = new WireReader(bytes, start);
    return { meta: handleOf(reader), index: handleOf(reader) };
  } catch (error) {
    if (error instanceof StorageError) return undefined;
    throw error;
  }
}

/** The blocks that a block of handles lists; undefined if that block is damaged. */
function dataHandles(bytes: Uint8Array, handle: Handle): Handle[] | undefined {
  if (!isSound(bytes, handle)) return undefined;
  try {
    return Array.from(entriesOf(blockOf(bytes, handle)), ([, value]) => handleOf(new WireReader(value)));
  } catch (error) {
    if (error instanceof StorageError) return undefined;
    throw error;
  }
}

function handleOf(reader: WireReader): Handle {
  return { offset: reader.varint(), size: reader.varint() };
}

function isSound(bytes: Uint8Array, { offset, size }: Handle): boolean {
  const end = offset + size;
  if (end + TRAILER_BYTES > bytes.length) return false;
  return maskCrc(crc32c(bytes, offset, end + 1)) === u32(bytes, end + 1);
}

function blockOf(bytes: Uint8Array, { offset, size }: Handle): Uint8Array {
  const content = bytes.subarray(offset, offset + size);
  return bytes[offset + size] === 1 ? decompressSnappy(content) : content;
}

/** Yields the entries of a block, whose keys share prefixes with the key before. */
function* entriesOf(block: Uint8Array): Generator<readonly [Uint8Array, Uint8Array], void, undefined> {
  const restarts = block.length < 4 ? 0 : u32(block, block.length - 4);
  const end = block.length - 4 - 4 * restarts;
  if (end < 0) throw new StorageError('a block is shorter than its list of restarts');
  const reader = new WireReader(block, 0, end);
  let key = new Uint8Array(0);
  while (!reader.done) {
    const shared = reader.varint();
    const added = reader.varint();
    const length = reader.varint();
    if (shared > key.length) throw new StorageError('a key shares more than the key before it has');
    const next = new Uint8Array(shared + added);
    next.set(key.subarray(0, shared));
    next.set(reader.take(added), shared);
    key = next;
    yield [key, reader.take(length)];
  }
}

/** Splits LevelDB's internal key: the last eight bytes are type and sequence number. */
function tableRow(key: Uint8Array, value: Uint8Array): TableRow {
  const split = key.length - 8;
  if (split < 0) throw new StorageError('a key is too short');
  const tag = new DataView(key.buffer, key.byteOffset + split, 8).getBigUint64(0, true);
  return {
    key: key.subarray(0, split),
    sequence: tag >> 8n,
    value: (tag & 0xffn) === 1n ? value : undefined,
  };
}

/** Yields the rows of a record of the write-ahead log. @throws StorageError if the record is not a batch */
export function* readBatch(record: Uint8Array): Generator<TableRow, void, undefined> {
  if (record.length < 12) throw new StorageError('a batch is too short');
  let sequence = new DataView(record.buffer, record.byteOffset, 8).getBigUint64(0, true);
  try {
    for (const reader = new WireReader(record, 12); !reader.done; sequence++) {
      const isPut = reader.byte() === 1;
      const key = reader.prefixed();
      yield { key, sequence, value: isPut ? reader.prefixed() : undefined };
    }
  } catch (error) {
    throw new StorageError(`a batch is damaged: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Largest block that is decompressed. LevelDB cuts its blocks at 4 KiB, so that only a large row makes a larger
 * one.
 */
const MAX_BYTES = 1 << 30;

/** Bytes that a byte can stand for: an element of three bytes copies at most 64. */
const MAX_RATIO = 22;

/** @throws StorageError if the bytes are not Snappy */
export function decompressSnappy(bytes: Uint8Array): Uint8Array {
  const input = new WireReader(bytes);
  const length = input.varint();
  // A damaged length must not take memory that no content can fill.
  if (length > Math.min(MAX_BYTES, bytes.length * MAX_RATIO))
    throw new StorageError(`a block claims ${length} bytes`);
  const output = new Uint8Array(length);
  let at = 0;
  while (!input.done) {
    const tag = input.byte();
    const kind = tag & 3;
    if (kind === 0) {
      const literal = input.take(literalLength(tag >> 2, input));
      if (literal.length > length - at) throw new StorageError('a block is longer than it claims');
      output.set(literal, at);
      at += literal.length;
      continue;
    }
    const count = kind === 1 ? 4 + ((tag >> 2) & 7) : 1 + (tag >> 2);
    const offset = kind === 1 ? ((tag >> 5) << 8) | input.byte() : littleEndian(input, kind === 2 ? 2 : 4);
    if (offset === 0 || offset > at || count > length - at)
      throw new StorageError('a block refers to bytes that it does not have');
    // Byte by byte: the ranges may overlap, which repeats them.
    for (let i = 0; i < count; i++, at++) output[at] = output[at - offset]!;
  }
  if (at !== length) throw new StorageError('a block is shorter than it claims');
  return output;
}

function literalLength(code: number, input: WireReader): number {
  return 1 + (code < 60 ? code : littleEndian(input, code - 59));
}

function littleEndian(input: WireReader, bytes: number): number {
  let value = 0;
  for (let i = 0, scale = 1; i < bytes; i++, scale *= 256) value += input.byte() * scale;
  return value;
}
