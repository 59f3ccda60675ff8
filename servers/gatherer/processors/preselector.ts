import type { DocumentStore } from '../../../storage/index.js';
import type { Processor, ProcessResult } from '../../crawler/chains.js';
import { type CrawlUri, FETCH_STATUS } from '../../crawler/crawl-uri.js';
import { dropObjects } from './drop-objects.js';

export interface PreselectorOptions {
  /** Gives the type's name when the URL alone says that it is not wanted. */
  readonly stopped: (url: string) => string | undefined;
  /** What earlier runs have made; undefined: nothing. */
  readonly documents?: Pick<DocumentStore, 'get'>;
  /** Seconds since 1970. */
  readonly now: () => number;
}

/**
 * E-28, G-5: what is on the stop list by its name alone is not worth a transfer. It looks at the URL only, so that no
 * server is asked for an image that would be thrown away. When the stop list has changed there may be an object of it: that goes,
 * as it does when a document is rejected after it was fetched (E-25).
 */
export class Preselector implements Processor {
  readonly name = 'Preselector';

  constructor(readonly options: PreselectorOptions) {}

  async process(uri: CrawlUri): Promise<ProcessResult> {
    const { stopped, documents, now } = this.options;
    const type = stopped(uri.shownUrl);
    if (type === undefined) return 'proceed';
    uri.status = FETCH_STATUS.stoppedByName;
    uri.disposition = 'rejected';
    uri.reason = `type ${type} is on the stop list`;
    const known = await documents?.get(uri.shownUrl);
    if (known !== undefined) {
      dropObjects(known, uri.batch, now());
      // Nobody will look at it again, so nothing is kept of it, its links neither.
      uri.batch.deleteDocument(known.url).dropReferences(known.url);
    }
    return 'post';
  }
}
