// The one layout of objects: `<directory>/OBJ<OID>` below `objects/`, on the disk and in URLs (REG-34,
// BRK-4.10).
import { U32_MAX } from './format.js';

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
