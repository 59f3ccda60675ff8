import type { ByteSource } from '../../protocols/soif/index.js';
import { openRows } from '../place/open-rows.js';
import type { RowReader } from '../rows/contract.js';
import { oidKey, TABLE, type TableByte } from '../rows/keys.js';
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
export async function openObjectReader(place: string, largePart?: LargePart): Promise<ObjectReader> {
  const database = await openRows(place, {
    kind: 'broker',
    create: false,
    level: { multithreading: true },
  });
  return {
    objects: (oids, maxBytes) =>
      maxBytes === undefined
        ? readObjects(database, oids, largePart)
        : readSome(database, oids, maxBytes, largePart),
    close: () => database.close(),
    [Symbol.asyncDispose]: () => database.close(),
  };
}

/** Objects in one read whose bytes are known only afterwards. */
const OBJECTS_AT_ONCE = 16;

async function readSome(
  database: RowReader,
  oids: readonly number[],
  maxBytes: number,
  largePart: LargePart | undefined,
): Promise<(Uint8Array | undefined)[]> {
  const objects: (Uint8Array | undefined)[] = [];
  let bytes = 0;
  while (objects.length < oids.length && bytes < maxBytes) {
    const next = oids.slice(objects.length, objects.length + OBJECTS_AT_ONCE);
    for (const object of await readObjects(database, next, largePart)) {
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
  database: RowReader,
  oids: readonly number[],
  largePart?: LargePart,
): Promise<(Uint8Array | undefined)[]> {
  const rows = await readRows(database, TABLE.objects, oids);
  const missing = oids.filter((_, i) => rows[i] === undefined);
  if (missing.length > 0) await requireRemoved(database, missing);
  if (!rows.some((row) => row !== undefined && isInParts(row)))
    return rows.map((row, i) => row && objectOfRow(database.place, oids[i] ?? 0, row));
  return readInTurn(database, oids, rows, largePart);
}

/** Reads large objects one after the other; of their memory only what `largePart` returns is kept. */
async function readInTurn(
  database: RowReader,
  oids: readonly number[],
  rows: readonly (Uint8Array | undefined)[],
  largePart: LargePart | undefined,
): Promise<(Uint8Array | undefined)[]> {
  const objects: (Uint8Array | undefined)[] = [];
  for (const [i, row] of rows.entries()) {
    const oid = oids[i] ?? 0;
    if (row === undefined) objects.push(undefined);
    else if (largePart === undefined) objects.push(await storedObject(database, oid, row));
    else objects.push(await partOf(await openObject(database, oid, row), largePart));
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

function readRows(database: RowReader, table: TableByte, oids: readonly number[]) {
  return database.getMany(oids.map((oid) => oidKey(table, oid)));
}

/**
 * Checks that objects without a row have no entry either. Entry and object are written together, and no OID is
 * used twice: an entry that is there before and after its object was not found has lost it.
 */
export async function requireRemoved(database: RowReader, oids: readonly number[]): Promise<void> {
  const before = await readRows(database, TABLE.entries, oids);
  const objects = await readRows(database, TABLE.objects, oids);
  const after = await readRows(database, TABLE.entries, oids);
  const lost = oids.find(
    (_, i) => before[i] !== undefined && objects[i] === undefined && after[i] !== undefined,
  );
  if (lost === undefined) return;
  throw damagedObject(database.place, lost, 'is missing');
}
