// Looks for damage in a LevelDB directory without opening it: LevelDB deletes every file that it does not know,
// and creates an empty database where CURRENT is missing.

import type {} from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { errorCode, messageOf } from '../../../protocols/errors.js';
import type { FileSums } from '../../files/checksums.js';
import { ifPresent } from '../../files/exists.js';
import { fileIdentity, rememberVerified, verifiedCrc, wasVerified } from '../../files/file-identity.js';
import { noteChange } from '../../files/note-change.js';
import { openRegular, readRegular } from '../../files/regular-file.js';
import { readLog } from './log-file.js';
import { forgetLengths, shortenedFiles } from './log-lengths.js';
import { type ManifestState, readManifest } from './manifest.js';
import { matchesSeal, readSeal } from './seal.js';
import { verifyTable } from './table-file.js';

/** A sentence about a file of a database. */
export interface DatabaseProblem {
  /** Name of the file within the directory. */
  readonly file: string;
  readonly problem: string;
}

export interface DatabaseReport {
  /** False if the directory has no database, or does not exist. */
  readonly exists: boolean;
  readonly problems: readonly DatabaseProblem[];
  /**
   * The whole part of each log that a power failure cut, in bytes. LevelDB would skip the missing part and
   * apply later batches: the rest must be cut off before the database is opened.
   */
  readonly cuts: ReadonlyMap<string, number>;
  /** Tables that `maxBytes` left out, with their sizes. */
  readonly unread: ReadonlyMap<string, number>;
  /** Bytes of tables and logs. */
  readonly bytes: number;
}

export interface InspectOptions {
  /** Bytes of tables that are read. Default: no limit. */
  readonly maxBytes?: number;
  /** Read tables that this process has verified before, too. Default false. */
  readonly always?: boolean;
  /** Compare the lengths of logs also in a copy, which may have been made while they grew. Default false. */
  readonly copies?: boolean;
  /** Called after each file with the bytes read so far and in all. */
  readonly onProgress?: (done: number, total: number) => void;
  readonly signal?: AbortSignal | undefined;
}

const DATABASE_FILE = /^(?:CURRENT|MANIFEST-\d+|\d+\.(?:log|ldb|sst))$/;
/** Sequence and count of a batch. */
const BATCH_HEAD_BYTES = 12;
const TABLE_FILE = /^(\d+)\.(?:ldb|sst)$/;
const LOG_FILE = /^(\d+)\.log$/;
const MANIFEST_FILE = /^MANIFEST-\d+$/;
const KEY_FILE = 'LOGIN-KEY';
const NOT_AS_CLOSED = 'it is not as it was when the store was closed';
/** All that a process leaves that was killed while it created a database: no row was written yet. */
const UNFINISHED = 'MANIFEST-000001';

/**
 * Compares all files of a database that no process has open with each other and with their checksums. Changes
 * nothing.
 *
 * @throws system errors if files cannot be read for another reason than that they are missing
 */
export async function inspectDatabase(
  directory: string,
  options: InspectOptions = {},
): Promise<DatabaseReport> {
  const entries = ((await ifPresent(readdir(directory, { withFileTypes: true }))) ?? []).filter(({ name }) =>
    DATABASE_FILE.test(name),
  );
  const names = entries.map(({ name }) => name);
  if (names.every((name) => name === UNFINISHED)) {
    return { exists: false, problems: [], cuts: new Map(), unread: new Map(), bytes: 0 };
  }
  const inspection = new Inspection(directory, names, options);
  // LevelDB would wait at a FIFO. The tables of a clone may be symbolic links.
  for (const entry of entries)
    if (!entry.isFile() && !entry.isSymbolicLink()) inspection.add(entry.name, 'it is not a regular file');
  await inspection.run();
  return inspection;
}

class Inspection implements DatabaseReport {
  readonly exists = true;
  readonly problems: DatabaseProblem[] = [];
  readonly cuts = new Map<string, number>();
  readonly unread = new Map<string, number>();
  bytes = 0;
  /** The MANIFEST in use. */
  #current = '';
  /** Of the last closing. */
  #sealed: FileSums = {};
  readonly #directory: string;
  readonly #names: readonly string[];
  readonly #options: InspectOptions;

  constructor(directory: string, names: readonly string[], options: InspectOptions) {
    this.#directory = directory;
    this.#names = names;
    this.#options = options;
  }

  async run(): Promise<void> {
    const manifest = await this.#manifest();
    if (manifest === undefined) return;
    await this.#checkLogs(manifest);
    await this.#checkTables(manifest);
  }

