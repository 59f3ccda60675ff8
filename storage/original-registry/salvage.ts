// Finds records in a damaged Registry file without trusting their size fields (REG-15).
import {
  dataBytesOf,
  decodeRecordHeader,
  FIELDS,
  isRegistryVersion,
  RECORD_HEADER_BYTES,
  type RegistryFormat,
  stateOf,
} from '../../protocols/registry/index.js';
import type { FileWindow } from './random-access-file.js';

/** How records are distinguished from other bytes. */
export interface SalvageContext {
  readonly window: FileWindow;
  readonly format: RegistryFormat;
  /** Version of the file; of an unknown version only the frames of records can be read. */
  readonly version: number;
  /** Maximum number of bytes of a record's data; more is not a record. */
  readonly maxRecordBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** A readable record, whose header may be wrong. */
export interface FoundRecord {
  readonly offset: number;
  /** Bytes of its data as stored. */
  readonly dataBytes: number;
  readonly flag: number;
  /** A sentence if its header is wrong. */
  readonly wrong: string | undefined;
}

/** What the bytes at an offset say about a record that may begin there. */
interface RecordMeasurement {
  readonly magic: boolean;
  readonly flag: number;
  /** Its end by its size field; undefined if beyond the file or the limit. */
  readonly declared: number | undefined;
  /** The end of its last number; undefined if its fields do not end within the file and the limit. */
  readonly natural: number | undefined;
  /** Whether the mandatory texts are not empty. */
  readonly complete: boolean;
}

/** Number of leading texts that must not be empty, by version (section 3.2, REG-50). */
const MANDATORY_TEXTS = { 1: 4, 2: 1 } as const;

/**
 * The record at `offset`, where the previous one ended. Each of its texts has a length, so it can be read with
 * a wrong size or a wrong magic number, if its end is unambiguous.
 */
export async function recordAt(offset: number, context: SalvageContext): Promise<FoundRecord | undefined> {
  const measured = await measure(offset, context);
  if (measured === undefined) return undefined;
  const { magic, flag, declared, natural } = measured;
  if (!magic) {
    const sure = natural !== undefined && natural === declared && measured.complete;
    return sure && (await isRecordBoundary(natural, context))
      ? foundRecord(offset, natural, flag, 'its magic number is wrong')
      : undefined;
  }
  const end = await endOf(measured, context);
  if (end === undefined) return undefined;
  return foundRecord(offset, end, flag, end === declared ? undefined : 'its size is wrong');
}

/** The next record from `offset` on that can be read (REG-15). */
export async function searchRecord(
  offset: number,
  context: SalvageContext,
): Promise<FoundRecord | undefined> {
  for await (const start of plausibleOffsets(offset, context.window.size, context)) {
    const record = await recordAt(start, context);
    if (record !== undefined) return record;
  }
  return undefined;
}

/**
 * Whether the file has a record whose size is exactly that of its fields in the version and the reading of the
 * context.
 */
export async function hasExactRecord(context: SalvageContext): Promise<boolean> {
  for await (const start of plausibleOffsets(0, context.window.size, context)) {
    const measured = await measure(start, context);
    if (measured?.natural !== undefined && measured.natural === measured.declared) return true;
  }
  return false;
}

/**
 * Offsets from `offset`, before `end`, of magic numbers that look like those of records and not like part of a
 * text.
 */
async function* plausibleOffsets(
  offset: number,
  end: number,
  context: SalvageContext,
): AsyncGenerator<number, void, undefined> {
  const { window, format } = context;
  const magic = new Uint8Array(4);
  new DataView(magic.buffer).setUint32(0, format.recordMagic);
  // The magic number follows the size field.
  for (let from = offset + 4; from < end + 4; ) {
    context.signal?.throwIfAborted();
    const block = Buffer.from(await window.moveTo(from));
    if (block.length < magic.length) return;
    for (let index = block.indexOf(magic); index >= 0; index = block.indexOf(magic, index + 1)) {
      const start = from + index - 4;
      if (start >= end) return;
      if (await isPlausible(start, context)) yield start;
    }
    // The last three bytes may be the start of a magic number.
    from += block.length - 3;
  }
}

/** Whether a plausible record with the right magic number begins here. */
async function beginsRecord(offset: number, context: SalvageContext): Promise<boolean> {
  const { window, format } = context;
  const header = await window.bytesAt(offset, RECORD_HEADER_BYTES);
  if (header === undefined || decodeRecordHeader(header).magic !== format.recordMagic) return false;
  return await isPlausible(offset, context);
}

async function isPlausible(offset: number, context: SalvageContext): Promise<boolean> {
  const measured = await measure(offset, context);
  if (measured === undefined) return false;
  const { flag, declared, natural, complete } = measured;
  // Of an unknown version only the frame can be checked, which recordAt does.
  if (!isRegistryVersion(context.version)) return declared !== undefined;
  if (natural === undefined || !complete) return false;
  return natural === declared || stateOf(flag, context.format) !== 'unknown';
}

/** The end of a record with the right magic number whose size field may be wrong. */
async function endOf(measured: RecordMeasurement, context: SalvageContext): Promise<number | undefined> {
  const { declared, natural, flag, complete } = measured;
  if (natural === undefined) {
    // A record that cannot be decoded is kept as it is if its frame is certain: one with an unknown flag
    // (REG-14) or of a later version. Any other one is too short (REG-21).
    const later = !isRegistryVersion(context.version) || stateOf(flag, context.format) === 'unknown';
    return later && declared !== undefined && (await isRecordBoundary(declared, context))
      ? declared
      : undefined;
  }
  if (declared === natural) return declared;
  if (declared !== undefined && (await isRecordBoundary(declared, context))) {
    if (declared < natural) return undefined;
    // REG-21: surplus bytes, unless they are records.
    return (await beginsRecord(natural, context)) ? natural : declared;
  }
  if (await isRecordBoundary(natural, context)) return natural;
  if (declared !== undefined && declared > natural) {
    // A wrong size may cover the records that follow; they must not be lost.
    for await (const _ of plausibleOffsets(natural, declared, context)) return natural;
    return declared;
  }
  return complete ? natural : undefined;
}

function foundRecord(offset: number, end: number, flag: number, wrong: string | undefined): FoundRecord {
  return { offset, dataBytes: end - offset - RECORD_HEADER_BYTES, flag, wrong };
}

/** Whether the file ends here or a record begins. */
async function isRecordBoundary(offset: number, { window, format }: SalvageContext): Promise<boolean> {
  if (offset === window.size) return true;
  const header = await window.bytesAt(offset, RECORD_HEADER_BYTES);
  return header !== undefined && decodeRecordHeader(header).magic === format.recordMagic;
}

async function measure(offset: number, context: SalvageContext): Promise<RecordMeasurement | undefined> {
  const { window, format, version, maxRecordBytes } = context;
  const bytes = await window.bytesAt(offset, RECORD_HEADER_BYTES);
  if (bytes === undefined) return undefined;
  const { size, magic, flag } = decodeRecordHeader(bytes);
  const start = offset + RECORD_HEADER_BYTES;
  const limit = Math.min(window.size, start + maxRecordBytes);
  const dataBytes = dataBytesOf(size, format.reading);
  const declared = dataBytes >= 0 && start + dataBytes <= limit ? start + dataBytes : undefined;
  const head = { magic: magic === format.recordMagic, flag, declared };
  if (!isRegistryVersion(version)) return { ...head, natural: undefined, complete: false };
  let fieldOffset = start;
  let complete = true;
  for (let i = 0; i < FIELDS[version].texts; i++) {
    const field = fieldOffset + 4 <= limit ? await window.bytesAt(fieldOffset, 4) : undefined;
    if (field === undefined) return { ...head, natural: undefined, complete: false };
    const length = new DataView(field.buffer, field.byteOffset).getUint32(0);
    if (length === 0 && i < MANDATORY_TEXTS[version]) complete = false;
    fieldOffset += 4 + length;
    if (fieldOffset > limit) return { ...head, natural: undefined, complete: false };
  }
  fieldOffset += 4 * FIELDS[version].numbers;
  return { ...head, natural: fieldOffset <= limit ? fieldOffset : undefined, complete };
}
