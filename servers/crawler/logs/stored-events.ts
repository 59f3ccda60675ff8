// The events of returned URIs, stored in the batches of their pages, so that no crash loses or repeats a line
// or a count.
import { join } from 'node:path';
import { z } from 'zod';
import { CloseStack } from '../../../protocols/close-stack.js';
import { messageOf, StorageError } from '../../../protocols/errors.js';
import { Mutex } from '../../../protocols/mutex.js';
import { createDirectory } from '../../../storage/files/make-directory.js';
import type { GathererBatch, GathererStore } from '../../../storage/index.js';
import { DISPOSITIONS } from '../crawl-uri.js';
import type { RecordedEvent } from '../events.js';
import { redactEvent } from '../redaction.js';
import type { CrawlLogs } from './crawl-logs.js';
import { DOCUMENT_LOGS, type DocumentLog, eventLines } from './event-lines.js';
import { FileTail } from './file-tail.js';

/** Names of the values in the store. */
const SIZES = 'events.sizes';
const FIGURES = 'events.figures';
/** Milliseconds between two removals of events. */
const PURGE_MS = 1000;
/** A removal, which saves all figures, takes at most this part of the time. */
const PURGE_SHARE = 1 / 50;

const LOGS = Object.keys(DOCUMENT_LOGS) as DocumentLog[];
type Sizes = Record<DocumentLog, number>;

const text = z.string();
const rowSchema = z.object({
  time: z.number(),
  url: text,
  status: z.number(),
  disposition: z.enum(DISPOSITIONS),
  reason: text,
  type: text,
  bytes: z.number(),
  local: z.boolean(),
  milliseconds: z.number(),
  warnings: z.array(text),
  classKey: text,
  via: text,
  pathFromSeed: text,
  sourceTag: text,
  attempts: z.number(),
  worker: z.number(),
  fetchBegin: z.number(),
  fetchDuration: z.number(),
  contentType: text,
  digest: text,
  annotations: z.array(text),
  uriErrors: z.array(z.object({ url: text, message: text })).optional(),
});

export interface StoredEventsOptions {
  readonly store: GathererStore;
  /**
   * Whether events are stored; otherwise a crash loses counts, as suits a run that shows no figures. Default
   * true.
   */
  readonly isStored?: boolean;
  /** Counts an event, exactly once, in the order of the batches. */
  readonly count: (event: RecordedEvent) => void;
  /** Returns the figures of all events that were counted: JSON. */
  readonly figures: () => unknown;
  /** Called when events cannot be removed (a full disk), once until it succeeds; it is tried again. */
  readonly onFailure?: (error: unknown) => void;
}

/**
 * Returns the figures that {@link StoredEvents} saved; undefined if no figures were saved. @throws StorageError
 * when they are damaged
 */
export async function savedFigures({ meta }: Pick<GathererStore, 'meta'>): Promise<unknown> {
  const saved = await meta.get(FIGURES);
  if (saved === undefined) return undefined;
  try {
    return JSON.parse(String(saved)) as unknown;
  } catch (cause) {
    throw new StorageError(`the figures of the crawl are damaged: ${messageOf(cause)}`, { cause });
  }
}

/**
 * Takes over the events that an interrupted crawl left: counts each, and appends the lines that the logs lack.
 * Then the events are removed and the figures saved, in one batch.
 *
 * @param directory of the logs; undefined if the crawl has none
 * @returns the sizes of the logs, for {@link StoredEvents}
 * @throws StorageError
 */
export async function recoverEvents(
  { store, count, figures }: StoredEventsOptions,
  directory: string | undefined,
): Promise<Sizes> {
  const stored = await readSizes(store);
  const tails = new Map<DocumentLog, FileTail>();
  await using files = new CloseStack();
  if (directory !== undefined) {
    await createDirectory(directory);
    for (const log of LOGS)
      tails.set(log, files.use(new FileTail(join(directory, DOCUMENT_LOGS[log]), stored[log])));
  }
  const batch = store.batch();
  for await (const page of store.events.pages()) {
    const texts: Record<DocumentLog, string> = {
      crawl: '',
      localErrors: '',
      runtimeErrors: '',
      uriErrors: '',
    };
    for (const { sequence, text } of page) {
      const { time, ...event } = parseRow(text);
      count(event);
      for (const [log, line] of eventLines(event, time)) texts[log] += `${line}\n`;
      batch.deleteEvent(sequence);
    }
    for (const [log, tail] of tails) await tail.add(Buffer.from(texts[log]));
  }
  const sizes = noSizes();
  for (const [log, tail] of tails) sizes[log] = await tail.end();
  await batch.putMeta(SIZES, JSON.stringify(sizes)).putMeta(FIGURES, JSON.stringify(figures())).commit();
  return sizes;
}

/**
 * The events of a running crawl. An event is a row of the store, written in the batch of its page. After the
 * batch it is counted and its lines go to the logs, in the order of the batches. Now and then the rows whose
 * lines are in the files are removed; the same batch has the figures that count exactly the events so far, and
 * the sizes of the files. After a crash {@link recoverEvents} uses the rest.
 */
