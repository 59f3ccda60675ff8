// Carries out the files of the action directory while a crawl runs (CRAWL-17.1.4).
import { readdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode, messageOf, StorageError } from '../../../protocols/errors.js';
import { createDirectory } from '../../../storage/files/make-directory.js';
import { announce } from '../events.js';
import { importJournal } from '../journal/import-journal.js';
import { type JournalUri, parseJournalLine } from '../journal/journal-line.js';
import { type NumberedLine, readLines } from '../journal/journal-reader.js';

/** URIs that are passed on at a time. */
const BATCH_URIS = 1000;
/** Bad lines of a file that are named in the log; the others are counted. */
const MAX_NAMED_LINES = 10;
/** Directory of done files, below the action directory. */
const DONE = 'done';

/** What became of URIs. */
export interface ActionCounts {
  /** Queued or noted; known ones are not counted. */
  readonly accepted: number;
  /** Out of scope, or below no RootNode. */
  readonly refused: number;
}

/** How URIs of a file are scheduled. */
export interface ScheduleOptions {
  /** Also URIs that were seen before. */
  readonly force: boolean;
  readonly checkScope: boolean;
  /** For `force`: stored with the URIs, so that a repetition after a crash continues after them. */
  readonly position?: ActionPosition;
}

/** How far a file was carried out. */
interface ActionPosition {
  /** Name, size and time of the file. */
  readonly file: string;
  /** The number of its last line that is done. */
  readonly line: number;
}

/** The crawl that an action directory acts on. Calls do not overlap. */
export interface ActionSink {
  /**
   * Keeps the crawl from ending until the returned function is called. Undefined if the crawl is over: no file
   * is carried out any more.
   */
  begin(): (() => void) | undefined;
  /** Adds seeds and schedules them. */
  seeds(urls: readonly string[]): Promise<ActionCounts>;
  /** Marks URIs as seen, so that they are not fetched. */
  note(urls: readonly string[]): Promise<void>;
  schedule(uris: readonly JournalUri[], options: ScheduleOptions): Promise<ActionCounts>;
  /** Whether the scope accepts a URI now. */
  accepts(uri: JournalUri): boolean | Promise<boolean>;
  /** The stored position of the file; undefined if none is stored. */
  position(file: string): Promise<number | undefined>;
  /** Flushes everything to the disk, before a file is moved. */
  sync(): Promise<void>;
  /** Removes the stored position, after the file was moved. */
  clearPosition(): Promise<void>;
}

export interface ActionDirectoryOptions {
  readonly directory: string;
  readonly firstLookMs: number;
  readonly lookMs: number;
  readonly sink: ActionSink;
}

interface Totals {
  accepted: number;
  refused: number;
  badLines: number;
}

/**
 * CRAWL-17.1.4: files that appear in a directory are carried out in the order of their names, one at a time,
 * then moved to `done/` below it. A file must be complete when it gets its name: write it as `.x` or `x.tmp`,
 * then rename it. After a crash a file is carried out again, which changes nothing, because its URIs were seen;
 * `force` continues after the last batch that was stored.
 */
export class ActionDirectory {
  readonly #options: ActionDirectoryOptions;
  /** Names of files that could not be carried out or moved, which is said once. */
  readonly #failed = new Set<string>();

  constructor(options: ActionDirectoryOptions) {
    this.#options = options;
  }

  /** Looks until the signal is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { firstLookMs, lookMs } = this.#options;
    try {
      await sleep(firstLookMs, undefined, { signal });
      for (;;) {
        await this.look(signal);
        await sleep(lookMs, undefined, { signal });
      }
    } catch (error) {
      if (!signal.aborted) announce(`the action directory is no longer read: ${messageOf(error)}`);
    }
  }

  /** Carries out the files that are there. @throws the signal's reason */
  async look(signal: AbortSignal): Promise<void> {
    const { directory } = this.#options;
    let names: string[];
    try {
      names = (await readdir(directory)).sort();
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') this.#fail(directory, error);
      return;
    }
    for (const name of names) {
      const file = parseActionName(name);
      if (file === undefined || this.#failed.has(name)) continue;
      const end = this.#options.sink.begin();
      if (end === undefined) return;
      try {
        await this.#carryOut(name, file, signal);
      } catch (error) {
        signal.throwIfAborted();
        this.#fail(name, error);
      } finally {
        end();
      }
    }
  }

  async #carryOut(name: string, file: ActionFile, signal: AbortSignal): Promise<void> {
    const { directory, sink } = this.#options;
    const path = join(directory, name);
    const stats = await stat(path);
    if (!stats.isFile()) throw new StorageError(`${path} is not a file`);
    announce(`action ${name}: begun`, false);
    const totals = await this.#act(path, file, `${name} ${stats.size} ${stats.mtimeMs}`, signal);
    const done = join(directory, DONE);
    await createDirectory(done);
    await sink.sync();
    await rename(path, join(done, doneName(name, Date.now())));
    await sink.clearPosition();
    const { accepted, refused, badLines } = totals;
    announce(
      `action ${name}: done: ${accepted} accepted, ${refused} refused, ${badLines} bad lines`,
      badLines > 0,
    );
  }

