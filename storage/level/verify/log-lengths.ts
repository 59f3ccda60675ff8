// The file LENGTHS beside the logs of an open database: how far they were written. It tells a log that a crash
// cut from one that lost its end later, and from the file of another store. A seal (seal.ts) does so for a database that was closed.
import { open, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { errorCode, StorageError } from '../../../protocols/errors.js';
import { exists } from '../../files/exists.js';
import { hasFileList } from '../../files/file-list.js';
import { crcOfFile } from '../../files/file-sum.js';
import { removeNoted } from '../../files/note-change.js';
import { readRegular } from '../../files/regular-file.js';

/** LevelDB leaves files alone whose names are not its own. */
const LENGTHS_FILE = 'LENGTHS';
/** The content is padded to what a disk writes as a whole, so that it is never a mixture of two. */
const SECTOR_BYTES = 512;
const LOG_FILE = /^(\d+)\.log$/;
/** Bytes of a file whose checksum is recorded: the same file of another store begins otherwise. */
const BEGIN_BYTES = 1024;
/** Linux: another number after each start of the machine. */
const BOOT_FILE = '/proc/sys/kernel/random/boot_id';

interface Lengths {
  /** The start of the machine; '' if the system does not tell. */
  readonly boot: string;
  /** Number of the process that had the database open; absent in those of an earlier version. */
  readonly process?: number;
  /** Whether the directory around the database has a list of its files; absent in those of an earlier version. */
  readonly listed?: boolean;
  /** The MANIFEST in use, with the bytes that were written; LevelDB flushes it itself. */
  readonly manifest?: {
    readonly name: string;
    readonly inode: number;
    readonly written: number;
    readonly begin?: number;
  };
  readonly logs: readonly {
    readonly number: number;
    readonly inode: number;
    /** Bytes written. They are there as long as the machine has not stopped since. */
    readonly written: number;
    /** Bytes flushed. They are there in any case. */
    readonly flushed: number;
    /** CRC-32 of the first bytes that were written, at most {@link BEGIN_BYTES}; absent in those of an earlier version. */
    readonly begin?: number;
  }[];
}

let boot: Promise<string> | undefined;

function bootId(): Promise<string> {
  boot ??= readFile(BOOT_FILE, 'latin1').then(
    (text) => text.trim(),
    () => '',
  );
  return boot;
}

/** Sizes and inodes of the logs of a directory, before they are flushed or after they were written. */
export async function measureLogs(
  directory: string,
): Promise<{ readonly number: number; readonly inode: number; readonly size: number }[]> {
  const logs: { number: number; inode: number; size: number }[] = [];
  for (const name of await readdir(directory)) {
    const number = LOG_FILE.exec(name)?.[1];
    if (number === undefined) continue;
    try {
      const { ino, size } = await stat(join(directory, name));
      logs.push({ number: Number(number), inode: ino, size });
    } catch (error) {
      // A table has replaced the log.
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
  return logs;
}

async function measureManifest(directory: string): Promise<Pick<Lengths, 'manifest'>> {
  const name = (await readRegular(join(directory, 'CURRENT'))).toString('latin1').trimEnd();
  const { ino, size } = await stat(join(directory, name));
  return { manifest: { name, inode: ino, written: size, begin: await beginOf(join(directory, name), size) } };
}

function beginOf(path: string, written: number): Promise<number> {
  return crcOfFile(path, { to: Math.min(written, BEGIN_BYTES) });
}

const logName = (number: number): string => `${String(number).padStart(6, '0')}.log`;

/** Keeps the file LENGTHS of one open database. Its writes are not flushed: an older content claims less. */
export class LogLengths {
  readonly #directory: string;
  readonly #flushed = new Map<number, number>();
  #last: Promise<void> = Promise.resolve();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** @param flushed what {@link measureLogs} found before a flush that succeeded */
  noteFlushed(flushed: readonly { readonly number: number; readonly size: number }[]): void {
    for (const { number, size } of flushed)
      this.#flushed.set(number, Math.max(size, this.#flushed.get(number) ?? 0));
  }

  /**
   * Writes the present lengths, after those that are being written. A failure leaves an older content: the file only
   * adds to what the logs say themselves.
   */
  record(): Promise<void> {
    this.#last = this.#last.then(() => this.#record());
    return this.#last;
  }

  /** Resolves when nothing is being written. */
  settled(): Promise<void> {
    return this.#last;
  }

  async #record(): Promise<void> {
    try {
      const logs = await measureLogs(this.#directory);
      for (const number of this.#flushed.keys())
        if (!logs.some((log) => log.number === number)) this.#flushed.delete(number);
      const lengths: Lengths = {
        boot: await bootId(),
        process: process.pid,
        listed: await hasFileList(dirname(this.#directory)),
        ...(await measureManifest(this.#directory)),
        logs: await Promise.all(
          logs.map(async ({ number, inode, size }) => ({
            number,
            inode,
            written: size,
            flushed: this.#flushed.get(number) ?? 0,
            begin: await beginOf(join(this.#directory, logName(number)), size),
          })),
        ),
      };
      await writeLengths(this.#directory, lengths);
    } catch {
      // The disk is full, or the directory was removed, as that of a reader's clone.
    }
  }
}

async function writeLengths(directory: string, lengths: Lengths): Promise<void> {
  const text = JSON.stringify(lengths);
  const line = `${crc32(text).toString(16).padStart(8, '0')} ${text}`;
  if (line.length > SECTOR_BYTES) return;
  const path = join(directory, LENGTHS_FILE);
  // Not truncated: on a full disk the place of the former content is kept.
  await using file = await open(path, 'r+').catch(() => open(path, 'w'));
  await file.write(Buffer.from(line.padEnd(SECTOR_BYTES), 'latin1'), 0, SECTOR_BYTES, 0);
}

/** What an earlier process wrote about the logs; undefined if there is nothing readable. */
async function readLengths(directory: string): Promise<Lengths | undefined> {
  let text: string;
  try {
    text = (await readRegular(join(directory, LENGTHS_FILE))).toString('latin1');
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || error instanceof StorageError) return undefined;
    throw error;
  }
  const [, sum, json] = /^([0-9a-f]{8}) (\{.*\}) *$/.exec(text) ?? [];
  if (json === undefined || crc32(json).toString(16).padStart(8, '0') !== sum) return undefined;
  // Its checksum says that this is what was written.
  return text.length === SECTOR_BYTES ? (JSON.parse(json) as Lengths) : undefined;
}

/** What is wrong with the file LENGTHS itself; undefined if it can be read, or is missing. */
export async function lengthsProblem(directory: string): Promise<string | undefined> {
  if (!(await exists(join(directory, LENGTHS_FILE)))) return undefined;
  return (await readLengths(directory)) === undefined ? `${LENGTHS_FILE}: it is damaged` : undefined;
}

/** Whether the directory around a database that was not closed had a list of its files. */
export async function hadFileList(directory: string): Promise<boolean> {
  return (await readLengths(directory))?.listed === true;
}

/** The start of the machine, and the number of the process that had an unsealed database open; undefined if it is not known. */
export async function recordedProcess(directory: string): Promise<string | undefined> {
  const { boot = '', process } = (await readLengths(directory)) ?? {};
  return boot === '' || process === undefined ? undefined : `${boot} ${process}`;
}

export interface ShortenedOptions {
  /** The number of the oldest log in use. */
  readonly logNumber: number;
  /** The MANIFEST in use. */
  readonly manifest: string;
  /** Also compare a copy of the files, which may have been made while they grew. Default false. */
  readonly copies?: boolean;
  /**
   * With `copies`: the bytes of whole records of files whose last one is incomplete. An opening takes that for the trace
   * of a crash, of a full disk too, which may be recorded as written.
   */
  readonly whole?: ReadonlyMap<string, number>;
}

/**
 * Returns the files that are shorter than they were, since a crash did not lose the missing part, or that are those of
 * another store.
 */
export async function shortenedFiles(
  directory: string,
  { logNumber, manifest, copies = false, whole = new Map() }: ShortenedOptions,
): Promise<{ readonly file: string; readonly problem: string }[]> {
  const lengths = await readLengths(directory);
  if (lengths === undefined) return [];
  const logs = new Map((await measureLogs(directory)).map((log) => [log.number, log]));
  /** A sentence about a file that is shorter, or whose last whole record ends before. */
  const shortage = (file: string, size: number | undefined, expected: number): string | undefined => {
    if (size === undefined) return `it is missing, and ${LENGTHS_FILE} has it`;
    if (size < expected) return `it has ${size} bytes instead of ${expected}, which ${LENGTHS_FILE} has`;
    const end = whole.get(file) ?? size;
    return copies && end < expected
      ? `it is damaged after ${end} of ${expected} bytes, which ${LENGTHS_FILE} has`
      : undefined;
  };
  const isSameRun = lengths.boot !== '' && lengths.boot === (await bootId());
  const known = lengths.manifest;
  if (isSameRun && known !== undefined) {
    const other = await otherManifest(directory, manifest, known);
    if (other !== undefined) return copies || other.file !== LENGTHS_FILE ? [other] : [];
  }
  const found: { readonly file: string; readonly problem: string }[] = [];
  for (const { number, inode, written, flushed, begin } of lengths.logs) {
    const log = logs.get(number);
    // A copy is another file: it may have been made while the log grew.
    const expected = isSameRun && (copies || log === undefined || log.inode === inode) ? written : flushed;
    const file = logName(number);
    if (number < logNumber || expected === 0) continue;
    const isOther =
      begin !== undefined &&
      expected >= Math.min(written, BEGIN_BYTES) &&
      log !== undefined &&
      log.size >= Math.min(written, BEGIN_BYTES) &&
      (await beginOf(join(directory, file), written)) !== begin;
    const problem = isOther
      ? `it is not the one that ${LENGTHS_FILE} has`
      : shortage(file, log?.size, expected);
    if (problem !== undefined) found.push({ file, problem });
  }
  // An opening that was killed before it recorded the lengths.
  if (!isSameRun || known?.name !== manifest) return found;
  const { size, ino } = await stat(join(directory, manifest));
  const problem = copies || ino === known.inode ? shortage(manifest, size, known.written) : undefined;
  return problem === undefined ? found : [...found, { file: manifest, problem }];
}

/**
 * What is wrong if the lengths were recorded with another MANIFEST; undefined if they were not. LevelDB makes one only
 * when it opens a database, and the lengths are forgotten before.
 */
async function otherManifest(
  directory: string,
  manifest: string,
  { name, written, begin }: NonNullable<Lengths['manifest']>,
): Promise<{ readonly file: string; readonly problem: string } | undefined> {
  if (numberOf(manifest) < numberOf(name))
    return {
      file: 'CURRENT',
      problem: `it names ${manifest} instead of ${name}, which is in ${LENGTHS_FILE}`,
    };
  if (begin === undefined) return undefined;
  if (name !== manifest)
    return { file: LENGTHS_FILE, problem: `it is of ${name}, and CURRENT names ${manifest}` };
  const path = join(directory, manifest);
  if ((await stat(path)).size < Math.min(written, BEGIN_BYTES) || (await beginOf(path, written)) === begin)
    return undefined;
  return { file: LENGTHS_FILE, problem: `it is of another ${manifest}` };
}

function numberOf(manifest: string): number {
  return Number(/\d+$/.exec(manifest)?.[0] ?? 0);
}

/** The lengths that were recorded are forgotten before LevelDB makes another MANIFEST; the file keeps its place. */
export async function clearLengths(directory: string): Promise<void> {
  const lengths = await readLengths(directory);
  if (lengths !== undefined)
    await writeLengths(directory, { boot: '', listed: lengths.listed ?? false, logs: [] });
}

/** Forgets the lengths, before a log is shortened on purpose, or after the database was sealed. */
export async function forgetLengths(directory: string): Promise<void> {
  await removeNoted(join(directory, LENGTHS_FILE));
}
