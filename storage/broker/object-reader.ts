import { resolve } from 'node:path';
import { Level } from '../level/level.js';
import { readObjects } from './broker-store.js';

/** Reads a Broker's stored objects. */
export interface ObjectReader extends AsyncDisposable {
  /** The objects' bytes as stored. One trip for all; the answers are in the OIDs' order. */
  objects(oids: readonly number[]): Promise<(Uint8Array | undefined)[]>;
  close(): Promise<void>;
}

/**
 * Opens the objects of a Broker's store in another thread of the process that has the store open; also without an
 * owner. Sees what the owner has written, at once.
 *
 * @throws StorageError when there is no store, or another process has it.
 */
export async function openObjectReader(directory: string): Promise<ObjectReader> {
  const level = await Level.open(resolve(directory), { kind: 'broker', create: false, multithreading: true });
  return {
    objects: (oids) => readObjects(level, oids),
    close: () => level.close(),
    [Symbol.asyncDispose]: () => level.close(),
  };
}
