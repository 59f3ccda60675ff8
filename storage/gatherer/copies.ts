// Copies of a store: of a LevelDB by links to its files, of a database by a walk over its rows as they are at one
// moment.
import { mkdir, rm } from 'node:fs/promises';
import { cloneDatabase, makeCloneDirectory } from '../generations/clone-database.js';
import { LoginSeal } from '../generations/login-seal.js';
import { Level } from '../level/level.js';
import { openRows } from '../place/open-rows.js';
import type { Row, RowChange, Rows, RowsSnapshot } from '../rows/contract.js';
import { type KeyRange, SCHEMA_KEY, TABLE, tableRange } from '../rows/keys.js';
import { pagesOf } from '../rows/pages.js';
import { GATHERER_COUNTERS } from '../summaries/tables.js';
import { OWNER_KEY, RESTORING_KEY } from './ownership.js';

/** Rows that say something about one database, and not about what it contains. */
const OWN_ROWS = [SCHEMA_KEY, OWNER_KEY, RESTORING_KEY];
const SYSTEM = tableRange(TABLE.system);
/** All tables but those of the system rows and of the leases, which are of the processes that share a database. */
const TABLES: readonly KeyRange[] = [
  { gte: Uint8Array.of(TABLE.system + 1), lt: Uint8Array.of(TABLE.leases) },
  { gte: Uint8Array.of(TABLE.leases + 1), lt: Uint8Array.of(0xff) },
];
/** What the readers of a generation read. */
const GENERATION_TABLES = (
  [
    'summaries',
    'summaryContents',
    'sequences',
    'epochs',
    'identities',
    'tombstones',
    'tombstoneIdentities',
  ] as const
).map((name) => tableRange(TABLE[name]));
const PAGE = { limit: 4096, bytes: 1 << 20 };
const WRITE_BUFFER_BYTES = 16 << 20;
/** A snapshot ends with its connection, e.g. when a standby becomes the primary. */
const ATTEMPTS = 3;

/** Copies all of a store, with the key to its logins, to a directory that does not exist. */
export async function copyStore(database: Rows, directory: string, seal: LoginSeal): Promise<void> {
  if (database instanceof Level) {
    await database.suspend(async () => {
      await makeCloneDirectory(database.directory, directory);
      await cloneDatabase(database.directory, directory);
      await LoginSeal.copy(database.directory, directory);
    });
    return;
  }
  await copyRows(directory, () => database.snapshot(), [SYSTEM, ...TABLES]);
  await seal.write(directory);
}

/**
 * Returns what makes the database of a generation in a directory that does not exist.
 *
 * @param atRest runs the work that fixes its content while every earlier change is written
 */
export function generationOf(
  database: Rows,
  atRest: (work: () => Promise<void>) => Promise<void>,
): (directory: string) => Promise<void> {
  if (!(database instanceof Level)) {
    const counters = { gte: GATHERER_COUNTERS.key, lt: Buffer.concat([GATHERER_COUNTERS.key, Buffer.of(0)]) };
    const take = async (): Promise<RowsSnapshot> => {
      const taken: RowsSnapshot[] = [];
      await atRest(async () => void taken.push(await database.snapshot()));
      return taken[0]!;
    };
    return (directory) => copyRows(directory, take, [counters, ...GENERATION_TABLES]);
  }
  return async (directory) => {
    await makeCloneDirectory(database.directory, directory);
    await atRest(() => database.suspend(() => cloneDatabase(database.directory, directory)));
  };
}

/** Writes rows of a snapshot into a new LevelDB, page by page. */
async function copyRows(
  directory: string,
  take: () => Promise<RowsSnapshot>,
  ranges: readonly KeyRange[],
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    // G-81: the rows have sealed logins, but they are not for other users.
    await mkdir(directory, { mode: 0o700 });
    const snapshot = await take();
    try {
      await using level = await Level.open(directory, {
        kind: 'gatherer',
        writeBufferBytes: WRITE_BUFFER_BYTES,
      });
      for (const range of ranges)
        for await (const page of pagesOf(snapshot, range, PAGE)) await level.write(contentOf(page));
      await level.flush();
      return;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await rm(directory, { recursive: true, force: true });
    } finally {
      await snapshot.close();
    }
  }
}

function contentOf(page: readonly Row[]): RowChange[] {
  return page.flatMap(([key, value]) =>
    OWN_ROWS.some((own) => Buffer.compare(own, key) === 0) ? [] : [{ key, value }],
  );
}

/** Fills a database with the store of a directory, in place of what it has; see `GathererStore.restore`. */
export async function restoreStore(source: string, url: string): Promise<void> {
  await using level = await Level.open(source, { kind: 'gatherer', create: false });
  const seal = await LoginSeal.read(source);
  await using database = await openRows(url, { kind: 'gatherer', upgrade: true });
  const write = (changes: readonly RowChange[]): Promise<void> =>
    database.exclusive((rows) => rows.write(changes), { mayRepeat: true });
  // The process that has the store open is not its owner any more.
  await write([{ key: RESTORING_KEY, value: Buffer.of(1) }, { key: OWNER_KEY }]);
  for (const table of TABLES) await database.exclusive((rows) => rows.clear(table), { mayRepeat: true });
  if (seal !== undefined) await seal.keepIn(database);
  for (const table of TABLES)
    for await (const page of pagesOf(level, table, PAGE)) await write(contentOf(page));
  const former = await database.pageOfKeys(SYSTEM);
  const system = contentOf(await level.page(SYSTEM));
  await write([...former.map((key) => ({ key })), ...system, { key: RESTORING_KEY }]);
}
