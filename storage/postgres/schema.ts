// The tables of a store, and their versions.
import type pg from 'pg';
import { errorCode, StorageError } from '../../protocols/errors.js';
import { OLDEST_SCHEMA, SCHEMA_VERSION } from '../records/records.js';
import type { RowsOptions } from '../rows/contract.js';

/**
 * The statements that make each version of the tables from the one before it. `rows` has the records, in the order of
 * their keys; `store` has one row for the store, which a change locks, with its secret.
 *
 * A table can be distributed by its first column, as Citus, YugabyteDB and CockroachDB do it.
 */
const MIGRATIONS: readonly ((schema: string) => readonly string[])[] = [
  (schema) => [
    `create table ${schema}.rows (key bytea primary key, long_key bytea, value bytea not null)`,
    `create table ${schema}.store (kind text primary key, version integer not null)`,
  ],
  (schema) => [`alter table ${schema}.store add column secret bytea`],
];

/** Another program creates the same things at the same moment. */
const CREATED_MEANWHILE = new Set(['23505', '42P06', '42P07', '40001', '40P01']);
const ATTEMPTS = 5;

/**
 * Creates or migrates the tables of a store.
 *
 * @throws StorageError if the schema has no store and may not get one, or one of another kind or version
 */
export async function prepareSchema(
  client: pg.Client,
  schema: string,
  shown: string,
  options: RowsOptions,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await client.query('begin');
      await prepare(client, schema, shown, options);
      await client.query('commit');
      return;
    } catch (error) {
      await client.query('rollback');
      if (attempt === ATTEMPTS || !CREATED_MEANWHILE.has(errorCode(error) ?? '')) throw error;
    }
  }
}

async function prepare(
  client: pg.Client,
  schema: string,
  shown: string,
  { kind, create = true, upgrade = false }: RowsOptions,
): Promise<void> {
  const { rows: tables } = await client.query<{ table_name: string }>(
    'select table_name from information_schema.tables where table_schema = $1',
    [schema],
  );
  const names = tables.map(({ table_name }) => table_name);
  const isStore = names.includes('rows') && names.includes('store');
  if (!isStore && (!create || names.length > 0))
    throw new StorageError(
      names.length === 0
        ? `${shown} has no ${kind} store in the schema ${schema}`
        : `the schema ${schema} of ${shown} has tables, but no store; give another one with ?schema=NAME`,
    );
  if (!isStore) {
    await client.query(`create schema if not exists ${schema}`);
    await migrate(client, schema, 0);
    await client.query(`insert into ${schema}.store (kind, version) values ('layout', $1), ($2, $3)`, [
      MIGRATIONS.length,
      kind,
      SCHEMA_VERSION[kind],
    ]);
    return;
  }
  const { rows } = await client.query<{ kind: string; version: number }>(
    `select kind, version from ${schema}.store`,
  );
  const layout = rows.find((row) => row.kind === 'layout')?.version ?? 0;
  const store = rows.find((row) => row.kind !== 'layout');
  if (store?.kind !== kind)
    throw new StorageError(`the schema ${schema} of ${shown} is a ${store?.kind} store, not a ${kind} store`);
  const [oldest, current] = [OLDEST_SCHEMA[kind], SCHEMA_VERSION[kind]];
  if (layout > MIGRATIONS.length || store.version > current || store.version < oldest)
    throw new StorageError(
      `the ${kind} store in the schema ${schema} of ${shown} has version ${store.version} (tables: ${layout}); this program reads ${current} (tables: ${MIGRATIONS.length})`,
    );
  if (layout < MIGRATIONS.length) {
    await migrate(client, schema, layout);
    await client.query(`update ${schema}.store set version = $1 where kind = 'layout'`, [MIGRATIONS.length]);
  }
  if (store.version < current && upgrade)
    await client.query(`update ${schema}.store set version = $1 where kind = $2`, [current, kind]);
}

async function migrate(client: pg.Client, schema: string, from: number): Promise<void> {
  for (const statements of MIGRATIONS.slice(from))
    for (const statement of statements(schema)) await client.query(statement);
}
