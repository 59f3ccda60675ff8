import { ProtocolError } from '../../protocols/errors.js';
import {
  dataBytesOf,
  decodeRecordHeader,
  FILE_HEADER_BYTES,
  type RawRecord,
  READINGS,
  RECORD_HEADER_BYTES,
  type RegistryDamage,
  type RegistryFormat,
  type RegistryReading,
  registryFormat,
  stateOf,
} from '../../protocols/registry/index.js';
import { FileWindow, type RandomFile } from './random-file.js';
import { type FoundRecord, recordAt, type SalvageContext, searchRecord } from './salvage.js';
import { readRecord, type Survey, walkFile } from './walk.js';

/** A problem of a Registry or of its directory. */
export interface RegistryProblem {
  readonly rule: string;
  /** Offset in the Registry; undefined if the problem is not in the bytes of the file. */
  readonly offset?: number;
  readonly message: string;
  /** Bytes that belong to no readable record. */
  readonly lost?: number;
}

/** A readable record and the damage before it, in the file's order. */
export type ScanItem = RawRecord | ({ readonly kind: 'problem' } & RegistryProblem);

export interface ScanOptions extends Partial<RegistryFormat> {
  readonly version: number;
  readonly maxRecordBytes: number;
  /** Whether the header was readable. If so, records start after it; otherwise the search starts at the first byte. */
  readonly header: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Yields every readable record of a damaged file (REG-15). It follows the sizes as long as they lead from record to record; where
 * they do not, the size of the previous record may be wrong, so that record is examined again.
 */
export async function* scanFile(
  file: RandomFile,
  options: ScanOptions,
): AsyncGenerator<ScanItem, void, undefined> {
  const format = registryFormat(options);
  const { version, maxRecordBytes, signal } = options;
  const size = await file.size();
  const context: SalvageContext = {
    window: new FileWindow(file, size),
    format,
    version,
    maxRecordBytes,
    signal,
  };
  let at = options.header ? FILE_HEADER_BYTES : 0;
  if (!options.header) {
    const first = await searchRecord(0, context);
    at = first?.offset ?? size;
  }
  while (at < size) {
    let previous: RawRecord | undefined;
    let damage: RegistryDamage | undefined;
    for await (const items of walkFile(file, { ...format, maxRecordBytes, signal, start: at, end: size })) {
      for (const item of items) {
        if (item.kind === 'damage') damage = item;
        else if (item.kind === 'record') {
          if (previous !== undefined) yield readable(previous, version);
          // Copied, because a view would keep its whole block in memory.
          previous = { ...item, data: item.data.slice() };
        }
      }
    }
    if (damage === undefined) {
      if (previous !== undefined) yield readable(previous, version);
      return;
    }
    at = previous?.offset ?? damage.offset;
    while (at <= damage.offset && at < size) {
      const record = await recordAt(at, context);
      if (record === undefined) {
        const next = await searchRecord(at + 1, context);
        const end = next?.offset ?? size;
        yield lostBytes(at, end, damage);
        at = end;
        continue;
      }
      if (record.wrong !== undefined) yield mended(record);
      yield readable(await loaded(record, context), version);
      at = record.offset + RECORD_HEADER_BYTES + record.dataBytes;
    }
  }
}

/** REG-21: a record that is too short for its version is unreadable; one with an unknown flag is kept as it is (REG-14). */
function readable(raw: RawRecord, version: number): ScanItem {
  if (raw.state === 'unknown') return raw;
  const record = readRecord(raw, version);
  if (!(record instanceof ProtocolError)) return raw;
  const lost = RECORD_HEADER_BYTES + raw.data.length;
  return { kind: 'problem', rule: record.rule, offset: raw.offset, message: 'a record is too short', lost };
}

function lostBytes(from: number, end: number, damage: RegistryDamage): ScanItem {
  const known = damage.offset === from;
  const rule = known ? damage.rule : 'REG-15';
  const what = known ? damage.message : 'no record can be read here';
  return { kind: 'problem', rule, offset: from, message: what, lost: end - from };
}

function mended({ offset, wrong, dataBytes }: FoundRecord): ScanItem {
  const message = `${wrong ?? ''}, but the record's ${dataBytes} bytes can be read`;
  return { kind: 'problem', rule: wrong?.includes('magic') ? 'REG-15' : 'REG-11', offset, message };
}

async function loaded(record: FoundRecord, { window, format }: SalvageContext): Promise<RawRecord> {
  const { offset, flag, dataBytes } = record;
  const data = await window.read(offset + RECORD_HEADER_BYTES, dataBytes);
  return { kind: 'record', offset, flag, state: stateOf(flag, format), data };
}

/** Number of records that are examined to detect the reading. */
const WITNESSES = 100;

/**
 * Detects how the size fields of a damaged file are to be read. If the damage is too early for REG-13, the sizes of the readable
 * records decide.
 */
export async function readingOfDamaged(
  file: RandomFile,
  survey: Survey,
  options: Omit<ScanOptions, 'header'>,
): Promise<RegistryReading> {
  if (survey.damage === undefined || survey.damage.cut || survey.counts.records > 1) return survey.reading;
  const format = registryFormat(options);
  const window = new FileWindow(file, await file.size());
  const votes = { a: 0, b: 0, c: 0 };
  const context: SalvageContext = { ...options, window, format };
  let at = 0;
  for (let i = 0; i < WITNESSES; i++) {
    const record = await searchRecord(at, context);
    if (record === undefined) break;
    const header = await window.read(record.offset, RECORD_HEADER_BYTES);
    const { size } = decodeRecordHeader(header);
    for (const reading of READINGS) if (dataBytesOf(size, reading) === record.dataBytes) votes[reading]++;
    at = record.offset + RECORD_HEADER_BYTES;
  }
  return READINGS.reduce((best, reading) => (votes[reading] > votes[best] ? reading : best), survey.reading);
}
