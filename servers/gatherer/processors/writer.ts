import { isWhole } from '../../../clients/fetch/index.js';
import { decodeSoif, encodeSoif, type SoifObject } from '../../../protocols/soif/index.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import { withoutUserInfo } from '../../../protocols/urls/index.js';
import type { GathererBatch } from '../../../storage/gatherer/batch.js';
import type { GathererStore } from '../../../storage/index.js';
import type { DocumentRecord } from '../../../storage/records/records.js';
import type { Summary, SummaryStore } from '../../../storage/summaries/summary-store.js';
import type { Processor, ProcessResult } from '../../crawler/chains.js';
import type { CrawlUri } from '../../crawler/crawl-uri.js';
import type { EssenceOutput, ExplodedObject } from '../../essence/model.js';
import type { Annotations } from '../annotate/annotations.js';
import { hasSameValues, isAnnotated, type RulesDigest } from '../configuration/rules-digest.js';
import type { CommitGate } from '../run/commit-gate.js';
import type { MinTimeToLive } from '../run/min-time-to-live.js';
import type { IndexDuplicates } from './index-duplicates.js';
import { type Documents, describedOnly, dropObjects } from './preselector.js';

export interface WriterOptions {
  readonly summaries: Pick<SummaryStore, 'get' | 'count'>;
  readonly documents: Documents;
  /** Has the annotated objects as they were before, so that changed annotations need no new summary. */
  readonly meta: Pick<GathererStore['meta'], 'get'>;
  readonly refreshRate: number;
  readonly timeToLive: number;
  /** The attributes that every object has with the same values (G-110). */
  readonly values: readonly (readonly [name: string, value: string])[];
  /** Records the time to live of every object that is stored. */
  readonly minTimeToLive: MinTimeToLive;
  readonly rulesDigest: RulesDigest;
  /** Annotations to merge into every object (G-141). */
  readonly annotations: Pick<Annotations, 'merge' | 'get'> | undefined;
  /** Leaves out the page of a directory under a second name. Default: every URL is a document. */
  readonly indexDuplicates?: Pick<IndexDuplicates, 'firstOf'> | undefined;
  /** Returns the time of the changes by a URI. */
  readonly gate: Pick<CommitGate, 'enter' | 'horizon'>;
}

/**
 * CRAWL-11.2 chain 4: puts the object and its document's record into the URI's batch, which also removes the
 * URI from its queue. Times follow G-108.
 */
export class WriterProcessor implements Processor {
  readonly #options: WriterOptions;
  readonly name = 'Writer';