  async #act(
    path: string,
    { action, checkScope }: ActionFile,
    identity: string,
    signal: AbortSignal,
  ): Promise<Totals> {
    const { sink } = this.#options;
    if (action === 'recover') return await this.#recover(path, checkScope, signal);
    if (action === 'seeds') return await this.#each(path, signal, seedOf, (urls) => sink.seeds(urls));
    if (action === 'include')
      return await this.#each(path, signal, parseActionLine, async (uris) => {
        const accepted = checkScope ? await filter(uris, (uri) => sink.accepts(uri)) : uris;
        await sink.note(accepted.map(({ url }) => url));
        return { accepted: accepted.length, refused: uris.length - accepted.length };
      });
    const force = action === 'force';
    const begin = force ? ((await sink.position(identity)) ?? 0) : 0;
    return await this.#each(
      path,
      signal,
      parseActionLine,
      (uris, line) =>
        sink.schedule(uris, {
          force,
          checkScope,
          ...(force ? { position: { file: identity, line } } : {}),
        }),
      begin,
    );
  }

  /** As the import of a journal (CRAWL-17.1.2), without an end of the crawl. */
  async #recover(path: string, checkScope: boolean, signal: AbortSignal): Promise<Totals> {
    const { sink } = this.#options;
    const totals = { accepted: 0, refused: 0, badLines: 0 };
    const { outOfScope, badLines } = await importJournal(
      path,
      {
        note: (urls) => sink.note(urls),
        schedule: async (uris) => {
          const { accepted, refused } = await sink.schedule(uris, { force: false, checkScope });
          totals.accepted += accepted;
          totals.refused += refused;
        },
      },
      {
        signal,
        checkScope,
        scope: (uri) => sink.accepts(uri),
        onDamage: (error) => announce(`action ${error.message}; the part before the damage is used`),
      },
    );
    return { ...totals, refused: totals.refused + outOfScope, badLines };
  }

  /** Passes the items of a file on in batches, with the number of the last line of each. */
  async #each<T>(
    path: string,
    signal: AbortSignal,
    parse: (line: string) => T | '' | undefined,
    flush: (items: T[], line: number) => Promise<ActionCounts>,
    begin = 0,
  ): Promise<Totals> {
    const totals: Totals = { accepted: 0, refused: 0, badLines: 0 };
    let items: T[] = [];
    let last = begin;
    const pass = async (): Promise<void> => {
      if (items.length === 0) return;
      signal.throwIfAborted();
      const { accepted, refused } = await flush(items, last);
      totals.accepted += accepted;
      totals.refused += refused;
      items = [];
    };
    const onDamage = (error: Error): void =>
      announce(`action ${error.message}; the part before the damage is used`);
    for await (const line of readLines(path, { signal, onDamage, isComplete: true })) {
      if (line.number <= begin) continue;
      last = line.number;
      const item = line.text === undefined ? undefined : parse(line.text);
      if (item === undefined) reportBadLine(path, line, totals);
      else if (item !== '') items.push(item);
      if (items.length >= BATCH_URIS) await pass();
    }
    await pass();
    return totals;
  }

  #fail(name: string, error: unknown): void {
    if (this.#failed.has(name)) return;
    this.#failed.add(name);
    announce(`action ${name} failed, and is not tried again: ${messageOf(error)}`);
  }
}

/** A line of a list of seeds; the sink reads its words. */
function seedOf(line: string): string {
  return line.replace(/(^|\s)#.*$/, '').trim();
}

function reportBadLine(path: string, { number, text }: NumberedLine, totals: Totals): void {
  totals.badLines++;
  if (totals.badLines > MAX_NAMED_LINES) return;
  const what = text === undefined ? 'is too long' : 'is not a URI';
  announce(`action ${path}:${number}: the line ${what}`);
}

async function filter<T>(items: readonly T[], keep: (item: T) => boolean | Promise<boolean>): Promise<T[]> {
  const kept: T[] = [];
  for (const item of items) if (await keep(item)) kept.push(item);
  return kept;
}

const HOPS = /^(?:\d+\+)?[A-Z]*$/;

/**
 * Parses a line as the original does, a line of a journal with any tag, or a line with a URI alone and,
 * optional, its hops path and the URI that led to it.
 *
 * @returns undefined for a line that is neither; `''` for one without a URI: a comment, a time mark, a note
 */
export function parseActionLine(line: string): JournalUri | '' | undefined {
  const text = line.trim();
  if (text === '' || text.startsWith('#')) return '';
  const event = parseJournalLine(text);
  if (event !== undefined) {
    if (!('url' in event)) return '';
    const { url } = event;
    return 'via' in event ? { url, pathFromSeed: event.pathFromSeed, via: event.via } : plain(url);
  }
  const [url = '', pathFromSeed = '', via = '', ...more] = text.split(/\s+/);
  if (more.length > 0 || !URL.canParse(url) || !HOPS.test(pathFromSeed)) return undefined;
  return { url, pathFromSeed, via };
}

function plain(url: string): JournalUri {
  return { url, pathFromSeed: '', via: '' };
}

/** The effect of an action file, by the ending of its name. */
const ACTIONS = ['seeds', 'recover', 'include', 'schedule', 'force'] as const;
type Action = (typeof ACTIONS)[number];

export interface ActionFile {
  readonly action: Action;
  /** Whether the URIs must be in scope: `.s` stands before the ending. Seeds always must. */
  readonly checkScope: boolean;
}

const NAME = new RegExp(`^(?!\\.).*?(\\.s)?\\.(${ACTIONS.join('|')})(?:\\.gz)?$`);

/**
 * Returns the effect of a file; undefined if its name does not say so, e.g. while it is written as `x.tmp` or
 * `.x`.
 */
export function parseActionName(name: string): ActionFile | undefined {
  const match = NAME.exec(name);
  const action = ACTIONS.find((known) => known === match?.[2]);
  return action === undefined ? undefined : { action, checkScope: match?.[1] !== undefined };
}

/**
 * CRAWL-17.1.4: the name in the directory of done files: the time as 17 digits, UTC to the millisecond, before
 * the name.
 */
export function doneName(name: string, time: number): string {
  return `${new Date(time).toISOString().replace(/\D/g, '')}.${name}`;
}
