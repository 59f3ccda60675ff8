import { decodeSoif, encodeSoif } from '../../../../protocols/soif/index.js';
import type { DocumentRecord, SummaryStore } from '../../../../storage/index.js';
import type { Processor, ProcessResult } from '../chains.js';
import type { CrawlUri } from '../crawl-uri.js';

export interface WriterOptions {
  readonly summaries: Pick<SummaryStore, 'get'>;
  readonly refreshRate: number;
  readonly timeToLive: number;
  readonly rulesDigest: string;
  readonly now: () => number;
}

/**
 * CRAWL-11.2 chain 4: puts the object and what we know of its document into the URI's batch, so that both are stored
 * together with the URI's leaving its queue. Times follow G-108.
 */
export class WriterProcessor implements Processor {
  readonly name = 'Writer';

  constructor(readonly options: WriterOptions) {}

  async process(uri: CrawlUri): Promise<ProcessResult> {
    if (uri.disposition === 'summarized') this.#store(uri);
    else if (uri.disposition === 'unchanged') await this.#refresh(uri);
    else if (uri.disposition === 'rejected') this.#reject(uri);
    return 'proceed';
  }

  #store(uri: CrawlUri): void {
    const { timeToLive } = this.options;
    const essence = uri.essence!;
    // The time that the object itself says: exports rely on the two being one.
    const updateTime = uri.updateTime;
    // A document that is not known has no summary either: both are written in one batch.
    const previous = uri.document === undefined ? null : uri.document.updateTime;
    uri.batch
      .putSummary({ url: uri.url, updateTime, timeToLive, soif: essence.soif! }, previous)
      .putDocument({ ...this.#document(uri), updateTime, md5: essence.md5, type: essence.type });
  }

  /** The summary stays, its Update-Time is now. */
  async #refresh(uri: CrawlUri): Promise<void> {
    const { summaries, timeToLive, now } = this.options;
    const known = uri.document!;
    const summary = await summaries.get(uri.url);
    if (summary === undefined) return;
    const updateTime = now();
    const lastModified = uri.fetched?.lastModified || known.lastModificationTime;
    const object = decodeSoif(summary.soif).with([
      ['Update-Time', String(updateTime)],
      ['Last-Modification-Time', String(lastModified)],
    ]);
    uri.batch
      .putSummary(
        { url: uri.url, updateTime, timeToLive, soif: encodeSoif(object), contentTime: summary.contentTime },
        known.updateTime,
      )
      .putDocument({
        ...known,
        updateTime,
        fetchTime: updateTime,
        lastModificationTime: lastModified,
        referenced: true,
      });
  }

  /** E-25: a rejected document leaves no object, and an older object of it goes. */
  #reject(uri: CrawlUri): void {
    if (uri.document !== undefined && uri.document.updateTime > 0) {
      uri.batch.deleteSummary(uri.url, uri.document.updateTime, { deletedAt: this.options.now() });
    }
    uri.batch.putDocument({
      ...this.#document(uri),
      md5: uri.essence?.md5 ?? '',
      type: uri.essence?.type ?? '',
    });
  }

  #document(uri: CrawlUri): DocumentRecord {
    const fetched = uri.fetched!;
    return {
      url: uri.url,
      status: fetched.status,
      fetchTime: this.options.now(),
      updateTime: 0,
      refreshRate: this.options.refreshRate,
      lastModificationTime: fetched.lastModified,
      etag: fetched.etag,
      md5: '',
      type: '',
      size: uri.size,
      links: uri.outLinks,
      rulesDigest: this.options.rulesDigest,
      referenced: true,
    };
  }
}