  /**
   * G-81: whether this run has stored a URL with a login. The same URL without the login may be crawled too,
   * and both have the same object, so from then on the store must look up the former summary.
   */
  #loginSeen = false;
  /** Whether a new document may have an object already, which another one has described (E-47). */
  #isDescribed: boolean;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#isDescribed = options.summaries.count > 0;
  }

  async process(uri: CrawlUri): Promise<ProcessResult> {
    this.#loginSeen ||= uri.redactedUrl !== uri.url;
    await this.#rejectDuplicate(uri);
    const now = await this.#options.gate.enter(uri);
    if (uri.disposition === 'summarized') await this.#store(uri, now);
    else if (uri.disposition === 'unchanged') await this.#refresh(uri, now);
    else if (uri.disposition === 'kept') await this.#updateKept(uri, now);
    else if (uri.disposition === 'rejected') await this.#reject(uri, now);
    return 'proceed';
  }

  /** Its links are kept. An object that it has from an earlier run is deleted when it is due. */
  async #rejectDuplicate(uri: CrawlUri): Promise<void> {
    const first = await this.#options.indexDuplicates?.firstOf(uri.redactedUrl, digestOf(uri));
    if (first === undefined || uri.disposition === 'kept') return;
    uri.disposition = 'rejected';
    uri.reason = `it has the content of ${first}`;
    uri.annotations.push(SAME_PAGE);
  }

  async #store(uri: CrawlUri, now: UnixSeconds): Promise<void> {
    // What was published meanwhile may be newer than the summary; or the clock was set back since it was made.
    if (uri.updateTime < this.#options.gate.horizon || uri.updateTime > now) restamp(uri, now);
    const essence = uri.essence!;
    // Exports rely on this time being the Update-Time in the object.
    const updateTime = uri.updateTime;
    const known = uri.document;
    const url = uri.redactedUrl;
    const { documents } = this.#options;
    const found = objectsOf(url, essence);
    const described = new Set(
      await describedOnly(
        found.others.map((object) => object.url),
        documents,
      ),
    );
    const isUsed = (object: ExplodedObject): boolean => object.url === url || described.has(object.url);
    const used = { ...found, others: found.others.filter(isUsed) };
    const { own, others } = this.#annotate(used, url, uri.batch);
    const formerObjects = await describedOnly(known?.objects ?? [], documents);
    const hadObjects = (known?.objects.length ?? 0) > 0;
    this.#isDescribed ||= others.length > 0;
    if (own !== undefined) {
      // An unknown document has no summary, because both are written in one batch.
      const unknown = this.#isDescribed ? undefined : null;
      const previous = known === undefined ? unknown : hadObjects ? undefined : known.updateTime;
      uri.batch.putSummary(
        { url, updateTime, timeToLive: this.#timeToLive(own, uri.batch), soif: own },
        this.#formerUpdateTime(previous),
      );
    } else if (known !== undefined) uri.batch.deleteSummary(url, undefined, { deletedAt: now });
    for (const other of others)
      uri.batch.putSummary({ ...other, updateTime, timeToLive: this.#timeToLive(other.soif, uri.batch) });
    const objects = others.map(({ url }) => url);
    const kept = new Set(objects);
    for (const object of formerObjects)
      if (!kept.has(object)) uri.batch.deleteSummary(object, undefined, { deletedAt: now });
    const { type } = essence;
    uri.batch.putDocument({ ...this.#document(uri, now, objects), updateTime, md5: md5Of(uri), type });
  }

  #annotate({ own, others }: DocumentObjects, url: string, batch: GathererBatch): DocumentObjects {
    if (this.#options.annotations === undefined) return { own, others };
    const merged = (soif: Uint8Array, objectUrl: string): Uint8Array => {
      const object = decodeSoif(soif);
      const result = this.#merge(object, objectUrl, batch);
      return result === object ? soif : encodeSoif(result);
    };
    return {
      own: own === undefined ? undefined : merged(own, url),
      others: others.map((object) => ({ ...object, soif: merged(object.soif, object.url) })),
    };
  }

  /**
   * Merges the annotation into an object, and stores the object as it was; the same object if it is not
   * annotated.
   */
  #merge(automatic: SoifObject, url: string, batch: GathererBatch): SoifObject {
    const { annotations } = this.#options;
    if (annotations?.get(url) === undefined) {
      batch.deleteMeta(automaticKey(url));
      return automatic;
    }
    batch.putMeta(automaticKey(url), Buffer.from(encodeSoif(automatic)).toString('latin1'));
    return annotations.merge(automatic);
  }

  /** Returns an object as it was before annotations were merged into it. */
  async #automatic(url: string, { soif }: Summary, { rulesDigest }: DocumentRecord): Promise<SoifObject> {
    const stored = isAnnotated(rulesDigest) ? await this.#options.meta.get(automaticKey(url)) : undefined;
    return decodeSoif(typeof stored === 'string' ? Buffer.from(stored, 'latin1') : soif);
  }

  /**
   * G-110, G-141: annotations and values that changed are written into an object that is not due. The time when
   * it is due stays, unless the configured rate is another one.
   */
  async #updateKept(uri: CrawlUri, now: UnixSeconds): Promise<void> {
    const known = uri.document!;
    const current = this.#options.rulesDigest(known);
    if (known.rulesDigest === current) return;
    const dueAt = hasSameValues(known.rulesDigest, current)
      ? known.updateTime + known.refreshRate
      : known.fetchTime + this.#options.refreshRate;
    await this.#refresh(uri, now, {
      refreshRate: Math.max(0, dueAt - now),
      fetchTime: known.fetchTime,
    });
  }

  /** Sets the Update-Time of the summary, and of every other object from the document, to the current time. */
  async #refresh(
    uri: CrawlUri,
    updateTime: UnixSeconds,
    record: Partial<Pick<DocumentRecord, 'refreshRate' | 'fetchTime'>> = {},
  ): Promise<void> {
    const known = uri.document!;
    // It was rejected, and still is.
    if (known.updateTime === 0) return;
    const rulesDigest = this.#options.rulesDigest(known);
    const isMerged = known.rulesDigest !== rulesDigest;
    const lastModificationTime = uri.fetched?.lastModified || known.lastModificationTime;
    const times = { updateTime, lastModificationTime };
    const described = await describedOnly(known.objects, this.#options.documents);
    for (const url of known.objects.length > 0 ? described : [known.url]) {
      const previous = url === known.url ? this.#formerUpdateTime(known.updateTime) : undefined;
      if (isMerged) await this.#mergeAgain(uri, url, times, previous);
      else uri.batch.refreshSummary(url, times, previous);
    }
    uri.document = {
      ...known,
      updateTime,
      fetchTime: updateTime,
      lastModificationTime,
      refreshRate: this.#options.refreshRate,
      rulesDigest,
      ...record,
    };
    uri.batch.putDocument(uri.document);
  }

  /** G-110, G-141: merges the current values and annotations into an object. */
  async #mergeAgain(
    uri: CrawlUri,
    url: string,
    times: { readonly updateTime: number; readonly lastModificationTime: number },
    previous: number | undefined,
  ): Promise<void> {
    const known = uri.document!;
    const summary = await this.#options.summaries.get(url, known.updateTime);
    if (summary === undefined) return;
    const isSame = hasSameValues(known.rulesDigest, this.#options.rulesDigest(known));
    const former = await this.#automatic(url, summary, known);
    // Former versions of this kit percent-encoded bytes of the URL in an object (SOIF-2.9), but not in its key.
    const current = former
      .withUrl(url)
      .with([
        ['Update-Time', String(times.updateTime)],
        ['Last-Modification-Time', String(times.lastModificationTime)],
        ...(isSame ? [] : this.#options.values),
      ]);
    const soif = encodeSoif(this.#merge(current, url, uri.batch));
    const timeToLive = this.#timeToLive(soif, uri.batch);
    uri.batch.putSummary({ url, updateTime: times.updateTime, timeToLive, soif }, previous);
  }

  /** Returns the Update-Time of the former summary; undefined makes the store look it up. */
  #formerUpdateTime<T>(updateTime: T): T | undefined {
    return this.#loginSeen ? undefined : updateTime;
  }

  /** E-25: a rejected document has no object; its former ones are deleted. */
  async #reject(uri: CrawlUri, now: UnixSeconds): Promise<void> {
    if (uri.document !== undefined) await dropObjects(uri.document, this.#options.documents, uri.batch, now);
    uri.batch.putDocument({
      ...this.#document(uri, now),
      md5: md5Of(uri),
      type: uri.essence?.type ?? '',
    });
  }

  /** G-100, E-120: the object's own Time-to-Live, which a rule may have set; else the configured one. */
  #timeToLive(soif: Uint8Array, batch: GathererBatch): number {
    const attribute = decodeSoif(soif).text('Time-to-Live')?.trim() ?? '';
    const seconds = /^\d{1,15}$/.test(attribute) ? Number(attribute) : this.#options.timeToLive;
    this.#options.minTimeToLive.record(seconds, batch);
    return seconds;
  }

  #document(uri: CrawlUri, now: UnixSeconds, objects: readonly string[] = []): DocumentRecord {
    const fetched = uri.fetched!;
    const url = uri.redactedUrl;
    // CRAWL-18.9: a 304 must not confirm a document that is not complete.
    const { lastModified, etag } = isWhole(fetched) ? fetched : { lastModified: 0, etag: '' };
    return {
      url,
      status: fetched.status,
      fetchTime: now,
      updateTime: 0,
      refreshRate: this.#options.refreshRate,
      lastModificationTime: lastModified,
      etag,
      md5: '',
      type: '',
      size: uri.size,
      links: uri.outLinks,
      rulesDigest: this.#options.rulesDigest({ url, objects }),
      objects,
      referenced: true,
    };
  }
}

