// `harvest store check`: reads everything that a store has on the disk and compares it.

import { lstat, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode, messageOf, StorageError } from '../../protocols/errors.js';
import { SUMS_FILE, verifySums } from '../files/checksums.js';
import { LIST_FILE } from '../files/file-kinds.js';
import { hasFileList, readFileList } from '../files/file-list.js';
import { indexProblem } from '../files/index-state.js';
import { ADDED, compareFiles, filesOf, MISSING } from '../files/list-files.js';
import { readRegular } from '../files/regular-file.js';
import { cloneDatabase } from '../generations/clone-database.js';
import {
  generationNumbers,
  NO_NUMBER,
  numberIn,
  POINTER_FILE,
  pointerAdvice,
} from '../generations/directory.js';
import { LoginSeal } from '../generations/login-seal.js';
import { Level } from '../level/level.js';
import { requireClosed } from '../level/open-database.js';
import { inspectDatabase } from '../level/verify/inspect.js';
import { readLiveFiles } from '../level/verify/live-files.js';
import { lengthsProblem } from '../level/verify/log-lengths.js';
import { readSeal } from '../level/verify/seal.js';
import type { StoreKind } from '../rows/contract.js';
import { checkBrokerRows } from './broker-rows.js';
import { type FoundStore, findStores, GENERATIONS } from './find-stores.js';
import { checkGathererRows } from './gatherer-rows.js';
import { otherListProblem } from './other-list.js';
import { checkRowSums } from './row-checksums.js';

export interface CheckOptions {
  readonly signal?: AbortSignal;
  /** Called with the bytes read so far and in all of one store. */
  readonly onProgress?: (directory: string, done: number, total: number) => void;
}

/** What was found in one directory. */
export interface CheckedStore {
  readonly directory: string;
  readonly kind: StoreKind | 'files' | 'database' | 'generations' | 'data directory';
  /** Bytes that were read. */
  readonly bytes: number;
  /** Objects or summaries; undefined if it has none, or they cannot be read. */
  readonly objects?: number;
  /** Sentences; an empty list if it is sound. */
  readonly problems: readonly string[];
  /** What to type or to expect if it is damaged. */
  readonly advice?: string;
}

/** Sentences about rows of one store; the rest is the same damage. */
const MAX_ROW_PROBLEMS = 20;

/**
 * Checks every store below a directory, one after the other. Changes nothing.
 *
 * @throws StorageError if a process has one open
 */
export async function* checkStores(
  directory: string,
  options: CheckOptions = {},
): AsyncGenerator<CheckedStore, void, undefined> {
  const added = await addedFiles(directory);
  if (added.length > 0)
    yield { directory, kind: 'data directory', bytes: 0, problems: added, advice: LIST_ADVICE };
  for await (const store of findStores(directory)) {
    options.signal?.throwIfAborted();
    if (store.listed) {
      const { directory } = store;
      const checked = await readable(directory, () => checkListedFiles(directory, options));
      yield checked.problems.length > 0 ? { ...checked, advice: LIST_ADVICE } : checked;
    }
    if (!store.database && !store.sums && !store.generations && !store.indexes) continue;
    if (store.database && !store.published) await requireClosed(store.directory);
    const checked = await readable(store.directory, () => checkStore(store, options));
    yield checked.problems.length > 0 ? { ...checked, advice: adviceAbout(store) } : checked;
  }
}

/** A file that cannot be read is a problem of its store, not the end of the check. */
async function readable(directory: string, check: () => Promise<CheckedStore>): Promise<CheckedStore> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof StorageError) && errorCode(error)?.startsWith('E') !== true) throw error;
    return { directory, kind: 'files', bytes: 0, problems: [messageOf(error)] };
  }
}

const LIST_ADVICE =
  'a file that you edited or added is right; for the others see the stores below; the next start says so too, and lists what is there then';

/** The data of `harvest run` has a directory for each server, and nothing beside them. */
async function addedFiles(directory: string): Promise<string[]> {
  for (const part of ['gatherer', 'broker']) if (!(await hasFileList(join(directory, part)))) return [];
  return (await filesOf(directory)).map((name) => `${name} ${ADDED}`);
}

/** Compares every file of a data directory with its list. */
async function checkListedFiles(directory: string, options: CheckOptions): Promise<CheckedStore> {
  const list = await readFileList(directory);
  const found = { directory, kind: 'data directory' as const, bytes: 0 };
  const entry = await lstat(join(directory, LIST_FILE)).catch(() => undefined);
  if (entry?.isFile() === false) return { ...found, problems: [`${LIST_FILE} is not a regular file`] };
  if (list === undefined) return { ...found, problems: [`${LIST_FILE} is missing`] };
  if (typeof list === 'string') return { ...found, problems: [`${LIST_FILE} ${list}`] };
  let bytes = 0;
  const changed = await compareFiles(directory, list, {
    readLive: readLiveFiles,
    signal: options.signal,
    onRead: (read) => {
      bytes += read;
      options.onProgress?.(directory, bytes, bytes);
    },
  });
  const problems = changed.map(({ name, problem }) => `${name} ${problem}`);
  const other = await otherListProblem(directory, list, changed);
  if (other === undefined) return { ...found, bytes, problems };
  const missing = changed.filter(({ problem }) => problem === MISSING).length;
  return { ...found, bytes, problems: missing === list.files.size ? [other] : [other, ...problems] };
}