export class StoredEvents {
  readonly #options: StoredEventsOptions;
  readonly #logs: CrawlLogs | undefined;
  readonly #mutex = new Mutex();
  /** The sequence number of the next event, of the next one to count, and of the first one in the store. */
  #next = 0;
  #due = 0;
  #purged = 0;
  /** Written events that wait for an earlier one. */
  readonly #written = new Map<number, readonly [RecordedEvent, number]>();
  #held = false;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  #failed = false;
  #sizes: Sizes;

  constructor(options: StoredEventsOptions, logs: CrawlLogs | undefined, sizes: Sizes) {
    this.#options = options;
    this.#logs = logs;
    this.#sizes = sizes;
    if (options.isStored !== false) this.#schedule(PURGE_MS);
  }

  /**
   * Adds an event to its batch. Batches must be submitted in the order of these calls.
   * @returns a function to call when the batch is written
   */
  put(unredacted: RecordedEvent, batch: GathererBatch): () => void {
    const sequence = this.#next++;
    const time = Date.now();
    const event = redactEvent(unredacted);
    if (this.#options.isStored !== false) batch.putEvent(sequence, JSON.stringify({ time, ...event }));
    return () => {
      this.#written.set(sequence, [event, time]);
      this.#drain();
    };
  }

  /**
   * Counts all events that are stored and removes them, e.g. before a copy of the store. Meanwhile no event may
   * be added. @throws StorageError
   */
  async purge(): Promise<void> {
    await this.#batchesWritten();
    await this.#mutex.runExclusive(() => this.#purge());
  }

  /**
   * Waits until all events are counted, also if the logs are being rotated. Meanwhile no event may be added.
   */
  async settled(): Promise<void> {
    await this.#batchesWritten();
    await this.#mutex.runExclusive(() => undefined);
  }

  /**
   * Renames the logs (CRAWL-16.4). The lines of events that are written meanwhile go to the new files. @throws
   * StateError, StorageError
   */
  async rotate(suffix: string): Promise<void> {
    const logs = this.#logs;
    if (logs === undefined) return;
    await this.#mutex.runExclusive(async () => {
      this.#held = true;
      try {
        // If the process ends between the steps, no row that is left has its line in a file: it goes to the new
        // one.
        await this.#purge();
        await logs.rotate(suffix);
        this.#sizes = noSizes();
        await this.#options.store.batch().putMeta(SIZES, JSON.stringify(this.#sizes)).commit();
      } finally {
        this.#held = false;
        this.#drain();
      }
    });
  }

  /** Removes the events that are in the logs. The logs must be closed later. @throws StorageError */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#mutex.runExclusive(() => this.#purge());
  }

  /** Those who wait for the batch of the last event continue in the next turns. */
  async #batchesWritten(): Promise<void> {
    for (let turn = 0; turn < 100 && this.#due < this.#next; turn++)
      await new Promise((resolve) => setImmediate(resolve));
  }

  #drain(): void {
    if (this.#held) return;
    for (;;) {
      const written = this.#written.get(this.#due);
      if (written === undefined) return;
      this.#written.delete(this.#due);
      this.#due++;
      const [event, time] = written;
      this.#options.count(event);
      if (this.#logs === undefined) continue;
      for (const [log, line] of eventLines(event, time)) {
        this.#logs.write(log, line);
        this.#sizes[log] += Buffer.byteLength(line) + 1;
      }
    }
  }

  #schedule(milliseconds: number): void {
    this.#timer = setTimeout(() => {
      const begin = performance.now();
      void this.#mutex
        .runExclusive(() => (this.#due > this.#purged ? this.#purge() : undefined))
        .then(
          () => {
            this.#failed = false;
          },
          (error: unknown) => {
            if (!this.#failed) this.#options.onFailure?.(error);
            this.#failed = true;
          },
        )
        .finally(() => {
          if (!this.#closed) this.#schedule(Math.max(PURGE_MS, (performance.now() - begin) / PURGE_SHARE));
        });
    }, milliseconds).unref();
  }

  async #purge(): Promise<void> {
    const { store, figures, isStored = true } = this.#options;
    if (!isStored) return;
    const due = this.#due;
    const sizes = JSON.stringify(this.#sizes);
    const saved = JSON.stringify(figures());
    await this.#logs?.flush();
    const batch = store.batch().putMeta(SIZES, sizes).putMeta(FIGURES, saved);
    for (let sequence = this.#purged; sequence < due; sequence++) batch.deleteEvent(sequence);
    await batch.commit();
    this.#purged = due;
  }
}

async function readSizes({ meta }: GathererStore): Promise<Sizes> {
  const saved = await meta.get(SIZES);
  if (saved === undefined) return noSizes();
  try {
    return { ...noSizes(), ...(JSON.parse(String(saved)) as Partial<Sizes>) };
  } catch (cause) {
    throw new StorageError(`the sizes of the logs are damaged: ${messageOf(cause)}`, { cause });
  }
}

/** Of logs without lines. */
export function noSizes(): Sizes {
  return { crawl: 0, localErrors: 0, runtimeErrors: 0, uriErrors: 0 };
}

function parseRow(text: string): RecordedEvent & { readonly time: number } {
  try {
    const { uriErrors, ...row } = rowSchema.parse(JSON.parse(text));
    return { ...row, uriErrors };
  } catch (cause) {
    throw new StorageError('a stored event of the crawl is damaged', { cause });
  }
}
