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
  /** Where to stop, bytes from the start of the file. Default: its end. */
  readonly end?: number;
}

/** Reads a file from `start` on, in blocks of 256 KiB (REG-16); of a record that is longer it holds that record. */
export async function* walkFile(
  file: RandomFile,
  options: WalkOptions,
): AsyncGenerator<RegistryItem[], void, undefined> {
  const decoder = new RegistryDecoder(options);
  const end = options.end ?? (await file.size());
  for (let at = options.start ?? 0; at < end; ) {
    options.signal?.throwIfAborted();
    // A new block each time: records are views of it.
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

/** A record, or why its data cannot be read (REG-21). */
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

/** What a walk over a whole file under one reading found. */
export interface Survey {
  readonly reading: RegistryReading;
  readonly header: RegistryHeader | undefined;
  /** As counted, whatever the header says (REG-10). */
  readonly counts: RegistryCounts;
  /** Records that are not valid for their data's sake (REG-21); the first of them. */
  readonly short: ProtocolError | undefined;
  /** The highest OID of any record that can be read (REG-35); 0: there is none. */
  readonly highestOid: number;
  readonly damage: RegistryDamage | undefined;
  /** Behind the last whole record. */
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
 * REG-13: finds out how the size fields are to be read. The rule's test (every magic number right, the last record ends with the
 * file) alone would take a file of reading (a) whose last record lacks 12 bytes for a whole one of reading (b), so the records
 * must also be long enough for their fields; and a file that is merely cut off at its end (REG-29) is looked for before one that
 * is not. Where no reading fits, the one under which the most records come before the damage is taken.
 */
export async function detectReading(file: RandomFile, options: WalkOptions): Promise<Survey> {
  let best: Survey | undefined;
  for (const reading of READINGS) {
    const survey = await surveyFile(file, { ...options, reading });
    if (best === undefined || isBetter(survey, best)) best = survey;
    // Without a header there is nothing to compare; with the best mark there is nothing to gain.
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