  async #manifest(): Promise<ManifestState | undefined> {
    if (!this.#names.includes('CURRENT')) {
      this.add('CURRENT', 'it is missing');
      return undefined;
    }
    const name = (await this.#read('CURRENT')).toString('latin1');
    if (!/^MANIFEST-\d+\n$/.test(name)) {
      this.add('CURRENT', name === '' ? 'it is empty' : 'it does not name a MANIFEST');
      return undefined;
    }
    const manifest = name.trimEnd();
    this.#current = manifest;
    const seal = await readSeal(this.#directory).catch((error: unknown) => {
      this.#unreadable('SEAL', error);
      return undefined;
    });
    if (!this.#names.includes(manifest)) {
      const isOther = seal !== undefined && seal.manifest !== manifest && this.#names.includes(seal.manifest);
      const others = this.#names.filter((name) => MANIFEST_FILE.test(name));
      if (isOther) this.add('CURRENT', `it names ${manifest} instead of ${seal.manifest}`);
      else if (others.length > 0)
        this.add('CURRENT', `it names ${manifest}, which is missing, and ${others.join(', ')} is there`);
      else this.add(manifest, 'it is missing');
      return undefined;
    }
    const bytes = await this.#read(manifest);
    const state = readManifest(bytes);
    for (const problem of state.problems) this.add(manifest, problem);
    if (seal?.manifest !== manifest) return state;
    this.#sealed = seal.files;
    for (const sealed of Object.keys(seal.files)) {
      // They are read with the other tables.
      if (TABLE_FILE.test(sealed)) continue;
      if (sealed === KEY_FILE || this.#names.includes(sealed)) {
        const content = sealed === KEY_FILE ? await this.#readKey() : await this.#read(sealed);
        if (content !== undefined && !matchesSeal(seal, sealed, content)) this.add(sealed, NOT_AS_CLOSED);
      } else {
        // A log before the MANIFEST's is one that LevelDB may delete at any time.
        const number = Number(LOG_FILE.exec(sealed)?.[1] ?? 0);
        if (number >= state.logNumber && number > 0) this.add(sealed, 'it is missing');
      }
    }
    return state;
  }

  /** The key to the logins of a Gatherer's store. */
  async #readKey(): Promise<Buffer | undefined> {
    const key = await ifPresent(readRegular(join(this.#directory, KEY_FILE))).catch((error: unknown) => {
      this.#unreadable(KEY_FILE, error);
      return undefined;
    });
    if (key === undefined) this.add(KEY_FILE, 'it is missing');
    return key;
  }

  /** LevelDB skips damaged records of a log without an error, and does not miss a log that is gone. */
  async #checkLogs({ logNumber, opened, torn: tornManifest }: ManifestState): Promise<void> {
    const logs = this.#names.flatMap((name) => {
      const number = LOG_FILE.exec(name)?.[1];
      return number !== undefined && Number(number) >= logNumber ? [{ name, number: Number(number) }] : [];
    });
    if (logNumber > 0 && !logs.some(({ number }) => number === logNumber)) {
      this.add(fileName(logNumber, 'log'), 'it is missing');
    }
    const whole = new Map<string, number>();
    if (tornManifest !== undefined) whole.set(this.#current, tornManifest);
    let next: bigint | undefined;
    let missing = false;
    for (const { name, number } of logs.sort((a, b) => a.number - b.number)) {
      const bytes = await this.#read(name);
      this.bytes += bytes.length;
      const { records, problems, torn, end } = readLog(bytes);
      for (const problem of problems) this.add(name, problem);
      if (torn) whole.set(name, end);
      const [first] = records;
      // The log of another store has whole records, too.
      const begin = number === opened?.logNumber ? BigInt(opened.sequence) + 1n : undefined;
      if (begin !== undefined && first !== undefined && sequenceOf(first) !== begin)
        this.add(name, `it begins with change ${sequenceOf(first)} instead of ${begin}`);
      // Batches are numbered without gaps. The log before this one was not flushed as far as this one.
      if (first !== undefined && next !== undefined && sequenceOf(first) > next) missing = true;
      if (missing) this.cuts.set(name, 0);
      else if (torn && end < bytes.length) this.cuts.set(name, end);
      missing ||= torn || first === undefined;
      const last = records.at(-1);
      if (last !== undefined) next = sequenceOf(last) + countOf(last);
    }
    const { copies = false } = this.#options;
    const options = { logNumber, manifest: this.#current, copies, whole };
    for (const { file, problem } of await shortenedFiles(this.#directory, options)) this.add(file, problem);
  }

  async #checkTables({ tables }: ManifestState): Promise<void> {
    const files = new Map(
      this.#names.flatMap((name) => {
        const number = TABLE_FILE.exec(name)?.[1];
        return number === undefined ? [] : [[Number(number), name] as const];
      }),
    );
    const total = [...tables.values()].reduce((sum, size) => sum + size, this.bytes);
    const { maxBytes = Number.POSITIVE_INFINITY, always = false, onProgress, signal } = this.#options;
    for (const [number, size] of tables) {
      signal?.throwIfAborted();
      const name = files.get(number);
      if (name === undefined) this.add(fileName(number, 'ldb'), 'it is missing');
      else if (this.bytes + size > maxBytes) this.unread.set(name, size);
      else {
        try {
          const problems = await checkTable(join(this.#directory, name), {
            size,
            always,
            crc: this.#sealed[name]?.crc32,
          });
          for (const problem of problems) this.add(name, problem);
        } catch (error) {
          this.#unreadable(name, error);
        }
        this.bytes += size;
        onProgress?.(this.bytes, total);
      }
    }
  }

  /** A file that cannot be read is a problem like any other: nothing is opened then. */
  async #read(name: string): Promise<Buffer> {
    try {
      return await readRegular(join(this.#directory, name));
    } catch (error) {
      this.#unreadable(name, error);
      return Buffer.alloc(0);
    }
  }

  #unreadable(name: string, error: unknown): void {
    this.add(name, `it cannot be read: ${messageOf(error)}`);
  }

  add(file: string, problem: string): void {
    if (!this.problems.some((other) => other.file === file)) this.problems.push({ file, problem });
  }
}

