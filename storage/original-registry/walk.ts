import { ProtocolError } from '../../protocols/errors.js';
import {
  decodeRecordData,
  isRegistryVersion,
  type RawRecord,
  READINGS,
  type RegistryCounts,
  type RegistryDamage,
  RegistryDecoder,
  type RegistryDecoderOptions,
  type RegistryHeader,
  type RegistryItem,
  type RegistryReading,
  type RegistryRecord,
} from '../../protocols/registry/index.js';
import type { RandomFile } from './random-file.js';

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
  for (let at = options.start ?? 0; at < end; ) {
    options.signal?.throwIfAborted();
    // Allocates a new block each time, because records are views of it.
    const block = new Uint8Array(Math.min(CHUNK_BYTES, end - at));
    const length = await file.read(block, at);
    if (length === 0) break;
    at += length;
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
    return decodeRecordData(raw.data, version, raw.offset + RECORD_HEAD);
  } catch (error) {
    if (error instanceof ProtocolError) return error;
    throw error;
  }
}

const RECORD_HEAD = 12;

/** Result of a walk over a whole file under one reading. */
export interface Survey {
  readonly reading: RegistryReading;
  readonly header: RegistryHeader | undefined;
  /** Counted, independent of the header (REG-10). */
  readonly counts: RegistryCounts;
  /** Records that are invalid because of their data (REG-21), and the first of them. */
  readonly short: ProtocolError | undefined;
  /** The highest OID of any readable record (REG-35); 0 if there is none. */
  readonly highestOid: number;
  readonly damage: RegistryDamage | undefined;
  /** The offset after the last whole record. */
  readonly end: number;
}

/** Walks the whole file under `options.reading`. */
export async function surveyFile(file: RandomFile, options: WalkOptions): Promise<Survey> {
  const counts = { records: 0, deleted: 0, valid: 0 };
  let header: RegistryHeader | undefined;
  let short: ProtocolError | undefined;
  let damage: RegistryDamage | undefined;
  let highestOid = 0;
  for await (const items of walkFile(file, options)) {
    for (const item of items) {
      if (item.kind === 'header') {
        header = item;
      } else if (item.kind === 'damage') {
        damage = item;
      } else {
        count(counts, item.state);
        const record = readRecord(item, header?.version ?? 0);
        if (record instanceof ProtocolError) short ??= record;
        else highestOid = Math.max(highestOid, record?.oid ?? 0);
      }
    }
  }
  const end = damage?.offset ?? (await file.size());
  return { reading: options.reading ?? 'a', header, counts, short, highestOid, damage, end };
}

/** Adds a record to counts (REG-6, REG-14). */
export function count(
  counts: { records: number; deleted: number; valid: number },
  state: RawRecord['state'],
): void {
  counts.records++;
  if (state !== 'unknown') counts[state]++;
}

/**
 * REG-13: detects how the size fields are to be read. The rule's test (every magic number right, the last record ends with the
 * file) alone would mistake a file of reading (a) whose last record lacks 12 bytes for a whole file of reading (b). So the records
 * must also be long enough for their fields, and a file that is only cut off at its end (REG-29) is preferred to one that is
 * damaged elsewhere. If no reading fits, the one with the most records before the damage is used.
 */
export async function detectReading(file: RandomFile, options: WalkOptions): Promise<Survey> {
  let best: Survey | undefined;
  for (const reading of READINGS) {
    const survey = await surveyFile(file, { ...options, reading });
    if (best === undefined || isBetter(survey, best)) best = survey;
    // Without a header there is nothing to compare; a perfect score cannot be improved.
    if (survey.header === undefined || mark(survey) === 0) break;
  }
  return best!;
}

function isBetter(a: Survey, b: Survey): boolean {
  if (mark(a) !== mark(b)) return mark(a) < mark(b);
  return a.counts.records > b.counts.records;
}

function mark({ damage, short }: Survey): number {
  if (damage === undefined) return short === undefined ? 0 : 2;
  return damage.cut && short === undefined ? 1 : 3;
}
