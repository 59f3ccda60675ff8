import type { LocalMapper } from '../../../clients/fetch/index.js';
import type { Processor, ProcessResult } from '../../crawler/chains.js';
import type { CrawlUri } from '../../crawler/crawl-uri.js';
import { type FetchLimits, fetchRequest } from '../../crawler/processors/fetch.js';

/**
 * G-71 to G-79: a document whose server's files lie on this machine is read from there. It comes before robots.txt is asked for,
 * because nobody is contacted; where the mapping fails (G-75) the URI goes on to its server in the usual way.
 */
export class LocalMappingProcessor implements Processor {
  readonly name = 'LocalMapping';

  constructor(
    readonly mapper: LocalMapper,
    readonly limits: FetchLimits,
  ) {}

  async process(uri: CrawlUri): Promise<ProcessResult> {
    if (uri.disposition !== 'kept') uri.fetched = await this.mapper.fetch(fetchRequest(uri, this.limits));
    return 'proceed';
  }
}
