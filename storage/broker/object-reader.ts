import { resolve } from 'node:path';
import type { ByteSource } from '../../protocols/soif/index.js';
import { oidKey, TABLE, type TableByte } from '../level/keys.js';
import { Level } from '../level/level.js';
import { isInParts, openObject, type StoredObject, StoredParts, storedObject } from './large-objects.js';
import { damagedObject, objectOfRow } from './object-rows.js';

/** Returns the part of a large object that is needed. */
export type LargePart = (object: ByteSource) => Promise<Uint8Array>;

/** Reads a Broker's stored objects. */
export interface ObjectReader extends AsyncDisposable {
  /**
   * Reads the stored bytes of objects; the results are in the order of the OIDs.
   *
   * @param maxBytes after about as many bytes, the further objects are not read and the result is shorter than
   *   `oids`; never empty
   */
  objects(oids: readonly number[], maxBytes?: number): Promise<(Uint8Array | undefined)[]>;
  close(): Promise<void>;
}

/**
 * Opens the objects of a Broker's store, in any thread of the process that has the store open, or while no
 * process has it open. Sees the owner's writes immediately.
 *
 * @param largePart the part that is returned of an object that is stored in parts; default: all of it
 * @throws StorageError if there is no store, or another process has it open.
 */
export async function openObjectReader(directory: string, largePart?: LargePart): Promise<ObjectReader> {
  const level = await Level.open(resolve(directory), { kind: 'broker', create: false, multithreading: true });
  return {
    objects: (oids, maxBytes) =>
      maxBytes === undefined
        ? readObjects(level, oids, largePart)
        : readSome(level, oids, maxBytes, largePart),
    close: () => level.close(),
    [Symbol.asyncDispose]: () => level.close(),
  };
}

/** Objects in one read whose bytes are known only afterwards. */
const OBJECTS_AT_ONCE = 16;

async function readSome(
  level: Level,
  oids: readonly number[],
  maxBytes: number,
  largePart: LargePart | undefined,
): Promise<(Uint8Array | undefined)[]> {
  const objects: (Uint8Array | undefined)[] = [];
  let bytes = 0;
  while (objects.length < oids.length && bytes < maxBytes) {
    const next = oids.slice(objects.length, objects.length + OBJECTS_AT_ONCE);
    for (const object of await readObjects(level, next, largePart)) {
      objects.push(object);
      bytes += object?.length ?? 0;
    }
  }
  return objects;
}

/**
 * Reads the stored bytes of objects; the results are in the order of the OIDs.
 *
 * @throws StorageError if an object is damaged, or the Registry has an entry whose object is missing
 */
export async function readObjects(
  level: Level,
  oids: readonly number[],
  largePart?: LargePart,
): Promise<(Uint8Array | undefined)[]> {
  const rows = await readRows(level, TABLE.objects, oids);
  const missing = oids.filter((_, i) => rows[i] === undefined);
  if (missing.length > 0) await requireRemoved(level, missing);
  if (!rows.some((row) => row !== undefined && isInParts(row)))
    return rows.map((row, i) => row && objectOfRow(level.directory, oids[i] ?? 0, row));
  return readInTurn(level, oids, rows, largePart);
}

/** Reads large objects one after the other; of their memory only what `largePart` returns is kept. */
async function readInTurn(
  level: Level,
  oids: readonly number[],
  rows: readonly (Uint8Array | undefined)[],
  largePart: LargePart | undefined,
): Promise<(Uint8Array | undefined)[]> {
  const objects: (Uint8Array | undefined)[] = [];
  for (const [i, row] of rows.entries()) {
    const oid = oids[i] ?? 0;
    if (row === undefined) objects.push(undefined);
    else if (largePart === undefined) objects.push(await storedObject(level, oid, row));
    else objects.push(await partOf(await openObject(level, oid, row), largePart));
  }
  return objects;
}

async function partOf(
  object: StoredObject | undefined,
  largePart: LargePart,
): Promise<Uint8Array | undefined> {
  if (!(object instanceof StoredParts)) return object;
  await using parts = object;
  return await largePart(parts);
}

function readRows(level: Level, table: TableByte, oids: readonly number[]) {
  return level.getMany(oids.map((oid) => oidKey(table, oid)));
}

/**
 * Checks that objects without a row have no entry either. Entry and object are written together, and no OID is
 * used twice: an entry that is there before and after its object was not found has lost it.
 */
export async function requireRemoved(level: Level, oids: readonly number[]): Promise<void> {
  const before = await readRows(level, TABLE.entries, oids);
  const objects = await readRows(level, TABLE.objects, oids);
  const after = await readRows(level, TABLE.entries, oids);
  const lost = oids.find(
    (_, i) => before[i] !== undefined && objects[i] === undefined && after[i] !== undefined,
  );
  if (lost === undefined) return;
  throw damagedObject(level.directory, lost, 'is missing');
}
