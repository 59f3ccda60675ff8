// Walks a Registry file and detects how its size fields are to be read (REG-13).
import { ProtocolError } from '../../protocols/errors.js';
import {
  dataBytesOf,
  decodeRecordData,
  decodeRecordHeader,
  isRegistryVersion,
  type RawRecord,
  READINGS,
  RECORD_HEADER_BYTES,
  type RegistryCounts,
  type RegistryDamage,
  RegistryDecoder,
  type RegistryDecoderOptions,
  type RegistryFormat,
  type RegistryHeader,
  type RegistryItem,
  type RegistryReading,
  type RegistryRecord,
} from '../../protocols/registry/index.js';
import type { RandomFile } from './random-access-file.js';

const CHUNK_BYTES = 256 * 1024;

export interface WalkOptions extends RegistryDecoderOptions {
  readonly signal?: AbortSignal | undefined;
  /** Offset at which to stop. Default: the end of the file. */
  readonly end?: number;
}

/** Reads a file from `start` in blocks of 256 KiB (REG-16); a block grows to hold a longer record. */
export async function* walkFile(
  file: RandomFile,
  options: WalkOptions,
): AsyncGenerator<RegistryItem[], void, undefined> {
  const decoder = new RegistryDecoder(options);
  const end = options.end ?? (await file.size());
  for (let offset = options.start ?? 0; offset < end; ) {
    options.signal?.throwIfAborted();
    // Allocates a new block each time, because records are views of it.
    const block = new Uint8Array(Math.min(CHUNK_BYTES, end - offset));
    const length = await file.read(block, offset);
    if (length === 0) break;
    offset += length;
    const items = decoder.push(block.subarray(0, length));
    yield items;
    if (items.at(-1)?.kind === 'damage') return;
  }
  yield decoder.end();
}

/** A record, or the reason why its data cannot be read (REG-21). */
export function readRecord(raw: RawRecord, version: number): RegistryRecord | ProtocolError | undefined {
  if (!isRegistryVersion(version)) return undefined;
  try {
    return decodeRecordData(raw.data, version, raw.offset + RECORD_HEADER_BYTES);
  } catch (error) {
    if (error instanceof ProtocolError) return error;
    throw error;
  }
}

/**
 * Where the first record begins that the wrong size of this one covers, because it ends where a later record
 * ends: the bytes after the numbers of the record (REG-21) then are whole records. Undefined for a record
 * without such bytes.
 */
export function coveredRecord(
  raw: RawRecord,
  version: number,
  { reading = 'a', recordMagic }: Partial<RegistryFormat>,
): number | undefined {
  const record = readRecord(raw, version);
  if (record === undefined || record instanceof ProtocolError) return undefined;
  const { rest } = record;
  if (rest.length < RECORD_HEADER_BYTES) return undefined;
  const { size, magic } = decodeRecordHeader(rest);
  const dataBytes = dataBytesOf(size, reading);
  const end = RECORD_HEADER_BYTES + dataBytes;
  if (magic !== recordMagic || dataBytes < 0 || end > rest.length) return undefined;
  const offset = raw.offset + RECORD_HEADER_BYTES + raw.data.length - rest.length;
  const covered = readRecord({ ...raw, offset, data: rest.subarray(RECORD_HEADER_BYTES, end) }, version);
  return covered instanceof ProtocolError ? undefined : offset;
}

/** The damage of a record whose size covers other records. */
export function coveringDamage({ offset }: RawRecord): RegistryDamage {
  const message = `the size of the record at ${offset} is wrong: it covers the records that follow`;
  return { kind: 'damage', rule: 'REG-11', offset, message, cut: false };
}

/** Result of a walk over a whole file under one reading. */
export interface Survey {
  readonly reading: RegistryReading;
  readonly header: RegistryHeader | undefined;
  /** Counted, independent of the header (REG-10). */
  readonly counts: RegistryCounts;
  /** The error of the first record that is too short for its fields (REG-21). */
  readonly firstShort: ProtocolError | undefined;
  /** The highest OID of any readable record (REG-35); 0 if no record is readable. */
  readonly highestOid: number;
  readonly damage: RegistryDamage | undefined;
  /**
   * Whether the damage is a size that covers other records: under no other reading would they be found there.
   */
  readonly covers: boolean;
  /** The offset after the last whole record. */
  readonly end: number;
}

/** Walks the whole file under `options.reading`. */
export async function surveyFile(file: RandomFile, options: WalkOptions): Promise<Survey> {
  const counts = { records: 0, deleted: 0, valid: 0 };
  let header: RegistryHeader | undefined;
  let firstShort: ProtocolError | undefined;
  let damage: RegistryDamage | undefined;
  let covers = false;
  let highestOid = 0;
  for await (const items of walkFile(file, options)) {
    for (const item of items) {
      if (item.kind === 'record' && coveredRecord(item, header?.version ?? 0, options) !== undefined) {
        damage = coveringDamage(item);
        covers = true;
        break;
      }
      if (item.kind === 'header') {
        header = item;
      } else if (item.kind === 'damage') {
        damage = item;
      } else {
        countRecord(counts, item.state);
        const record = readRecord(item, header?.version ?? 0);
        if (record instanceof ProtocolError) firstShort ??= record;
        else highestOid = Math.max(highestOid, record?.oid ?? 0);
      }
    }
    if (damage !== undefined) break;
  }
  const end = damage?.offset ?? (await file.size());
  return { reading: options.reading ?? 'a', header, counts, firstShort, highestOid, damage, covers, end };
}

/** Adds a record to counts (REG-6, REG-14). */
export function countRecord(
  counts: { records: number; deleted: number; valid: number },
  state: RawRecord['state'],
): void {
  counts.records++;
  if (state !== 'unknown') counts[state]++;
}

/**
 * REG-13: detects how the size fields are to be read. The rule's test (every magic number right, the last
 * record ends with the file) alone would mistake a file of reading (a) whose last record lacks 12 bytes for a
 * whole file of reading (b). So the records must also be long enough for their fields, and a file that is only
 * cut off at its end (REG-29) is preferred to one that is damaged elsewhere. If no reading fits, the one with
 * the most records before the damage is used.
 */
export async function detectReading(file: RandomFile, options: WalkOptions): Promise<Survey> {
  let best: Survey | undefined;
  for (const reading of READINGS) {
    const survey = await surveyFile(file, { ...options, reading });
    if (best === undefined || isBetter(survey, best)) best = survey;
    // Without a header there is nothing to compare, and no reading is better than one without problems.
    if (survey.header === undefined || severityOf(survey) === 0) break;
  }
  return best!;
}

function isBetter(a: Survey, b: Survey): boolean {
  if (severityOf(a) !== severityOf(b)) return severityOf(a) < severityOf(b);
  return a.counts.records > b.counts.records;
}

/** 0 for a file without problems; more for worse damage. */
function severityOf({ damage, covers, firstShort }: Survey): number {
  if (covers) return 1;
  if (damage === undefined) return firstShort === undefined ? 0 : 3;
  return damage.cut && firstShort === undefined ? 2 : 4;
}
