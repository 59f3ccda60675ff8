import type { Processor, ProcessResult } from '../chains.js';
import { type CrawlUri, FETCH_STATUS } from '../crawl-uri.js';

/**
 * E-28, G-5: what is on the stop list by its name alone is not worth a transfer. It looks at the URL only, so that no
 * server is asked for an image that would be thrown away.
 */
export class Preselector implements Processor {
  readonly name = 'Preselector';

  /** `stopped` gives the type's name when the URL alone says that it is not wanted. */
  constructor(readonly stopped: (url: string) => string | undefined) {}

  process(uri: CrawlUri): ProcessResult {
    const type = this.stopped(uri.url);
    if (type === undefined) return 'proceed';
    uri.status = FETCH_STATUS.stoppedByName;
    uri.disposition = 'rejected';
    uri.reason = `type ${type} is on the stop list`;
    return 'post';
  }
}
