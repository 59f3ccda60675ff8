import type { LocalMapper } from '../../../clients/fetch/index.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import type { DocumentRecord, DocumentStore, GathererBatch } from '../../../storage/index.js';
import type { Processor, ProcessResult } from '../../crawler/chains.js';
import { type CrawlUri, FETCH_STATUS } from '../../crawler/crawl-uri.js';
import { fetchRequest } from '../../crawler/processors/fetch.js';
import type { FetchLimits } from '../../crawler/processors/parts.js';
import type { CommitGate } from '../run/commit-gate.js';
import type { RootLimits } from '../scope/root-limits.js';

export interface PreselectorOptions {
  /** Returns the name of a URL's type if it is on the stop list; undefined for other types. */
  readonly stoppedType: (url: string) => string | undefined;
  /** The records of earlier runs; undefined on the first run. */
  readonly documents: Pick<DocumentStore, 'get'> | undefined;
  /** The limits of the RootNodes, by their index. */
  readonly roots: readonly Pick<RootLimits, 'countsVisits' | 'countVisit' | 'rules'>[];
  /** Returns the time of the deletions by a URI. */
  readonly gate: Pick<CommitGate, 'enter'>;
}

/**
 * E-28, G-5: rejects URIs whose URL shows a type of the stop list, so that no server is contacted for them. If
 * the stop list has changed, an earlier object is deleted, as for a document that is rejected after its
 * transfer (E-25).
 */
export class Preselector implements Processor {
  readonly #options: PreselectorOptions;
  readonly name = 'Preselector';

  constructor(options: PreselectorOptions) {
    this.#options = options;
  }

  async process(uri: CrawlUri): Promise<ProcessResult> {
    if (await this.#exceedsUrlMax(uri)) return 'post';
    // An archive has images and styles, too.
    if (uri.settings.embeds !== 'frames') return 'proceed';
    const { stoppedType, documents, gate } = this.#options;
    const type = stoppedType(uri.redactedUrl);
    if (type === undefined) return 'proceed';
    uri.status = FETCH_STATUS.stoppedByName;
    uri.disposition = 'rejected';
    uri.reason = `type ${type} is on the stop list`;
    const known = await documents?.get(uri.redactedUrl);
    if (known !== undefined) {
      await dropObjects(known, documents!, uri.batch, await gate.enter(uri));
      // It will not be fetched again, so its record and links are deleted too.
      uri.batch.deleteDocument(known.url).dropReferences(known.url);
    }
    return 'post';
  }

  /** G-32: the URL-Max of a search in depth. */
  async #exceedsUrlMax(uri: CrawlUri): Promise<boolean> {
    const { url, root, attempts, pathFromSeed } = uri.entry.uri;
    const limits = this.#options.roots[root];
    if (limits?.countsVisits !== true || pathFromSeed === '') return false;
    if (await limits.countVisit(url, attempts > 0)) return false;
    uri.status = FETCH_STATUS.quotaReached;
    uri.disposition = 'rejected';
    uri.reason = `URL=${limits.rules.root.urlMax} of its RootNode is reached`;
    return true;
  }
}

/**
 * E-25: deletes the objects of a document and leaves tombstones, which inform Brokers (GATHERD-4.9).
 *
 * @param document its record, with its own object or several others (E-47)
 */
export async function dropObjects(
  { url, objects, updateTime }: DocumentRecord,
  documents: Documents,
  batch: GathererBatch,
  deletedAt: UnixSeconds,
): Promise<void> {
  for (const object of await describedOnly(objects, documents))
    batch.deleteSummary(object, undefined, { deletedAt });
  if (objects.length === 0 && updateTime > 0) batch.deleteSummary(url, undefined, { deletedAt });
}

/** The documents of earlier fetches. */
export type Documents = Pick<DocumentStore, 'get'>;

/**
 * Returns the URLs whose documents have no object of their own: what was fetched takes precedence over what another
 * document says about it (E-47).
 */
export async function describedOnly(urls: readonly string[], documents: Documents): Promise<string[]> {
  const found: string[] = [];
  for (const url of urls) {
    const record = await documents.get(url);
    if (record === undefined || record.updateTime === 0 || record.objects.length > 0) found.push(url);
  }
  return found;
}

/**
 * G-71 to G-79: reads a document from the local file system if a Local-Mapping applies. It runs before
 * robots.txt is requested, because it contacts no server. If the mapping fails (G-75), the URI is fetched from
 * its server.
 */
export class LocalMappingProcessor implements Processor {
  readonly #mapper: LocalMapper;
  readonly #limits: FetchLimits;
  readonly name = 'LocalMapping';

  constructor(mapper: LocalMapper, limits: FetchLimits) {
    this.#mapper = mapper;
    this.#limits = limits;
  }

  async process(uri: CrawlUri): Promise<ProcessResult> {
    if (uri.disposition !== 'kept') uri.fetched = await this.#mapper.fetch(fetchRequest(uri, this.#limits));
    return 'proceed';
  }
}