/** The number of a batch's first change. */
function sequenceOf(batch: Uint8Array): bigint {
  return batch.length < BATCH_HEAD_BYTES ? 0n : Buffer.from(batch).readBigUInt64LE(0);
}

function countOf(batch: Uint8Array): bigint {
  return batch.length < BATCH_HEAD_BYTES ? 0n : BigInt(Buffer.from(batch).readUInt32LE(8));
}

/**
 * Cuts off what follows a gap in the logs.
 *
 * @param cuts see {@link DatabaseReport.cuts}
 */
export async function cutLogs(directory: string, cuts: ReadonlyMap<string, number>): Promise<void> {
  if (cuts.size > 0) await forgetLengths(directory);
  // The last one first: a crash in between leaves the same gap.
  for (const [name, length] of [...cuts].reverse()) {
    await noteChange(join(directory, name));
    await using file = await open(join(directory, name), 'r+');
    await file.truncate(length);
    await file.sync();
  }
}

function fileName(number: number, extension: string): string {
  return `${String(number).padStart(6, '0')}.${extension}`;
}

/**
 * Reads the tables that {@link inspectDatabase} left out, while the database is in use. A table that LevelDB
 * has deleted since is skipped.
 *
 * @returns the first damage; undefined if everything is sound
 */
export async function inspectTables(
  directory: string,
  tables: ReadonlyMap<string, number>,
  signal: AbortSignal,
): Promise<DatabaseProblem | undefined> {
  for (const [file, size] of tables) {
    if (signal.aborted) return undefined;
    try {
      const [problem] = await checkTable(join(directory, file), { size });
      if (problem !== undefined) return { file, problem };
    } catch (error) {
      if (errorCode(error) === 'ENOENT') continue;
      return { file, problem: messageOf(error) };
    }
  }
  return undefined;
}

interface TableCheck {
  /** Expected size in bytes, from the MANIFEST. */
  readonly size: number;
  /** Read it even if this process has verified it before. */
  readonly always?: boolean;
  /** CRC-32 of the whole file, from the seal: the file of another database is sound in itself. */
  readonly crc?: number | undefined;
}

/**
 * Compares a table with its expected size and its checksums. Returns sentences about damage. @throws system
 * errors, e.g. ENOENT
 */
async function checkTable(path: string, { size, always = false, crc }: TableCheck): Promise<string[]> {
  await using file = await openRegular(path);
  const identity = await fileIdentity(file);
  const known = verifiedCrc(identity);
  if (!always && (known === undefined ? wasVerified(identity) : known === (crc ?? known))) return [];
  const bytes = await file.readFile();
  if (bytes.length !== size) return [`it has ${bytes.length} bytes instead of ${size}`];
  const problems = verifyTable(bytes);
  if (problems.length > 0) return problems;
  const sum = crc32(bytes);
  if (crc !== undefined && crc !== sum) return [NOT_AS_CLOSED];
  rememberVerified(identity, sum);
  return [];
}
