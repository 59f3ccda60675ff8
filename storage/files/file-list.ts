// The file FILES: every file of a data directory with its size and checksum, sealed when the program that owns the
// directory ends, so that a file is noticed that is missing, changed or added. While the program runs it notes what it
// makes, replaces and removes in lines at the end, so that the list is also true after kill -9.
//
//     harvest-files 1 closed                      or `active`: its program notes its changes; or `opened`: others do not
//     CRC-32 size mtime-in-ns inode "name"        a line for each file, sorted by name
//     sum CRC-32                                  of the lines between
//     n bytes bytes                               at least that many has the file: it is twice there, and changed in place
//     b boot process CRC-32                       the program that has it open; each line has a checksum from here on
//     ? CRC-32 size mtime inode "name" CRC-32     the file is about to become so
//     + CRC-32 size mtime inode "name" CRC-32     it was replaced
//     = CRC-32 size mtime inode "name" CRC-32     it was found
//     - "name" CRC-32                             it was removed
import { type FileHandle, open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { errorCode, messageOf, StorageError } from '../../protocols/errors.js';
import { LIST_FILE } from './file-kinds.js';
import { Pace } from './pace.js';
import { openRegular, readRegular } from './regular-file.js';
import { syncPath } from './sync-path.js';
import { writeAndRename } from './write-and-rename.js';

/**
 * `closed`: no program has the directory; `active`: one has, or it was killed; `opened`: one has that notes nothing.
 * Of the same length in the file.
 */
export type ListState = 'closed' | 'opened' | 'active';

export interface ListedFile {
  /** Bytes. */
  readonly size: number;
  /** Undefined for a file that was too large to be read, or not yet complete. */
  readonly crc32: number | undefined;
  /**
   * Modification time in nanoseconds and inode: a file in which both are the same need not be read again. '0' for a
   * file of which only the name is known.
   */
  readonly mtimeNs: string;
  readonly inode: string;
}

/** By their paths within the directory, with `/`. */
export type ListedFiles = ReadonlyMap<string, ListedFile>;

/** What a file system says about a file. */
export type FileFacts = Omit<ListedFile, 'crc32'>;

/** The files of a directory, by their paths within it, with `/`. */
export type FoundFiles = ReadonlyMap<string, FileFacts & { readonly device: string }>;

export interface FileList {
  readonly state: ListState;
  readonly files: ListedFiles;
  /** What the owner noted; undefined unless the state is `active`. */
  readonly notes?: ListNotes | undefined;
}

/** The lines at the end of an open list. */
export interface ListNotes {
  /** Whether the machine has not started again since: then they are complete, as far as they are there. */
  readonly sameBoot: boolean;
  /** Files that were replaced since the list was opened. */
  readonly replaced: ReadonlySet<string>;
  /** What they were about to become. */
  readonly pending: ListedFiles;
  /** The start of the machine, and the number of the process that wrote them. */
  readonly process: string;
  /** Whether lines at the end are missing. */
  readonly torn: boolean;
}

const HEAD = 'harvest-files 1 ';
const HEADS: Readonly<Record<ListState, string>> = {
  closed: `${HEAD}closed\n`,
  opened: `${HEAD}opened\n`,
  active: `${HEAD}active\n`,
};
const HEAD_BYTES = HEADS.closed.length;
const LINE = /^(-|[0-9a-f]{8}) (\d+) (\d+) (\d+) (".*")$/;
const NOTE = /^([b?+=-]) (.*) ([0-9a-f]{8})$/;
/** Of a list that this program opened. */
const LENGTH = /^n (\d{12}) \1\n$/;
const LENGTH_BYTES = 28;
/** Times that a note is tried while the list is replaced. */
const MAX_TRIES = 20;
const lengthLine = (bytes: number): string =>
  `n ${String(bytes).padStart(12, '0')} ${String(bytes).padStart(12, '0')}\n`;
/** Linux: another text after each start of the machine. */
const BOOT_FILE = '/proc/sys/kernel/random/boot_id';

let boot: Promise<string> | undefined;

function bootId(): Promise<string> {
  boot ??= readFile(BOOT_FILE, 'latin1').then(
    (text) => text.trim(),
    () => 'unknown',
  );
  return boot;
}

/** Reads the list of a directory; undefined if it has none, a clause if it is damaged. */
export async function readFileList(directory: string): Promise<FileList | string | undefined> {
  let text: string;
  try {
    text = (await readRegular(join(directory, LIST_FILE))).toString('utf8');
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? undefined : `cannot be read: ${messageOf(error)}`;
  }
  return parseFileList(text, await bootId()) ?? 'is damaged';
}

function parseFileList(text: string, currentBoot: string): FileList | undefined {
  const state = stateOf(text);
  const end = text.indexOf('\nsum ', HEAD_BYTES - 1) + 1;
  if (state === undefined || end === 0) return undefined;
  const body = text.slice(HEAD_BYTES, end);
  const sum = sumLine(body);
  if (text.slice(end, end + sum.length) !== sum) return undefined;
  const files = new Map<string, ListedFile>();
  for (const line of body.split('\n').slice(0, -1)) {
    const [name, file] = parseLine(line);
    files.set(name, file);
  }
  const notes = text.slice(end + sum.length);
  if (state === 'closed') return notes === '' ? { state, files } : undefined;
  const read = new NoteReader(files, currentBoot);
  if (notes !== '') {
    const [, bytes] = LENGTH.exec(notes.slice(0, LENGTH_BYTES)) ?? [];
    if (bytes === undefined || !read.push(notes.slice(LENGTH_BYTES))) return undefined;
    read.torn ||= Buffer.byteLength(text) < Number(bytes);
  }
  if (state === 'opened') return { state, files };
  return read.isOwned ? { state, files, notes: read } : undefined;
}

function parseLine(line: string): [string, ListedFile] {
  const [, sum = '-', size, mtimeNs = '', inode = '', name = '""'] = LINE.exec(line) ?? [];
  const crc = sum === '-' ? undefined : Number.parseInt(sum, 16);
  return [JSON.parse(name) as string, { size: Number(size), crc32: crc, mtimeNs, inode }];
}

/** Applies the notes at the end of a list to its files. */
export class NoteReader implements ListNotes {
  readonly replaced = new Set<string>();
  readonly pending = new Map<string, ListedFile>();
  /** Files whose lines have changed since the caller cleared it. */
  readonly changed = new Set<string>();
  readonly #files: Map<string, ListedFile>;
  readonly #currentBoot: string;
  #boot = '';
  process = '';
  torn = false;

  constructor(files: Map<string, ListedFile>, currentBoot = '') {
    this.#files = files;
    this.#currentBoot = currentBoot;
  }

  get isOwned(): boolean {
    return this.#boot !== '';
  }

  get sameBoot(): boolean {
    return this.#boot === this.#currentBoot;
  }

  /** @returns false if a line is damaged @param notes whole lines, except perhaps for the last one */
  push(notes: string): boolean {
    const lines = notes.split('\n');
    this.torn = lines.pop() !== '';
    return lines.every((line) => this.#apply(line));
  }

  #apply(line: string): boolean {
    const [, kind, rest = '', sum = ''] = NOTE.exec(line) ?? [];
    if (kind === undefined || hex(crc32(`${kind} ${rest}`)) !== sum) return false;
    if (kind === 'b') {
      this.process = rest;
      this.#boot = rest.split(' ')[0] ?? '';
    } else if (kind === '-') {
      const name = JSON.parse(rest) as string;
      if (this.#files.delete(name)) this.changed.add(name);
      this.pending.delete(name);
    } else {
      const [name, file] = parseLine(rest);
      if (kind === '?') {
        this.pending.set(name, file);
        return true;
      }
      if (!isEqual(this.#files.get(name), file)) this.changed.add(name);
      this.#files.set(name, file);
      this.pending.delete(name);
      if (kind === '+') this.replaced.add(name);
    }
    return true;
  }
}

/** Whether a file is the one that was listed, and was not written since. */
export function isUntouched(listed: FileFacts, file: FileFacts): boolean {
  return listed.size === file.size && listed.mtimeNs === file.mtimeNs && listed.inode === file.inode;
}

/** Whether two lines say the same. */
export function isEqual(a: ListedFile | undefined, b: ListedFile | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.crc32 === b.crc32 && isUntouched(a, b);
}

function stateOf(text: string): ListState | undefined {
  const head = text.slice(0, HEAD_BYTES);
  const states: ListState[] = ['closed', 'opened', 'active'];
  return states.find((state) => HEADS[state] === head);
}

const sumLine = (body: string): string => `sum ${hex(crc32(body))}\n`;
const hex = (crc: number): string => crc.toString(16).padStart(8, '0');

function formatLine(name: string, { size, crc32: crc, mtimeNs, inode }: ListedFile): string {
  return `${crc === undefined ? '-' : hex(crc)} ${size} ${mtimeNs} ${inode} ${JSON.stringify(name)}`;
}

const noteLine = (note: string): string => `${note} ${hex(crc32(note))}\n`;

/** A line at the end of an open list: a file is about to change, was replaced, was found, or was removed. */
export function formatNote(kind: '?' | '+' | '=', name: string, file: ListedFile): string {
  return noteLine(`${kind} ${formatLine(name, file)}`);
}

/** The line of a file that was removed. */
export const formatRemoval = (name: string): string => noteLine(`- ${JSON.stringify(name)}`);

/**
 * Replaces the list of a directory; an active one belongs to this process then.
 *
 * @returns its bytes, and where its notes begin
 * @throws system errors; the former list stays then
 */
export async function writeFileList(
  directory: string,
  { state, files }: Pick<FileList, 'state' | 'files'>,
): Promise<{ readonly size: number; readonly notes: number }> {
  const lines = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  const pace = new Pace();
  const parts: string[] = [];
  for (const [name, file] of lines) {
    if (pace.isOver) await pace.yield();
    parts.push(`${formatLine(name, file)}\n`);
  }
  const body = parts.join('');
  const sealed = `${HEADS[state]}${body}${sumLine(body)}`;
  const owner = state === 'active' ? noteLine(`b ${await bootId()} ${process.pid}`) : '';
  const bytes = Buffer.byteLength(sealed);
  const size = bytes + LENGTH_BYTES + owner.length;
  await writeAndRename(
    join(directory, LIST_FILE),
    state === 'active' ? `${sealed}${lengthLine(size)}${owner}` : sealed,
  );
  await syncPath(directory);
  return { size, notes: bytes };
}

/**
 * Adds notes to an open list. On a full disk the list becomes one that others have changed.
 *
 * @param start where its notes begin; searched if it is not known
 */
export async function appendNotes(directory: string, notes: string, start?: number): Promise<void> {
  const path = join(directory, LIST_FILE);
  try {
    // The owner may replace the list meanwhile, and does not know of these notes then.
    for (let tries = 0; !(await hasAppended(path, notes, start)); tries++)
      if (tries === MAX_TRIES) throw new StorageError(`${path} is replaced again and again`);
  } catch {
    await writeHead(directory, 'opened').catch(() => undefined);
  }
}

/** Appends notes; false if the list was replaced before they were in it. @throws system errors */
async function hasAppended(path: string, notes: string, start: number | undefined): Promise<boolean> {
  await using file = await openRegular(path, 'r+');
  await using end = await open(path, 'a');
  const { ino } = await end.stat();
  if ((await file.stat()).ino !== ino) return false;
  const position = start ?? (await notesStart(file, path));
  await end.appendFile(notes);
  // After the lines, so that a process that ends between has more of them.
  const { size } = await file.stat();
  await file.write(lengthLine(size), position, 'latin1');
  return (await stat(path)).ino === ino;
}

async function notesStart(file: FileHandle, path: string): Promise<number> {
  const bytes = await file.readFile();
  const sum = bytes.indexOf('\nsum ') + 1;
  const start = sum + sumLine('').length;
  if (sum === 0 || !LENGTH.test(bytes.toString('latin1', start, start + LENGTH_BYTES)))
    throw new StorageError(`${path} is damaged`);
  return start;
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
  const state = await stateInFile(directory);
  if (state === 'closed') await writeHead(directory, 'opened');
  else if (state === 'active' && !(await isOwn(directory))) await writeHead(directory, 'opened');
}

/** Whether this process has the list open, and notes its changes. */
async function isOwn(directory: string): Promise<boolean> {
  const text = await readRegular(join(directory, LIST_FILE)).then(String, () => '');
  const owner = /\nb (\S+) (\d+) [0-9a-f]{8}\n/.exec(text);
  return owner?.[1] === (await bootId()) && Number(owner[2]) === process.pid;
}

async function writeHead(directory: string, state: ListState): Promise<void> {
  await using file = await open(join(directory, LIST_FILE), 'r+');
  await file.write(Buffer.from(HEADS[state], 'latin1'), 0, HEAD_BYTES, 0);
  await file.datasync();
}

/** What the head of a list says. */
export async function stateInFile(directory: string): Promise<ListState | 'damaged' | 'absent'> {
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
