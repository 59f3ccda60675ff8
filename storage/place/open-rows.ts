// Opens the database of a place: a directory is a LevelDB, a URL a PostgreSQL.
import { resolve } from 'node:path';
import { Level, type LevelOptions } from '../level/level.js';
import type { PostgresOptions } from '../postgres/postgres-rows.js';
import type { Rows, RowsOptions } from '../rows/contract.js';
import { isDatabaseUrl } from '../rows/database-url.js';

/** Options of {@link openRows}: those of every database, and of each kind its own. */
export interface OpenRowsOptions extends RowsOptions {
  readonly level?: Omit<LevelOptions, keyof RowsOptions>;
  readonly postgres?: PostgresOptions;
}

/**
 * Opens the rows of a store.
 *
 * @param place a directory, or `postgres://USER@HOST[:PORT][,HOST...]/DATABASE[?schema=NAME]`
 * @throws StorageError if it cannot be opened, is another kind of store, or has another schema
 */
export async function openRows(
  place: string,
  { level, postgres, ...options }: OpenRowsOptions,
): Promise<Rows> {
  if (!isDatabaseUrl(place)) return Level.open(resolve(place), { ...options, ...level });
  // Only who uses it pays for the driver.
  const { PostgresRows } = await import('../postgres/postgres-rows.js');
  return PostgresRows.open(place, { ...options, ...postgres });
}
