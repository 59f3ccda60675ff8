// The epochs of the numbers of changes (GATHERD-6.13): each opening of a store numbers its changes under a name
// of its own, so that the changes of a store and of its copy are never taken for each other.
import { randomBytes } from 'node:crypto';
import type { RowReader, RowWriter } from '../rows/contract.js';
import { Table } from '../rows/table.js';
import { EPOCHS } from './tables.js';

/** A collector that knows a change of an earlier epoch gets everything. */
const MAX_EPOCHS = 1000;

export function newEpoch(): string {
  return randomBytes(8).toString('hex');
}

/** Which changes a database has, by the epochs that led to it. */
export class EpochHistory {
  /** The last change of each epoch that belongs to the database. */
  readonly #lastOf = new Map<string, number>();

  private constructor(
    epochs: readonly (readonly [name: string, first: number])[],
    origin: string,
    last: number,
  ) {
    epochs.forEach(([name], i) => {
      const [, next = last + 1] = epochs[i + 1] ?? [];
      this.#lastOf.set(name, next - 1);
    });
    if (origin !== '') this.#lastOf.set(origin, last);
  }

  /** @param origin the epoch of the last change @param last its number */
  static async read(database: RowReader, origin: string, last: number): Promise<EpochHistory> {
    return new EpochHistory(await sortedEpochs(database), origin, last);
  }

  /** Whether the change is one of this database, or of the one from which it was copied, before the copy. */
  has(origin: string, sequence: number): boolean {
    return sequence > 0 && sequence <= (this.#lastOf.get(origin) ?? 0);
  }
}

/** Deletes the oldest epochs, so that openings of a store cost the same after many years. */
export async function dropOldEpochs(database: RowWriter): Promise<void> {
  const epochs = await sortedEpochs(database);
  const old = epochs.slice(0, Math.max(0, epochs.length - MAX_EPOCHS));
  if (old.length > 0) await database.write(old.map(([name]) => EPOCHS.delete(name)));
}

/** The epochs in their order, with the numbers of their first changes. */
async function sortedEpochs(database: RowReader): Promise<(readonly [name: string, first: number])[]> {
  const found: (readonly [string, number])[] = [];
  for await (const page of new Table(database, EPOCHS).entryPages()) found.push(...page);
  return found.sort(([, a], [, b]) => a - b);
}
