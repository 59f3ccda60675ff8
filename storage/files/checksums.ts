// The file SUMS: size and CRC-32 of the files of a directory that is complete, so that a damaged or missing
// file is noticed.
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { errorCode, messageOf, StorageError } from '../../protocols/errors.js';
import { adviceFor } from './advice.js';
import { fileIdentity, rememberVerified, verifiedCrc, wasVerified } from './file-identity.js';
import { readFully } from './read-fully.js';
import { openRegular, readRegular } from './regular-file.js';
import { replaceContent } from './replace-file.js';

export const SUMS_FILE = 'SUMS';

/** Size in bytes and CRC-32 of a file. */
interface FileSum {
  readonly size: number;
  readonly crc32: number;
  /** CRC-32 of each {@link SUM_PIECE_BYTES} of a file that is read in parts while it is open. */
  readonly pieces?: readonly number[];
}

/** By their names in one directory. */
export type FileSums = Readonly<Record<string, FileSum>>;

/** Bytes of a piece with a sum of its own. */
export const SUM_PIECE_BYTES = 64 << 10;

/** Checks what a file says by hand: a thread that only reads databases loads no library for it. */
export function isFileSums(value: unknown): value is FileSums {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).every(
    ([name, sum]: [string, Partial<FileSums[string]> | null]) =>
      /^[^/]+$/.test(name) && typeof sum?.size === 'number' && typeof sum.crc32 === 'number',
  );
}

/** Bytes of one read. */
const PIECE_BYTES = 1 << 20;

export interface VerifySumsOptions {
  /** Read files that this process has verified before, too. Default false. */
  readonly always?: boolean;
  /** Called with the bytes of each read. */
  readonly onRead?: (bytes: number) => void;
}

/**
 * Writes the sums of files of a directory and flushes them. The caller flushes the files and the directory. On
 * a full disk there are no sums rather than a part of them, which would look like damage.
 */
export async function writeSums(
  directory: string,
  names: readonly string[],
  inPieces: readonly string[] = [],
): Promise<void> {
  const files: Record<string, FileSum> = {};
  for (const name of names) {
    const sum = await sumFile(join(directory, name));
    files[name] = inPieces.includes(name) ? { ...sum, pieces: await sumPieces(join(directory, name)) } : sum;
  }
  const sums = { crc32: crcOfSums(files), files };
  await replaceContent(join(directory, SUMS_FILE), `${JSON.stringify(sums, undefined, 1)}\n`);
}

/** Size and CRC-32 of a file that was only just written, or that this process has verified and does not read again. */
export async function sumFile(path: string): Promise<FileSum> {
  await using file = await openRegular(path);
  const identity = await fileIdentity(file);
  const known = verifiedCrc(identity);
  if (known !== undefined) return { size: (await file.stat()).size, crc32: known };
  const { size, crc } = await sumOf(file);
  rememberVerified(identity, crc);
  return { size, crc32: crc };
}

async function sumPieces(path: string): Promise<number[]> {
  await using file = await openRegular(path);
  const piece = Buffer.allocUnsafeSlow(SUM_PIECE_BYTES);
  const sums: number[] = [];
  for (;;) {
    const length = await readFully(file, piece, sums.length * SUM_PIECE_BYTES);
    if (length > 0) sums.push(crc32(piece.subarray(0, length)));
    if (length < SUM_PIECE_BYTES) return sums;
  }
}

/** The sums of the pieces of a file; undefined if the directory has none. */
export async function pieceSums(directory: string, name: string): Promise<PieceSums | undefined> {
  const sums = await readSums(directory);
  const sum = typeof sums === 'object' ? sums.files[name] : undefined;
  return sum?.pieces && new PieceSums(directory, name, sum.size, sum.pieces);
}

/** Compares what is read of a file that is open with the sums of its pieces. */
export class PieceSums {
  readonly #directory: string;
  readonly #name: string;
  readonly #size: number;
  readonly #sums: readonly number[];

  constructor(directory: string, name: string, size: number, sums: readonly number[]) {
    this.#directory = directory;
    this.#name = name;
    this.#size = size;
    this.#sums = sums;
  }

