import type { CrawlUri } from './crawl-uri.js';
import type { DocumentEvent } from './events.js';
import type { FrontierCounts } from './frontier/index.js';

/** Reports returned URIs after they are written to disk, and tracks those that are not written yet. */
export class Completions {
  readonly #pending = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  constructor(
    private readonly report: (event: DocumentEvent, uri: CrawlUri) => void | Promise<void>,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  /** Reports the event after `written`. A failure of either is kept for {@link throwFailure}. */
  add(written: Promise<void>, event: DocumentEvent, uri: CrawlUri): void {
    const reported = written
      .then(() => this.report(event, uri))
      .catch((error: unknown) => {
        this.#failure ??= { error };
        this.onFailure(error);
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
 * Returns the event of a URI that was returned to the frontier.
 * @param begin when the worker took it, milliseconds since 1970
 */
export function documentEvent(uri: CrawlUri, begin: number, frontier: FrontierCounts): DocumentEvent {
  const { classKey } = uri.entry;
  const { via, pathFromSeed, sourceTag, attempts } = uri.entry.uri;
  return {
    url: uri.url,
    status: uri.status,
    disposition: uri.disposition,
    reason: uri.reason,
    type: uri.essence?.type ?? uri.document?.type ?? '',
    bytes: uri.size,
    local: uri.fetched?.local ?? false,
    milliseconds: Date.now() - begin,
    warnings: uri.essence?.warnings ?? [],
    frontier,
    classKey,
    via,
    pathFromSeed,
    sourceTag,
    attempts: attempts + 1,
    worker: uri.worker,
    fetchBegin: uri.fetchBegin,
    fetchDuration: uri.contactEnd === 0 ? -1 : uri.contactEnd - uri.fetchBegin,
    contentType: uri.fetched?.contentType ?? '',
    digest: uri.digest,
    annotations: uri.annotations,
  };
}
