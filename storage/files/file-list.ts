// The file FILES: every file of a data directory with its size and checksum, sealed when the program that owns the
// directory ends, so that a file is noticed that is missing, changed or added. While a program runs, and after one
// that was killed, the list is open: it then names what never changes.
//
//     harvest-files 1 closed
//     CRC-32 size mtime-in-ns inode "name"        a line for each file, sorted by name
//     sum CRC-32                                  of the lines between
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { errorCode, messageOf } from '../../protocols/errors.js';
import { openRegular, readRegular } from './regular-file.js';
import { replaceContent } from './replace-file.js';
import { syncPath } from './sync-path.js';

export const LIST_FILE = 'FILES';

/** `closed`: no program has the directory; `opened`: one has, or it was killed. Of the same length in the file. */
export type ListState = 'closed' | 'opened';

export interface ListedFile {
  /** Bytes. */
  readonly size: number;
  /** Undefined for a file that was too large to be read when the program ended; it has checksums of its own. */
  readonly crc32: number | undefined;
  /** Modification time in nanoseconds and inode: a file in which both are the same need not be read again. */
  readonly mtimeNs: string;
  readonly inode: string;
}

/** By their paths within the directory, with `/`. */
export type ListedFiles = ReadonlyMap<string, ListedFile>;

export interface FileList {
  readonly state: ListState;
  readonly files: ListedFiles;
}

const HEADS: Readonly<Record<ListState, string>> = {
  closed: 'harvest-files 1 closed\n',
  opened: 'harvest-files 1 opened\n',
};
const HEAD_BYTES = HEADS.closed.length;
const LINE = /^(-|[0-9a-f]{8}) (\d+) (\d+) (\d+) (".*")$/;

/** Reads the list of a directory; undefined if it has none, a clause if it is damaged. */
export async function readFileList(directory: string): Promise<FileList | string | undefined> {
  let text: string;
  try {
    text = (await readRegular(join(directory, LIST_FILE))).toString('utf8');
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? undefined : `cannot be read: ${messageOf(error)}`;
  }
  return parseFileList(text) ?? 'is damaged';
}

function parseFileList(text: string): FileList | undefined {
  const state = stateOf(text);
  const end = text.lastIndexOf('\nsum ') + 1;
  if (state === undefined || end === 0) return undefined;
  const body = text.slice(HEAD_BYTES, end);
  if (text.slice(end) !== sumLine(body)) return undefined;
  const files = new Map<string, ListedFile>();
  for (const line of body.split('\n').slice(0, -1)) {
    const [, sum = '-', size, mtimeNs = '', inode = '', name = '""'] = LINE.exec(line) ?? [];
    const crc = sum === '-' ? undefined : Number.parseInt(sum, 16);
    files.set(JSON.parse(name) as string, { size: Number(size), crc32: crc, mtimeNs, inode });
  }
  return { state, files };
}

function stateOf(text: string): ListState | undefined {
  const head = text.slice(0, HEAD_BYTES);
  return head === HEADS.closed ? 'closed' : head === HEADS.opened ? 'opened' : undefined;
}

const sumLine = (body: string): string => `sum ${hex(crc32(body))}\n`;
const hex = (crc: number): string => crc.toString(16).padStart(8, '0');

/** Replaces the list of a directory. @throws system errors; the former list stays then */
export async function writeFileList(directory: string, { state, files }: FileList): Promise<void> {
  const lines = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  const body = lines
    .map(([name, { size, crc32: crc, mtimeNs, inode }]) => {
      const sum = crc === undefined ? '-' : hex(crc);
      return `${sum} ${size} ${mtimeNs} ${inode} ${JSON.stringify(name)}\n`;
    })
    .join('');
  await replaceContent(join(directory, LIST_FILE), `${HEADS[state]}${body}${sumLine(body)}`);
  await syncPath(directory);
}

/** Whether a directory has a list, damaged or not. */
export async function hasFileList(directory: string): Promise<boolean> {
  return (await stateInFile(directory)) !== 'absent';
}

/**
 * Notes that the files of a directory change from now on, if it has a list that says otherwise. In place, so that
 * a full disk does not prevent it.
 *
 * @throws system errors
 */
export async function openFileList(directory: string): Promise<void> {
  if ((await stateInFile(directory)) !== 'closed') return;
  await using file = await open(join(directory, LIST_FILE), 'r+');
  await file.write(Buffer.from(HEADS.opened, 'latin1'), 0, HEAD_BYTES, 0);
  await file.datasync();
}

async function stateInFile(directory: string): Promise<ListState | 'damaged' | 'absent'> {
  let file: FileHandle;
  try {
    file = await openRegular(join(directory, LIST_FILE));
  } catch (error) {
    return errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR' ? 'absent' : 'damaged';
  }
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return stateOf(buffer.toString('latin1', 0, bytesRead)) ?? 'damaged';
  } finally {
    await file.close();
  }
}
