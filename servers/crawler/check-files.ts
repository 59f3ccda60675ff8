// Checks the files of a crawl beside its store, for `harvest store check`: recovery journals, WARC files,
// checkpoints, seen filters.
import { randomUUID } from 'node:crypto';
import { cp, readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { errorCode, messageOf, StorageError } from '../../protocols/errors.js';
import type { CheckedStore, CheckOptions } from '../../storage/check/check.js';
import { openRegular } from '../../storage/files/regular-file.js';
import { openSeenFilter } from '../../storage/seen/index.js';
import { verifyCheckpoint } from './checkpoint.js';
import { readJournal } from './journal/journal-reader.js';
import { JOURNAL_FILE } from './journal/journal-writer.js';
import { examineRecords } from './warc/complete-records.js';
import { compressionOf, formatOf } from './warc/record-compression.js';

const MAX_DEPTH = 6;
/** What other processes use and remove, and copies that a repair left; databases are checked as such. */
const SKIPPED =
  /^(?:readers|store|working)$|\.(?:tmp|old|withdrawn|new)$|\.(?:repaired|damaged|check|probe)-/;
const ADVICE = {
  journal: 'the next run continues after the last event that can be read, and keeps a copy of the rest',
  warc: 'the other records can be read; the document of this one is fetched again by a crawl into a new directory',
  seen: 'move the directory away; the next run continues with an empty filter and fetches documents again',
  checkpoint: 'recover from another checkpoint, and delete this one',
} as const;
const WARC = /\.(?:warc(?:\.gz|\.zst)?|arc(?:\.gz)?)(?:\.open)?$/;

/**
 * Checks every journal, WARC file, checkpoint and seen filter below a directory. Changes nothing.
 *
 * @throws the signal's reason
 */
export async function* checkCrawlFiles(
  directory: string,
  options: CheckOptions = {},
  depth = 0,
): AsyncGenerator<CheckedStore, void, undefined> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  const check = async (path: string, advice: string, work: (size: number) => Promise<readonly string[]>) => {
    options.signal?.throwIfAborted();
    const { size } = await stat(path);
    const problems = await sentencesOf(() => work(size));
    options.onProgress?.(path, size, size);
    const base = { directory: path, kind: 'files' as const, bytes: size, problems };
    return problems.length === 0 ? base : { ...base, advice };
  };
  for (const name of names) {
    const path = join(directory, name);
    if (name.startsWith(JOURNAL_FILE) && !name.includes('.damaged-'))
      yield await check(path, ADVICE.journal, () => checkJournal(path, options));
    else if (WARC.test(name)) yield await check(path, ADVICE.warc, (size) => checkWarc(path, size, options));
  }
  if (names.includes('runs.json') || names.includes('seen.log')) {
    yield await check(directory, ADVICE.seen, () => checkSeen(directory, names.includes('runs.json')));
    return;
  }
  if (names.includes('manifest.json') && names.includes('valid')) {
    yield await check(directory, ADVICE.checkpoint, async () => {
      await verifyCheckpoint(directory);
      return [];
    });
    return;
  }
  if (depth >= MAX_DEPTH) return;
  for (const entry of entries) {
    if (entry.isDirectory() && !SKIPPED.test(entry.name))
      yield* checkCrawlFiles(join(directory, entry.name), options, depth + 1);
  }
}

async function sentencesOf(work: () => Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StorageError) && errorCode(error) === undefined) throw error;
    return [messageOf(error)];
  }
}

async function checkJournal(path: string, { signal }: CheckOptions): Promise<readonly string[]> {
  let damage: string | undefined;
  let lines = 0;
  const events = readJournal(path, {
    signal,
    onBadLine: (number) => {
      damage ??= `${basename(path)}: line ${number} is not an event`;
    },
    onDamage: (error) => {
      damage = `${error.message}, after ${lines} sound lines`;
    },
  });
  for await (const _event of events) lines++;
  return damage === undefined ? [] : [damage];
}

/** A file that is still open may end within a record; the next run cuts it off there. */
async function checkWarc(path: string, size: number, { signal }: CheckOptions): Promise<readonly string[]> {
  const isOpen = path.endsWith('.open');
  await using file = await openRegular(path);
  const { length, damage } = await examineRecords(file, {
    compression: compressionOf(path),
    format: formatOf(path),
    signal,
  });
  const problems = damage.map(
    (offset) => `the record at offset ${offset} is damaged, or not compressed by itself`,
  );
  if (!isOpen && length < size) problems.push(`the record at offset ${length} is incomplete or damaged`);
  return problems;
}

/** Opens a copy, because an opening repairs the traces of a crash. */
async function checkSeen(directory: string, hasRuns: boolean): Promise<readonly string[]> {
  // The head of a log is flushed when it is created.
  if (!hasRuns && (await stat(join(directory, 'seen.log'))).size === 0)
    return ['seen.log has lost its content'];
  const copy = `${directory}.check-${randomUUID()}`;
  try {
    await cp(directory, copy, { recursive: true });
    const kind = hasRuns ? 'disk-merge' : 'memory-set';
    await using _filter = await openSeenFilter({ kind, directory: copy });
    return [];
  } catch (error) {
    if (!(error instanceof StorageError) && errorCode(error) === undefined) throw error;
    return [messageOf(error).replaceAll(copy, directory)];
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}
