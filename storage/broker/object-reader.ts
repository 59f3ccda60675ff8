import { resolve } from 'node:path';
import { oidKey, TABLE } from '../level/keys.js';
import { Level } from '../level/level.js';

/** Reads a Broker's stored objects. */
export interface ObjectReader extends AsyncDisposable {
  /** Reads the stored bytes of objects in one call to the thread pool; the results are in the order of the OIDs. */
  objects(oids: readonly number[]): Promise<(Uint8Array | undefined)[]>;
  close(): Promise<void>;
}

/**
 * Opens the objects of a Broker's store, in any thread of the process that has the store open, or while no process has it open. Sees the
 * owner's writes immediately.
 *
 * @throws StorageError if there is no store, or another process has it open.
 */
export async function openObjectReader(directory: string): Promise<ObjectReader> {
  const level = await Level.open(resolve(directory), { kind: 'broker', create: false, multithreading: true });
  return {
    objects: (oids) => readObjects(level, oids),
    close: () => level.close(),
    [Symbol.asyncDispose]: () => level.close(),
  };
}

/** Reads the stored bytes of objects; the results are in the order of the OIDs. */
export function readObjects(level: Level, oids: readonly number[]): Promise<(Uint8Array | undefined)[]> {
  return level.getMany(oids.map((oid) => oidKey(TABLE.objects, oid)));
}
