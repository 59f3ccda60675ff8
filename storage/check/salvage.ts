// Copies every row of a damaged database that can still be read to a new one. LevelDB's own repair does not
// compare checksums, and loses the rows of a damaged log after the damage.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageError } from '../../protocols/errors.js';
import { readRegular } from '../files/regular-file.js';
import { type OpenDatabase, openDatabase } from '../level/open-database.js';
import { readLog } from '../level/verify/log-file.js';
import { type ManifestState, readManifest } from '../level/verify/manifest.js';
import { readBatch, readTable, type TableRow } from '../level/verify/table-file.js';

export interface SalvageOptions {
  /** Called after each file with the bytes read so far. */
  readonly onProgress?: (bytes: number) => void;
  readonly signal?: AbortSignal | undefined;
}

const FILE = /^(\d+)\.(log|ldb|sst)$/;
const BATCH_ROWS = 1000;
const BATCH_BYTES = 4 << 20;
const OPTIONS = { keyEncoding: 'view', valueEncoding: 'view' } as const;
/** Orders the versions of a row with the newest first. */
const NEWEST = 0xffff_ffff_ffff_ffffn;

type Rows = OpenDatabase<Uint8Array, Uint8Array>;

/**
 * Writes the newest version of each row to a new database in `target`, an empty directory.
 *
 * A row of a damaged block is lost, and an older version of it may take its place.
 *
 * @returns the number of rows
 */
export async function salvageDatabase(
  source: string,
  target: string,
  options: SalvageOptions = {},
): Promise<number> {
  const scratch = join(target, 'scratch');
  try {
    await using opened = closing(await openDatabase<Uint8Array, Uint8Array>(scratch, OPTIONS));
    await collectVersions(source, opened.rows, options);
    return await writeNewest(opened.rows, target, options.signal);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function closing(rows: Rows) {
  return { rows, [Symbol.asyncDispose]: () => rows.close() };
}

/** Writes each version of each row under the length of its key, the key, and its age. */
async function collectVersions(source: string, scratch: Rows, { onProgress, signal }: SalvageOptions) {
  const writer = new RowWriter(scratch);
  let done = 0;
  for (const name of await filesToRead(source)) {
    signal?.throwIfAborted();
    const bytes = await readRegular(join(source, name));
    for (const row of rowsOf(name, bytes)) await writer.put(versionKey(row), versionValue(row));
    done += bytes.length;
    onProgress?.(done);
  }
  await writer.flush();
}

/** The files of the database by its MANIFEST; all of them if no MANIFEST can be read. */
async function filesToRead(directory: string): Promise<string[]> {
  const names = await readdir(directory);
  const manifest = await newestManifest(directory, names);
  return names.filter((name) => {
    const [, digits, extension] = FILE.exec(name) ?? [];
    if (digits === undefined) return false;
    if (manifest === undefined) return true;
    // A table that the database no longer uses has rows that were deleted since.
    return extension === 'log' ? Number(digits) >= manifest.logNumber : manifest.tables.has(Number(digits));
  });
}

async function newestManifest(
  directory: string,
  names: readonly string[],
): Promise<ManifestState | undefined> {
  const manifests = names.filter((name) => /^MANIFEST-\d+$/.test(name)).sort();
  const name = manifests.at(-1);
  if (name === undefined) return undefined;
  const state = readManifest(await readRegular(join(directory, name)));
  const complete =
    state.problems.length === 0 &&
    [...state.tables.keys()].every((number) => names.some((n) => Number(FILE.exec(n)?.[1]) === number));
  return complete ? state : undefined;
}

function* rowsOf(name: string, bytes: Uint8Array): Generator<TableRow, void, undefined> {
  if (!name.endsWith('.log')) {
    yield* readTable(bytes);
    return;
  }
  for (const record of readLog(bytes).records) yield* readBatch(record);
}

function versionKey({ key, sequence }: TableRow): Uint8Array {
  const version = Buffer.alloc(4 + key.length + 8);
  version.writeUInt32BE(key.length);
  version.set(key, 4);
  version.writeBigUInt64BE(NEWEST - sequence, 4 + key.length);
  return version;
}

/** A first byte says whether the row was deleted. */
function versionValue({ value }: TableRow): Uint8Array {
  return value === undefined ? Uint8Array.of(0) : Buffer.concat([Uint8Array.of(1), value]);
}

async function writeNewest(scratch: Rows, target: string, signal?: AbortSignal): Promise<number> {
  await using opened = closing(await openDatabase<Uint8Array, Uint8Array>(target, OPTIONS));
  const writer = new RowWriter(opened.rows);
  let last: Buffer = Buffer.alloc(0);
  let count = 0;
  for await (const [version, value] of scratch.db.iterator()) {
    signal?.throwIfAborted();
    const key = Buffer.from(version.buffer, version.byteOffset + 4, version.length - 12);
    if (key.equals(last)) continue;
    last = key;
    if (value[0] === 0) continue;
    await writer.put(key, value.subarray(1));
    count++;
  }
  await writer.flush();
  return count;
}

/** Groups rows into batches. */
class RowWriter {
  readonly #rows: Rows;
  #batch: { readonly type: 'put'; readonly key: Uint8Array; readonly value: Uint8Array }[] = [];
  #bytes = 0;

  constructor(rows: Rows) {
    this.#rows = rows;
  }

  async put(key: Uint8Array, value: Uint8Array): Promise<void> {
    this.#batch.push({ type: 'put', key, value });
    this.#bytes += key.length + value.length;
    if (this.#batch.length >= BATCH_ROWS || this.#bytes >= BATCH_BYTES) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.#rows.damage !== undefined) throw new StorageError(this.#rows.damage.message);
    await this.#rows.db.batch(this.#batch, { sync: true });
    this.#batch = [];
    this.#bytes = 0;
  }
}
