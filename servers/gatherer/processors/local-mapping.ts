import type { LocalMapper } from '../../../clients/fetch/index.js';
import type { Processor, ProcessResult } from '../../crawler/chains.js';
import type { CrawlUri } from '../../crawler/crawl-uri.js';
import { fetchRequest } from '../../crawler/processors/fetch.js';
import type { FetchLimits } from '../../crawler/processors/parts.js';

/**
 * G-71 to G-79: reads a document from the local file system if a Local-Mapping applies. It runs before
 * robots.txt is requested, because it contacts no server. If the mapping fails (G-75), the URI is fetched from
 * its server.
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
