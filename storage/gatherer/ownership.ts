// The owner of a store in a database, where no lock of files keeps a second process away.
import { randomBytes } from 'node:crypto';
import { StorageError } from '../../protocols/errors.js';
import type { Rows } from '../rows/contract.js';
import { TABLE, textKey } from '../rows/keys.js';

/** Names the process that opened the store last. */
export const OWNER_KEY = textKey(TABLE.system, 'owner');
/** In place of a name: many processes. */
const SHARED = Buffer.from('shared');
/** Exists while a store is filled with a copy. */
export const RESTORING_KEY = textKey(TABLE.system, 'restoring');

/**
 * The right to write a store. The process that opens a store in a database becomes its owner; each change of a former
 * owner is refused in its own transaction, also when that process stood still meanwhile.
 */
export class Ownership {
  readonly key = OWNER_KEY;
  readonly #name: Uint8Array;
  readonly #place: string;

  private constructor(name: Uint8Array, place: string) {
    this.#name = name;
    this.#place = place;
  }

  /** Of a process that writes nothing. */
  static async ofReader(database: Rows): Promise<Ownership> {
    return new Ownership(Buffer.alloc(0), database.place);
  }

  /**
   * Of a process that shares the store with others: each change is written under leases instead.
   *
   * @throws StorageError if the restoration of the store was interrupted
   */
  static share(database: Rows): Promise<Ownership> {
    return Ownership.#become(database, SHARED);
  }

  /** @throws StorageError if the restoration of the store was interrupted */
  static take(database: Rows): Promise<Ownership> {
    return Ownership.#become(database, Buffer.from(randomBytes(8).toString('hex')));
  }

  static async #become(database: Rows, name: Uint8Array): Promise<Ownership> {
    if (database.isShared)
      await database.exclusive(
        async (rows) => {
          if ((await rows.get(RESTORING_KEY)) !== undefined)
            throw new StorageError(
              `the store in ${database.place} is incomplete: the restoration of a checkpoint was interrupted; repeat it`,
            );
          await rows.write([{ key: OWNER_KEY, value: name }]);
        },
        { mayRepeat: true },
      );
    return new Ownership(name, database.place);
  }

  /**
   * Checks, within a change, that this process is still the owner.
   *
   * @param row the present row of {@link key}
   * @throws StorageError if another process has opened the store
   */
  require(row: Uint8Array | undefined): void {
    if (row === undefined || Buffer.compare(row, this.#name) !== 0)
      throw new StorageError(
        `another process has opened the store in ${this.#place}, and this one may not write it any more`,
      );
  }
}