  /**
   * @param bytes from `position` on, a multiple of {@link SUM_PIECE_BYTES}; pieces that are not whole are not compared
   * @throws StorageError if they are not as they were written, with the sentence of {@link requireSums}
   */
  require(bytes: Uint8Array, position: number): void {
    for (let start = 0; start < bytes.length; start += SUM_PIECE_BYTES) {
      const piece = bytes.subarray(start, start + SUM_PIECE_BYTES);
      const isWhole = piece.length === SUM_PIECE_BYTES || position + start + piece.length === this.#size;
      if (isWhole && crc32(piece) !== this.#sums[(position + start) / SUM_PIECE_BYTES])
        throw damageOf(this.#directory, `${this.#name} ${OTHER_SUM}`);
    }
  }
}

/** CRC-32 of the sums themselves. */
function crcOfSums(files: FileSums): number {
  return crc32(JSON.stringify(files));
}

/**
 * Compares the files of a directory with its sums.
 *
 * @returns sentences about damage; none if the directory has no sums, because an earlier version wrote it
 */
export async function verifySums(directory: string, options: VerifySumsOptions = {}): Promise<string[]> {
  const sums = await readSums(directory);
  if (sums === undefined) return [];
  if (typeof sums === 'string') return [sums];
  const problems: string[] = [];
  for (const [name, expected] of Object.entries(sums.files)) {
    const problem = await compare(join(directory, name), expected, options);
    if (problem !== undefined) problems.push(`${name} ${problem}`);
  }
  return problems;
}

/** @throws StorageError if a file of a directory differs from its sums */
export async function requireSums(directory: string): Promise<void> {
  const [first] = await verifySums(directory);
  if (first !== undefined) throw damageOf(directory, first);
}

const OTHER_SUM = 'does not match its checksum';

/** The error of a file that was changed while it is open, with the sentence of {@link requireSums}. */
export function changedFile(path: string): StorageError {
  return damageOf(dirname(path), `${basename(path)} ${OTHER_SUM}`);
}

function damageOf(directory: string, problem: string): StorageError {
  return new StorageError(`${directory} is damaged: ${problem}; ${adviceFor(directory)}`);
}

/**
 * Returns a number of 32 bits of a directory's sums, above 0: equal numbers mean equal files. Undefined without
 * sums.
 */
export async function stampOf(directory: string): Promise<number | undefined> {
  const sums = await readSums(directory);
  if (sums === undefined || typeof sums === 'string') return undefined;
  return Math.max(1, crc32(JSON.stringify(Object.entries(sums.files).sort())));
}

async function readSums(directory: string): Promise<{ readonly files: FileSums } | string | undefined> {
  let text: string;
  try {
    text = (await readRegular(join(directory, SUMS_FILE))).toString('utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    return unreadable(join(directory, SUMS_FILE), SUMS_FILE, error);
  }
  try {
    const { crc32: own, files } = JSON.parse(text) as { crc32?: unknown; files?: unknown };
    // Earlier versions wrote no sum of the sums.
    if (isFileSums(files) && (own === undefined || own === crcOfSums(files))) return { files };
  } catch {
    // Not JSON. As for JSON of another form, its files cannot be compared.
  }
  return `${SUMS_FILE} is damaged`;
}

async function compare(
  path: string,
  expected: { readonly size: number; readonly crc32: number },
  { always = false, onRead }: VerifySumsOptions,
): Promise<string | undefined> {
  try {
    await using file = await openRegular(path);
    const identity = await fileIdentity(file);
    if (!always && wasVerified(identity)) return undefined;
    const { size, crc } = await sumOf(file, onRead);
    if (size !== expected.size) return `has ${size} bytes instead of ${expected.size}`;
    if (crc !== expected.crc32) return OTHER_SUM;
    rememberVerified(identity, crc);
    return undefined;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 'is missing';
    return unreadable(path, '', error);
  }
}

/** No reason to call a file damaged, and to replace it by one that is made again. */
const REFUSALS = new Set(['EACCES', 'EPERM', 'EMFILE', 'ENFILE', 'ENOMEM']);

/**
 * A sentence about a file that is there and cannot be read. @throws StorageError if this process may not read
 * it, or has no handle left
 */
function unreadable(path: string, name: string, error: unknown): string {
  if (REFUSALS.has(errorCode(error) ?? ''))
    throw new StorageError(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
  return `${name} cannot be read: ${messageOf(error)}`.trimStart();
}

async function sumOf(file: FileHandle, onRead?: (bytes: number) => void) {
  const piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
  let crc = 0;
  let size = 0;
  for (;;) {
    const { bytesRead } = await file.read(piece, 0, PIECE_BYTES, size);
    if (bytesRead === 0) return { size, crc };
    crc = crc32(piece.subarray(0, bytesRead), crc);
    size += bytesRead;
    onRead?.(bytesRead);
  }
}
