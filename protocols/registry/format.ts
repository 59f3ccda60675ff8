// The constants of the Registry that no source records, and the size fields and flags of its records.
import { defined } from '../defined.js';
import { UsageError } from '../errors.js';

/** REG-5: magic, version, and the three counts, 4 bytes each. */
export const FILE_HEADER_BYTES = 20;
/** REG-11: size, magic, flag. */
export const RECORD_HEADER_BYTES = 12;
/** REG-2: the largest number of a Registry. */
export const U32_MAX = 0xffff_ffff;

/**
 * The bytes that the size field of a record counts (REG-11): `a` those after the 12-byte record header, `b` the
 * whole record, `c` those after the size field.
 */
export type RegistryReading = 'a' | 'b' | 'c';

/** REG-13: in the order in which a reader tries them. */
export const READINGS: readonly RegistryReading[] = ['a', 'b', 'c'];

/** Bytes of the record header that the size field counts. */
const COUNTED_HEAD: Readonly<Record<RegistryReading, number>> = { a: 0, b: 12, c: 8 };

/** The constants that no source gives; files of other origin may have other values (REG-8, REG-14). */
export interface RegistryFormat {
  /** u32 at the start of the file. Default `HBRG`. */
  readonly fileMagic: number;
  /** u32 in each record's header. Default `HBRR`. */
  readonly recordMagic: number;
  /** Flag of a valid record. Default 1. */
  readonly validFlag: number;
  /** Flag of a deleted record. Default 2. */
  readonly deletedFlag: number;
  /** REG-12: default `a`. */
  readonly reading: RegistryReading;
}

/** REG-8, REG-12, REG-14. */
export const DEFAULT_FORMAT: RegistryFormat = {
  fileMagic: 0x4842_5247,
  recordMagic: 0x4842_5252,
  validFlag: 1,
  deletedFlag: 2,
  reading: 'a',
};

/** Applies the defaults. @throws UsageError for a constant that is not a u32, or for two equal flags */
export function registryFormat(options: Partial<RegistryFormat> = {}): RegistryFormat {
  const { fileMagic, recordMagic, validFlag, deletedFlag, reading } = {
    ...DEFAULT_FORMAT,
    ...defined(options),
  };
  const format = { fileMagic, recordMagic, validFlag, deletedFlag, reading };
  for (const name of ['fileMagic', 'recordMagic', 'validFlag', 'deletedFlag'] as const) {
    if (!isU32(format[name]))
      throw new UsageError(`${name} must be a number of 32 bits, not ${format[name]}`);
  }
  if (format.validFlag === format.deletedFlag)
    throw new UsageError('the flags of valid and deleted are equal');
  return format;
}

/** The size field of a record with `dataBytes` bytes of data (REG-11). */
export function sizeFieldOf(dataBytes: number, reading: RegistryReading): number {
  return dataBytes + COUNTED_HEAD[reading];
}

/** The bytes of data of a record with this size field (REG-11); negative for an impossible size. */
export function dataBytesOf(sizeField: number, reading: RegistryReading): number {
  return sizeField - COUNTED_HEAD[reading];
}

/** REG-14: a record with an unknown flag is kept, but not shown and not counted. */
export type RecordState = 'valid' | 'deleted' | 'unknown';

export function stateOf(flag: number, format: RegistryFormat): RecordState {
  if (flag === format.validFlag) return 'valid';
  return flag === format.deletedFlag ? 'deleted' : 'unknown';
}

export function isU32(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= U32_MAX;
}

/** REG-22: a time that does not fit is clamped; a fraction of a second is dropped. */
export function clampU32(value: number): number {
  return Number.isNaN(value) ? 0 : Math.min(Math.max(Math.trunc(value), 0), U32_MAX);
}

/** The number of directories below `objects/` (REG-34). */
const OBJECT_DIRECTORIES = 100;

/** The directory of an object below `objects/`: the OID modulo 100, decimal (REG-34). */
export function objectDirectory(oid: number): string {
  return String(oid % OBJECT_DIRECTORIES);
}

/** The path of an object below `objects/`, e.g. `17/OBJ1217` (REG-34). */
export function objectName(oid: number): string {
  return `${objectDirectory(oid)}/OBJ${oid}`;
}

/**
 * The OID of a file name `OBJ<OID>`, decimal without leading zeros, at most 32 bits; undefined for any other
 * name (REG-34).
 */
export function oidOfFileName(name: string): number | undefined {
  const digits = /^OBJ([1-9]\d{0,9})$/.exec(name)?.[1];
  const oid = Number(digits);
  return digits === undefined || oid > U32_MAX ? undefined : oid;
}