function adviceAbout({ directory, database, published, generations }: FoundStore): string {
  if (generations)
    return `${pointerAdvice(directory)}; until then servers use the newest generation, if there is one`;
  if (published && GENERATIONS.test(dirname(directory)))
    return 'the next publication replaces it: run the Gatherer';
  if (database) return `\`harvest store repair ${directory}\` saves what can be read`;
  return 'the Broker makes the index again when it starts';
}

async function checkStore(store: FoundStore, options: CheckOptions): Promise<CheckedStore> {
  const { directory, database, sums, generations, published, indexes } = store;
  if (generations)
    return { directory, kind: 'generations', bytes: 0, problems: await checkPointer(directory) };
  if (indexes) return { directory, kind: 'files', bytes: 0, problems: await checkIndexes(directory) };
  let bytes = 0;
  const problems: string[] = [];
  // A generation of an earlier version may lack its sums, and is not sealed as a list of files is.
  if (
    published &&
    database &&
    !sums &&
    (await readSeal(directory).catch(() => undefined))?.listed !== undefined
  )
    problems.push(`${SUMS_FILE} is missing`);
  const progress = (done: number, total: number) => options.onProgress?.(directory, done, total);
  if (sums) {
    const onRead = (read: number) => {
      bytes += read;
      progress(bytes, bytes);
    };
    for (const problem of await verifySums(directory, { always: true, onRead })) problems.push(problem);
  }
  if (!database) return { directory, kind: 'files', bytes, problems };
  const report = await inspectDatabase(directory, {
    always: true,
    copies: true,
    onProgress: progress,
    signal: options.signal,
  });
  for (const { file, problem } of report.problems) problems.push(`${file}: ${problem}`);
  const lengths = await lengthsProblem(directory);
  if (lengths !== undefined) problems.push(lengths);
  const keyProblem = await LoginSeal.problemOf(directory);
  if (keyProblem !== undefined) problems.push(keyProblem);
  bytes += report.bytes;
  if (problems.length > 0) return { directory, kind: 'database', bytes, problems };
  const rows = await checkRows(directory);
  return { directory, bytes, ...rows };
}

/** Compares the rows in a clone: opening a database changes its files. */
async function checkRows(directory: string): Promise<Pick<CheckedStore, 'kind' | 'objects' | 'problems'>> {
  return inClone(directory, async (level, kind) => {
    const damaged = await checkRowSums(level, kind, MAX_ROW_PROBLEMS);
    if (damaged.length > 0) return { kind, problems: damaged };
    const check = kind === 'broker' ? checkBrokerRows : checkGathererRows;
    return { kind, ...(await check(level, MAX_ROW_PROBLEMS)) };
  });
}

/** Whether a database whose files are sound has rows that do not match their checksums. */
export async function hasDamagedRows(directory: string): Promise<boolean> {
  const { problems } = await inClone(directory, async (level, kind) => ({
    kind,
    problems: await checkRowSums(level, kind, 1),
  }));
  return problems.length > 0;
}

async function inClone<T extends Pick<CheckedStore, 'kind' | 'problems'>>(
  directory: string,
  work: (level: Level, kind: StoreKind) => Promise<T>,
): Promise<T | Pick<CheckedStore, 'kind' | 'problems'>> {
  const clone = await mkdtemp(`${directory}.check-`);
  try {
    await cloneDatabase(directory, clone);
    await LoginSeal.copy(directory, clone);
    const kind = await Level.kindOf(clone);
    if (kind === undefined) return { kind: 'database', problems: [] };
    await using level = await Level.open(clone, { kind, create: false });
    return await work(level, kind);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    return { kind: 'database', problems: [messageOf(error).replaceAll(clone, directory)] };
  } finally {
    await rm(clone, { recursive: true, force: true });
  }
}

/**
 * Compares CURRENT with the generations. A crash leaves the number of the generation before the newest one, or
 * no file beside the first generation; both are right.
 *
 * @returns sentences
 */
async function checkPointer(directory: string): Promise<string[]> {
  const numbers = await generationNumbers(directory);
  const newest = numbers.at(-1) ?? 0;
  let text: string;
  try {
    text = (await readRegular(join(directory, POINTER_FILE))).toString('latin1');
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') return [`${POINTER_FILE} cannot be read: ${messageOf(error)}`];
    return newest > 1 ? [`${POINTER_FILE} is missing`] : [];
  }
  const named = numberIn(text);
  if (named === undefined) return [`${POINTER_FILE} ${NO_NUMBER}`];
  if (named === newest || (named + 1 === newest && numbers.includes(named))) return [];
  return [
    `${POINTER_FILE} names generation ${named}, the newest one is ${newest === 0 ? 'missing' : newest}`,
  ];
}

/** Compares CURRENT and the state of the index in use. */
async function checkIndexes(directory: string): Promise<string[]> {
  const problem = await indexProblem(directory);
  return problem === undefined ? [] : [problem];
}
