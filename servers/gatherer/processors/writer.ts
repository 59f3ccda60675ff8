import { decodeSoif, encodeSoif, SoifObject } from '../../../protocols/soif/index.js';
import type { DocumentRecord, GathererBatch, SummaryStore } from '../../../storage/index.js';
import type { Processor, ProcessResult } from '../../crawler/chains.js';
import type { CrawlUri } from '../../crawler/crawl-uri.js';
import type { EssenceOutput, ExplodedObject } from '../../essence/index.js';
import type { Annotations } from '../annotations.js';
import type { MinTimeToLive } from '../min-time-to-live.js';
import type { RulesDigest } from '../run-state.js';
import { dropObjects } from './drop-objects.js';

export interface WriterOptions {
  readonly summaries: Pick<SummaryStore, 'get'>;
  readonly refreshRate: number;
  readonly timeToLive: number;
  /** Records the time to live of every object that is stored. */
  readonly minTimeToLive: MinTimeToLive;
  readonly rulesDigest: RulesDigest;
  /** Annotations to merge into every object (G-141). */
  readonly annotations?: Pick<Annotations, 'merge' | 'get'>;
  readonly now: () => number;
}

/**
 * CRAWL-11.2 chain 4: puts the object and its document's record into the URI's batch, which also removes the URI from its queue.
 * Times follow G-108.
 */
export class WriterProcessor implements Processor {
  readonly name = 'Writer';

  /**
   * G-81: whether this run has stored a URL with a login. The same URL without the login may be crawled too, and both have the same
   * object, so from then on the store must look up the former summary.
   */
  #loginSeen = false;

  constructor(readonly options: WriterOptions) {}

  async process(uri: CrawlUri): Promise<ProcessResult> {
    this.#loginSeen ||= uri.redactedUrl !== uri.url;
    if (uri.disposition === 'summarized') this.#store(uri);
    else if (uri.disposition === 'unchanged') await this.#refresh(uri);
    else if (uri.disposition === 'rejected') this.#reject(uri);
    return 'proceed';
  }

  #store(uri: CrawlUri): void {
    const { now } = this.options;
    const essence = uri.essence!;
    // Exports rely on this time being the Update-Time in the object.
    const updateTime = uri.updateTime;
    const known = uri.document;
    const url = uri.redactedUrl;
    const { own, others } = this.#annotate(objectsOf(url, essence), url);
    const formerObjects = known?.objects ?? [];
    if (own !== undefined) {
      // An unknown document has no summary, because both are written in one batch.
      const previous = known === undefined ? null : formerObjects.length > 0 ? undefined : known.updateTime;
      uri.batch.putSummary(
        { url, updateTime, timeToLive: this.#timeToLive(own, uri.batch), soif: own },
        this.#formerUpdateTime(previous),
      );
    } else if (known !== undefined) uri.batch.deleteSummary(url, undefined, { deletedAt: now() });
    for (const other of others)
      uri.batch.putSummary({ ...other, updateTime, timeToLive: this.#timeToLive(other.soif, uri.batch) });
    const objects = others.map(({ url }) => url);
    const kept = new Set(objects);
    for (const object of formerObjects)
      if (!kept.has(object)) uri.batch.deleteSummary(object, undefined, { deletedAt: now() });
    const { md5, type } = essence;
    uri.batch.putDocument({ ...this.#document(uri, objects), updateTime, md5, type });
  }

  #annotate(objects: DocumentObjects, url: string): DocumentObjects {
    const { annotations } = this.options;
    if (annotations === undefined) return objects;
    const merged = (soif: Uint8Array, objectUrl: string): Uint8Array =>
      annotations.get(objectUrl) === undefined ? soif : encodeSoif(annotations.merge(decodeSoif(soif)));
    const { own, others } = objects;
    return {
      own: own === undefined ? undefined : merged(own, url),
      others: others.map((object) => ({ ...object, soif: merged(object.soif, object.url) })),
    };
  }

  /** Sets the Update-Time of the summary, and of every other object from the document, to the current time. */
  async #refresh(uri: CrawlUri): Promise<void> {
    const { summaries, now } = this.options;
    const known = uri.document!;
    const updateTime = now();
    const lastModified = uri.fetched?.lastModified || known.lastModificationTime;
    let refreshed = 0;
    for (const url of known.objects.length > 0 ? known.objects : [known.url]) {
      const summary = await summaries.get(url);
      if (summary === undefined) continue;
      const object = withUrl(decodeSoif(summary.soif), url).with([
        ['Update-Time', String(updateTime)],
        ['Last-Modification-Time', String(lastModified)],
      ]);
      const { contentTime } = summary;
      uri.batch.putSummary(
        { url, updateTime, timeToLive: summary.timeToLive, soif: encodeSoif(object), contentTime },
        url === known.url ? this.#formerUpdateTime(known.updateTime) : undefined,
      );
      refreshed++;
    }
    if (refreshed === 0) return;
    uri.batch.putDocument({
      ...known,
      updateTime,
      fetchTime: updateTime,
      lastModificationTime: lastModified,
    });
  }

  /** Returns the Update-Time of the former summary; undefined makes the store look it up. */
  #formerUpdateTime<T>(updateTime: T): T | undefined {
    return this.#loginSeen ? undefined : updateTime;
  }

  /** E-25: a rejected document has no object; its former ones are deleted. */
  #reject(uri: CrawlUri): void {
    if (uri.document !== undefined) dropObjects(uri.document, uri.batch, this.options.now());
    uri.batch.putDocument({
      ...this.#document(uri),
      md5: uri.essence?.md5 ?? '',
      type: uri.essence?.type ?? '',
    });
  }

  /** G-100, E-120: the object's own Time-to-Live, which a rule may have set; else the configured one. */
  #timeToLive(soif: Uint8Array, batch: GathererBatch): number {
    const attribute = decodeSoif(soif).text('Time-to-Live')?.trim() ?? '';
    const seconds = /^\d{1,15}$/.test(attribute) ? Number(attribute) : this.options.timeToLive;
    this.options.minTimeToLive.record(seconds, batch);
    return seconds;
  }

  #document(uri: CrawlUri, objects: readonly string[] = []): DocumentRecord {
    const fetched = uri.fetched!;
    const url = uri.redactedUrl;
    return {
      url,
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
      rulesDigest: this.options.rulesDigest({ url, objects }),
      objects,
      referenced: true,
    };
  }
}

/** Former versions of this kit percent-encoded bytes of the URL in an object (SOIF-2.9), but not in its key. */
function withUrl(object: SoifObject, url: string): SoifObject {
  if (object.url === url) return object;
  return SoifObject.of(
    object.type,
    url,
    object.attributes.map(({ name, value }) => [name, value] as const),
  );
}

interface DocumentObjects {
  readonly own: Uint8Array | undefined;
  readonly others: readonly ExplodedObject[];
}

/** Splits the objects of a document into the one under its own URL and those under other URLs (E-47, E-130). */
function objectsOf(url: string, { soif, url: name = url, exploded = [] }: EssenceOutput): DocumentObjects {
  if (soif === undefined) return { own: undefined, others: exploded };
  return name === url
    ? { own: soif, others: exploded }
    : { own: undefined, others: [{ url: name, soif }, ...exploded] };
}
