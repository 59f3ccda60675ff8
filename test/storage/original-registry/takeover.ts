// Directories as an original Broker leaves them: a Registry in its binary layout and object files in any layout
// below `objects/`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { soif } from '../helpers.js';
import { handFile, handRecord } from './helpers.js';

/** The mandatory attributes, with the values that {@link handRecord} writes. */
const BOOKKEEPING = {
  'Gatherer-Name': 'G',
  'Gatherer-Host': 'h',
  'Gatherer-Version': '1.0',
  'Update-Time': '800000000',
};

/** Where original Brokers may have kept an object, below `objects/`. */
export const LAYOUTS: Readonly<Record<string, (oid: number) => string>> = {
  'number modulo 100': (oid) => `${oid % 100}/OBJ${oid}`,
  flat: (oid) => `OBJ${oid}`,
  thousands: (oid) => `${Math.floor(oid / 1000)}/OBJ${oid}`,
  'two levels': (oid) => `${oid % 7}/${oid % 3}/OBJ${oid}`,
  'four levels with other names': (oid) => `a/b c/.hidden/d${oid % 2}/OBJ${oid}`,
};

/** The bytes of the object that {@link handRecord} describes. */
export function objectOf(oid: number, attributes: Readonly<Record<string, string>> = {}): Buffer {
  return soif(`http://a/${oid}`, { ...BOOKKEEPING, Title: `object ${oid}`, ...attributes });
}

/** Writes a directory with a Registry and object files. Returns its path. */
export function writeOriginal(
  directory: string,
  registry: Buffer,
  files: Readonly<Record<string, Buffer>>,
): string {
  mkdirSync(join(directory, 'admin'), { recursive: true });
  writeFileSync(join(directory, 'admin', 'Registry'), registry);
  for (const [name, bytes] of Object.entries(files)) {
    const path = join(directory, 'objects', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
  }
  return directory;
}

/** Writes a directory with the objects 1 to `count` in a layout. */
export function writeObjects(
  directory: string,
  count: number,
  layout: (oid: number) => string = LAYOUTS.flat!,
): string {
  const oids = Array.from({ length: count }, (_, i) => i + 1);
  const files = Object.fromEntries(oids.map((oid) => [layout(oid), objectOf(oid)]));
  return writeOriginal(directory, handFile(oids.map((oid) => handRecord(oid))), files);
}
