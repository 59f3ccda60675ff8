import type { JournalUri } from './journal-line.js';
import { type ReadJournalOptions, readJournal } from './journal-reader.js';

/** Receives the URIs of a journal: the crawl's frontier. Calls do not overlap. */
export interface JournalSink {
  /** Adds URIs to the seen filter, so that they are not fetched. */
  note(urls: string[]): Promise<void>;
  /**
   * Schedules URIs; those that were noted or scheduled before are dropped by the seen filter (CRAWL-17.1.2).
   */
  schedule(uris: JournalUri[]): Promise<void>;
}

export interface ImportProgress {
  /** CRAWL-17.1.2: 1 notes, 2 schedules. */
  readonly pass: 1 | 2;
  /** Events read in this pass. */
  readonly lines: number;
  /** URIs passed to {@link JournalSink.note}. */
  readonly noted: number;
  /** URIs passed to {@link JournalSink.schedule}. */
  readonly scheduled: number;
  /** URIs that are no longer in scope, in both passes. */
  readonly outOfScope: number;
  /** Lines that are not events, in the first pass. */
  readonly badLines: number;
}

export interface ImportJournalOptions {
  readonly signal?: AbortSignal;
  /** Notes failures too, so that they are not fetched again (CRAWL-17.1.2). Default false. */
  readonly retainFailures?: boolean | undefined;
  /** The crawl's scope; a URI out of scope is neither noted nor scheduled. */
  readonly scope?: (uri: JournalUri) => boolean | Promise<boolean>;
  /** Whether `scope` applies (CRAWL-17.1.2). Default true. */
  readonly checkScope?: boolean;
  /** Called every {@link progressLines} events and at the end of each pass. */
  readonly progress?: ((progress: ImportProgress) => void) | undefined;
  /** Default 1 000 000 (CRAWL-17.1.2). */
  readonly progressLines?: number;
  /**
   * Number of scheduled URIs after which the crawl can start while the import continues (CRAWL-17.1.2). Default
   * 100 000.
   */
  readonly startThreshold?: number;
  /** Called once, when {@link startThreshold} URIs are scheduled or at the end. */
  readonly onStartThreshold?: () => void;
  /** URIs per call of the sink. Default 1000. */
  readonly batchSize?: number;
  /** See {@link readJournal}; by default a damaged journal is an error. */
  readonly onDamage?: ReadJournalOptions['onDamage'] | undefined;
}

/**
 * Recovers a crawl from its journal (CRAWL-17.1.2) in two passes: it notes the URIs that were finished, then
 * schedules all that were queued. Memory is bounded by one batch.
 *
 * @param paths the journal with its rotated files, the oldest first
 * @throws StorageError, the sink's errors, the signal's reason
 */
export async function importJournal(
  paths: string | readonly string[],
  sink: JournalSink,
  options: ImportJournalOptions = {},
): Promise<ImportProgress> {
  const { signal, retainFailures = false, scope, checkScope = true, onDamage } = options;
  const {
    progress,
    progressLines = 1_000_000,
    startThreshold = 100_000,
    onStartThreshold,
    batchSize = 1000,
  } = options;
  const files = typeof paths === 'string' ? [paths] : paths;
  const counts = { noted: 0, scheduled: 0, outOfScope: 0, badLines: 0 };
  let started = false;
  let lines = 0;

  const accepts = async (uri: JournalUri): Promise<boolean> => {
    if (!checkScope || scope === undefined || (await scope(uri))) return true;
    counts.outOfScope++;
    return false;
  };
  const report = (pass: 1 | 2): void => progress?.({ pass, lines, ...counts });
  const startAtThreshold = (limit: number): void => {
    if (started || counts.scheduled < limit) return;
    started = true;
    onStartThreshold?.();
  };
  const count = (pass: 1 | 2): void => {
    if (++lines % progressLines === 0) report(pass);
  };

  const finished = new Batch<string>(batchSize, async (urls) => {
    signal?.throwIfAborted();
    await sink.note(urls);
    counts.noted += urls.length;
  });
  const onBadLine = (): void => {
    counts.badLines++;
  };
  for await (const event of readEvents(files, { ...readOptions(signal, onDamage), onBadLine })) {
    count(1);
    if (event.tag === 'Fs' || (event.tag === 'Ff' && retainFailures)) {
      if (await accepts(event)) await finished.add(event.url);
    }
    // Included by hand: the URI counts as seen and was never fetched. Its hops path is unknown, so the scope
    // cannot decide.
    else if (event.tag === 'Fi') await finished.add(event.url);
  }
  await finished.end();
  report(1);

  lines = 0;
  const queued = new Batch<JournalUri>(batchSize, async (uris) => {
    signal?.throwIfAborted();
    await sink.schedule(uris);
    counts.scheduled += uris.length;
    startAtThreshold(startThreshold);
  });
  for await (const event of readEvents(files, readOptions(signal, onDamage))) {
    count(2);
    if (event.tag !== 'F+') continue;
    const { url, pathFromSeed, via } = event;
    if (await accepts(event)) await queued.add({ url, pathFromSeed, via });
  }
  await queued.end();
  startAtThreshold(0);
  report(2);
  return { pass: 2, lines, ...counts };
}

async function* readEvents(paths: readonly string[], options: ReadJournalOptions) {
  for (const path of paths) yield* readJournal(path, options);
}

function readOptions(
  signal: AbortSignal | undefined,
  onDamage: ReadJournalOptions['onDamage'],
): ReadJournalOptions {
  return { ...(signal && { signal }), ...(onDamage && { onDamage }) };
}

/** Collects items and passes them on in batches. */
class Batch<T> {
  readonly #size: number;
  readonly #flush: (items: T[]) => Promise<void>;
  #items: T[] = [];

  constructor(size: number, flush: (items: T[]) => Promise<void>) {
    this.#size = size;
    this.#flush = flush;
  }

  async add(item: T): Promise<void> {
    this.#items.push(item);
    if (this.#items.length >= this.#size) await this.end();
  }

  async end(): Promise<void> {
    const items = this.#items;
    this.#items = [];
    if (items.length > 0) await this.#flush(items);
  }
}