/** MD5 of the document of an object; empty if the URI has none. */
function digestOf(uri: CrawlUri): string {
  const { disposition, essence, document } = uri;
  if (disposition === 'summarized') return essence?.soif === undefined ? '' : md5Of(uri);
  const isKnown = disposition === 'unchanged' || disposition === 'kept';
  return isKnown && document !== undefined && document.updateTime > 0 ? document.md5 : '';
}

/** MD5 of a document that was read now; empty if it is not complete (CRAWL-18.9). */
function md5Of({ essence, fetched }: CrawlUri): string {
  return essence === undefined || fetched === undefined || !isWhole(fetched) ? '' : essence.md5;
}

/** The annotation of the page of a directory under a second name. */
export const SAME_PAGE = 'duplicate:index';

/** Gives the objects of a document another Update-Time. */
function restamp(uri: CrawlUri, updateTime: UnixSeconds): void {
  const stamped = (soif: Uint8Array): Uint8Array =>
    encodeSoif(decodeSoif(soif).with([['Update-Time', String(updateTime)]]));
  const essence = uri.essence!;
  const { soif, exploded } = essence;
  uri.updateTime = updateTime;
  uri.essence = {
    ...essence,
    ...(soif === undefined ? {} : { soif: stamped(soif) }),
    ...(exploded === undefined
      ? {}
      : { exploded: exploded.map((object) => ({ ...object, soif: stamped(object.soif) })) }),
  };
}

/** The row with an annotated object as it was before. */
const automaticKey = (url: string): string => `automatic.${url}`;

interface DocumentObjects {
  readonly own: Uint8Array | undefined;
  readonly others: readonly ExplodedObject[];
}

/** Splits the objects of a document into the one under its own URL and those under other URLs (E-47, E-130). */
function objectsOf(url: string, { soif, url: name = url, exploded = [] }: EssenceOutput): DocumentObjects {
  const found = exploded.map(withoutLogin);
  if (soif === undefined) return { own: undefined, others: found };
  return name === url
    ? { own: soif, others: found }
    : { own: undefined, others: [withoutLogin({ url: name, soif }), ...found] };
}

/** G-81: documents and programs name the URLs of these objects. */
function withoutLogin(object: ExplodedObject): ExplodedObject {
  const url = withoutUserInfo(object.url);
  return url === object.url ? object : { url, soif: encodeSoif(decodeSoif(object.soif).withUrl(url)) };
}
