// The statements on the table of rows. Every one has a form that the databases that speak PostgreSQL's protocol accept.
import type pg from 'pg';
import { bufferOf } from '../../protocols/ascii.js';
import type { PageOptions, Row, RowChange } from '../rows/contract.js';
import type { KeyRange } from '../rows/keys.js';
import { indexKey, isLong } from './long-keys.js';

const DEFAULT_PAGE_ROWS = 1000;
const DEFAULT_PAGE_BYTES = 256 * 1024;
/** Bytes of values in one statement. The driver has a statement several times in memory. */
const STATEMENT_BYTES = 4 << 20;

// How rows are locked, in the order of their keys: transactions that wait for each other would be ended otherwise. A
// hold hinders a claim, but not the write of a value, with which the holder of a lease renews it.
const HOLD = 'order by key for key share';
const CLAIM = 'order by key for update skip locked';
const RENEW = 'order by key for no key update';

/** Runs a statement whose columns are all bytes. */
async function bytesOf(client: pg.Client, text: string, values: unknown[]): Promise<(Uint8Array | null)[][]> {
  const { rows } = await client.query<(Uint8Array | null)[]>({ text, values, rowMode: 'array' });
  return rows;
}

export async function getRow(
  client: pg.Client,
  schema: string,
  key: Uint8Array,
): Promise<Uint8Array | undefined> {
  const rows = await bytesOf(client, `select value from ${schema}.rows where key = $1`, [
    bufferOf(indexKey(key)),
  ]);
  return rows[0]?.[0] ?? undefined;
}

/** The results are in the order of the keys. */
export async function getRows(
  client: pg.Client,
  schema: string,
  keys: readonly Uint8Array[],
  lock = '',
): Promise<(Uint8Array | undefined)[]> {
  const wanted = keys.map((key) => bufferOf(indexKey(key)));
  const text = `select key, value from ${schema}.rows where key = any($1::bytea[]) ${lock}`;
  const rows = await bytesOf(client, text, [wanted]);
  const found = new Map<string, Uint8Array>();
  for (const [key, value] of rows) if (key && value) found.set(bufferOf(key).toString('latin1'), value);
  return wanted.map((key) => found.get(key.toString('latin1')));
}

/** Like {@link getRows}. Until the transaction ends, other transactions cannot {@link claimRows} these. */
export function holdRows(
  client: pg.Client,
  schema: string,
  keys: readonly Uint8Array[],
): Promise<(Uint8Array | undefined)[]> {
  return keys.length === 0 ? Promise.resolve([]) : getRows(client, schema, keys, HOLD);
}

/**
 * Locks rows and returns their values, in the order of the keys; undefined: another transaction has the row.
 *
 * @param initial the value of rows that do not exist. Without it, the transaction holds what the rows stand for: it
 *   waits for other claims, and holds do not hinder it
 */
export async function claimRows(
  client: pg.Client,
  schema: string,
  keys: readonly Uint8Array[],
  initial: Uint8Array | undefined,
): Promise<(Uint8Array | undefined)[]> {
  if (keys.length === 0) return [];
  if (initial === undefined) return getRows(client, schema, keys, RENEW);
  // The order of the keys, so that two of these do not wait for each other.
  const text = `insert into ${schema}.rows (key, long_key, value)
    select key, long_key, $3::bytea from unnest($1::bytea[], $2::bytea[]) as added (key, long_key) order by key
    on conflict (key) do nothing`;
  await client.query(text, [...keyColumns(keys), bufferOf(initial)]);
  return getRows(client, schema, keys, CLAIM);
}

/** The server's time, milliseconds since 1970. */
export async function timeOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ ms: string }>(
    'select extract(epoch from clock_timestamp()) * 1000 as ms',
  );
  return Math.floor(Number(rows[0]?.ms));
}

/** A page ends before the row that would exceed its bytes by more than one row. */
export async function pageOfRows(
  client: pg.Client,
  schema: string,
  range: KeyRange,
  options: PageOptions,
): Promise<Row[]> {
  const { where, values, order, limit } = pageClauses(range, options);
  const text = `select key, long_key, value from (
    select key, long_key, value, sum(octet_length(value)) over (order by key ${order}) - octet_length(value) as before
    from (select key, long_key, value from ${schema}.rows where ${where} order by key ${order} limit ${limit}) as counted_rows
  ) as counted where before <= $3 order by key ${order}`;
  const rows = await bytesOf(client, text, [...values, options.bytes ?? DEFAULT_PAGE_BYTES]);
  return rows.map(([key, longKey, value]) => [longKey ?? key!, value!] as const);
}

export async function keysOfPage(
  client: pg.Client,
  schema: string,
  range: KeyRange,
  options: PageOptions,
): Promise<Uint8Array[]> {
  const { where, values, order, limit } = pageClauses(range, options);
  const rows = await bytesOf(
    client,
    `select key, long_key from ${schema}.rows where ${where} order by key ${order} limit ${limit}`,
    values,
  );
  return rows.map(([key, longKey]) => longKey ?? key!);
}

function pageClauses({ gte, lt }: KeyRange, { after, reverse = false, limit }: PageOptions) {
  const first = after !== undefined && !reverse ? after : gte;
  const end = after !== undefined && reverse ? after : lt;
  return {
    where: `key ${first === after ? '>' : '>='} $1 and key < $2`,
    values: [bufferOf(indexKey(first)), bufferOf(indexKey(end))],
    order: reverse ? 'desc' : 'asc',
    limit: limit ?? DEFAULT_PAGE_ROWS,
  };
}

/** Of two changes of the same row the later one counts. */
export async function writeRows(
  client: pg.Client,
  schema: string,
  changes: Iterable<RowChange>,
): Promise<void> {
  const last = new Map<string, RowChange>();
  for (const change of changes) last.set(bufferOf(change.key).toString('latin1'), change);
  const deleted: Buffer[] = [];
  let put: RowChange[] = [];
  let bytes = 0;
  for (const change of last.values()) {
    if (change.value === undefined) {
      deleted.push(bufferOf(indexKey(change.key)));
      continue;
    }
    put.push(change);
    bytes += change.value.length;
    if (bytes < STATEMENT_BYTES) continue;
    await putRows(client, schema, put);
    put = [];
    bytes = 0;
  }
  if (put.length > 0) await putRows(client, schema, put);
  if (deleted.length > 0)
    await client.query(`delete from ${schema}.rows where key = any($1::bytea[])`, [deleted]);
}

async function putRows(client: pg.Client, schema: string, changes: readonly RowChange[]): Promise<void> {
  const text = `insert into ${schema}.rows (key, long_key, value)
    select * from unnest($1::bytea[], $2::bytea[], $3::bytea[])
    on conflict (key) do update set value = excluded.value`;
  await client.query(text, [
    ...keyColumns(changes.map(({ key }) => key)),
    changes.map(({ value }) => bufferOf(value!)),
  ]);
}

/** The columns `key` and `long_key`. */
function keyColumns(keys: readonly Uint8Array[]): [(Buffer | null)[], (Buffer | null)[]] {
  return [
    keys.map((key) => bufferOf(indexKey(key))),
    keys.map((key) => (isLong(key) ? bufferOf(key) : null)),
  ];
}

export async function clearRange(client: pg.Client, schema: string, { gte, lt }: KeyRange): Promise<void> {
  await client.query(`delete from ${schema}.rows where key >= $1 and key < $2`, [
    bufferOf(indexKey(gte)),
    bufferOf(indexKey(lt)),
  ]);
}
