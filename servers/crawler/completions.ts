import { steadyTime } from '../../clients/connection/monotonic-clock.js';
import type { QueueEntry } from '../../storage/index.js';
import { type CrawlUri, FETCH_STATUS } from './crawl-uri.js';
import type { DocumentEvent, RecordedEvent } from './events.js';

/** Reports returned URIs after they are written to disk, and tracks those that are not written yet. */
export class Completions {
  readonly #report: (event: DocumentEvent, uri: CrawlUri) => void | Promise<void>;
  readonly #onFailure: (error: unknown) => void;
  readonly #pending = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  constructor(
    report: (event: DocumentEvent, uri: CrawlUri) => void | Promise<void>,
    onFailure: (error: unknown) => void,
  ) {
    this.#report = report;
    this.#onFailure = onFailure;
  }

  /** Reports the event after `written`. A failure of either is kept for {@link throwFailure}. */
  add(written: Promise<void>, event: DocumentEvent, uri: CrawlUri): void {
    const reported = written
      .then(() => this.#report(event, uri))
      .catch((error: unknown) => {
        this.#failure ??= { error };
        this.#onFailure(error);
      })
      .finally(() => this.#pending.delete(reported));
    this.#pending.add(reported);
  }

  /** Waits if more than `max` URIs are not reported yet, so that a crash loses only few results. */
  async waitForRoom(max: number): Promise<void> {
    if (this.#pending.size > max) await Promise.race(this.#pending);
  }

  /** Waits until every URI is reported. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending);
  }

  /** Throws the first failure, if there was one. */
  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}

/**
 * Returns the event of a URI that is returned to the frontier.
 * @param begin when the worker took it, by `steadyTime`
 */
export function recordedEvent(uri: CrawlUri, begin: number): RecordedEvent {
  const { classKey } = uri.entry;
  const { via, pathFromSeed, sourceTag, attempts } = uri.entry.uri;
  const isKept = uri.disposition === 'kept';
  return {
    url: uri.url,
    // The status of the former fetch is not one of this run.
    status: isKept ? FETCH_STATUS.untried : uri.status,
    disposition: uri.disposition,
    reason: uri.reason,
    type: uri.essence?.type ?? uri.document?.type ?? '',
    bytes: uri.size,
    local: uri.fetched?.local ?? false,
    milliseconds: steadyTime() - begin,
    warnings: uri.essence?.warnings ?? [],
    classKey,
    via,
    pathFromSeed,
    sourceTag,
    attempts: attempts + 1,
    worker: uri.worker,
    fetchBegin: uri.fetchBegin,
    fetchDuration: uri.contactEnd === 0 ? -1 : Math.max(0, uri.contactEnd - uri.fetchBegin),
    contentType: uri.fetched?.contentType ?? '',
    digest: uri.digest,
    annotations: isKept ? [...uri.annotations, 'kept'] : uri.annotations,
    ...(uri.uriErrors.length === 0 ? {} : { uriErrors: uri.uriErrors }),
  };
}

/** Returns the event of a pending URI that the operator deleted (CRAWL-5.6.6, -6000). */
export function deletedEvent(entry: QueueEntry): RecordedEvent {
  return unfetchedEvent(entry, FETCH_STATUS.deleted, 'deleted by the operator');
}

/**
 * Returns the event of a URI that is pending when the crawl ends (CRAWL-5.6.6, status 0). Statistics do not
 * count it.
 */
export function pendingEvent(entry: QueueEntry): RecordedEvent {
  return unfetchedEvent(entry, FETCH_STATUS.untried, 'pending');
}

function unfetchedEvent({ classKey, uri }: QueueEntry, status: number, reason: string): RecordedEvent {
  const { url, via, pathFromSeed, sourceTag, attempts } = uri;
  return {
    url,
    status,
    disposition: 'rejected',
    reason,
    type: '',
    bytes: 0,
    local: false,
    milliseconds: 0,
    warnings: [],
    classKey,
    via,
    pathFromSeed,
    sourceTag,
    attempts,
    worker: 0,
    fetchBegin: 0,
    fetchDuration: -1,
    contentType: '',
    digest: '',
    annotations: [],
  };
}
