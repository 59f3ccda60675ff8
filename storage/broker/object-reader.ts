import { resolve } from 'node:path';
import { Level } from '../level/level.js';
import { readObjects } from './broker-store.js';

/** Reads a Broker's stored objects. */
export interface ObjectReader extends AsyncDisposable {
  /** Reads the stored bytes of objects in one trip; the results are in the order of the OIDs. */
  objects(oids: readonly number[]): Promise<(Uint8Array | undefined)[]>;
  close(): Promise<void>;
}

/**
 * Opens the objects of a Broker's store, in any thread of the process that has the store open, or without an owner. Sees the owner's
 * writes at once.
 *
 * @throws StorageError if there is no store, or another process has it.
 */
export async function openObjectReader(directory: string): Promise<ObjectReader> {
  const level = await Level.open(resolve(directory), { kind: 'broker', create: false, multithreading: true });
  return {
    objects: (oids) => readObjects(level, oids),
    close: () => level.close(),
    [Symbol.asyncDispose]: () => level.close(),
  };
}
