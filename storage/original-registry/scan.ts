import { ProtocolError } from '../../protocols/errors.js';
import {
  dataBytesOf,
  decodeRecordHeader,
  FILE_HEADER_BYTES,
  type RawRecord,
  READINGS,
  RECORD_HEADER_BYTES,
  type RegistryCounts,
  type RegistryDamage,
  type RegistryFormat,
  type RegistryReading,
  registryFormat,
  stateOf,
} from '../../protocols/registry/index.js';
import { FileWindow, type RandomFile } from './random-access-file.js';
import { type FoundRecord, recordAt, type SalvageContext, searchRecord } from './salvage.js';
import { coveredRecord, coveringDamage, readRecord, type Survey, walkFile } from './walk.js';

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
  /**
   * Whether the header was readable. If so, records start after it; otherwise the search starts at the first
   * byte.
   */
  readonly header: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Yields every readable record of a damaged file (REG-15). It follows the sizes as long as they lead from
 * record to record; where they do not, the size of the previous record may be wrong, so that record is examined
 * again.
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
  let offset = options.header ? FILE_HEADER_BYTES : 0;
  if (!options.header) {
    const first = await searchRecord(0, context);
    offset = first?.offset ?? size;
  }
  while (offset < size) {
    let previous: RawRecord | undefined;
    let damage: RegistryDamage | undefined;
    for await (const items of walkFile(file, {
      ...format,
      maxRecordBytes,
      signal,
      start: offset,
      end: size,
    })) {
      for (const item of items) {
        if (item.kind === 'damage') damage = item;
        else if (item.kind === 'record') {
          if (previous !== undefined) yield recordOrProblem(previous, version);
          // Copied, because a view would keep its whole block in memory.
          previous = { ...item, data: item.data.slice() };
          if (coveredRecord(previous, version, format) !== undefined) damage = coveringDamage(previous);
        }
        if (damage !== undefined) break;
      }
      if (damage !== undefined) break;
    }
    if (damage === undefined) {
      if (previous !== undefined) yield recordOrProblem(previous, version);
      return;
    }
    offset = previous?.offset ?? damage.offset;
    while (offset <= damage.offset && offset < size) {
      const record = await recordAt(offset, context);
      if (record === undefined) {
        const next = await searchRecord(offset + 1, context);
        const end = next?.offset ?? size;
        yield lostBytes(offset, end, damage);
        offset = end;
        continue;
      }
      if (record.wrong !== undefined) yield wrongHeader(record);
      yield recordOrProblem(await loadRecord(record, context), version);
      offset = record.offset + RECORD_HEADER_BYTES + record.dataBytes;
    }
  }
}

/**
 * REG-21: a record that is too short for its version is unreadable; one with an unknown flag is kept as it is
 * (REG-14).
 */
function recordOrProblem(raw: RawRecord, version: number): ScanItem {
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

function wrongHeader({ offset, wrong, dataBytes }: FoundRecord): ScanItem {
  const message = `${wrong ?? ''}, but the record's ${dataBytes} bytes can be read`;
  return { kind: 'problem', rule: wrong?.includes('magic') ? 'REG-15' : 'REG-11', offset, message };
}

async function loadRecord(record: FoundRecord, { window, format }: SalvageContext): Promise<RawRecord> {
  const { offset, flag, dataBytes } = record;
  const data = await window.read(offset + RECORD_HEADER_BYTES, dataBytes);
  return { kind: 'record', offset, flag, state: stateOf(flag, format), data };
}

/**
 * The problem of a header whose counts differ from those of the records (REG-6, REG-10); empty if they agree.
 */
export function wrongCounts({ header }: Survey, counts: RegistryCounts): RegistryProblem[] {
  if (header === undefined) return [];
  const wrong = (['records', 'deleted', 'valid'] as const).filter((name) => header[name] !== counts[name]);
  if (wrong.length === 0) return [];
  const list = wrong.map((name) => `${header[name]} ${name}, there are ${counts[name]}`).join('; ');
  return [{ rule: 'REG-10', offset: 8, message: `the header says ${list}` }];
}

/** Number of records that are examined to detect the reading. */
const MAX_EXAMINED = 100;

/**
 * Detects how the size fields of a damaged file are to be read. If the damage is too early for REG-13, the
 * sizes of the readable records decide.
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
  let offset = 0;
  for (let i = 0; i < MAX_EXAMINED; i++) {
    const record = await searchRecord(offset, context);
    if (record === undefined) break;
    const header = await window.read(record.offset, RECORD_HEADER_BYTES);
    const { size } = decodeRecordHeader(header);
    for (const reading of READINGS) if (dataBytesOf(size, reading) === record.dataBytes) votes[reading]++;
    offset = record.offset + RECORD_HEADER_BYTES;
  }
  return READINGS.reduce((best, reading) => (votes[reading] > votes[best] ? reading : best), survey.reading);
}
