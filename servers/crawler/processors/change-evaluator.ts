import type { Processor, ProcessResult } from '../chains.js';
import type { CrawlUri } from '../crawl-uri.js';
import type { FetchHistory } from './fetch-history.js';

/**
 * CRAWL-18.8: a document whose digest is the last one's is not looked at again: annotation `unchanged`, no links are followed
 * from it, and nothing is extracted or written. For crawls that look for changes on pages they know; a crawl that is to find its
 * way through unchanged pages must do without it.
 */
export class ChangeEvaluator implements Processor {
  readonly name = 'ChangeEvaluator';

  constructor(readonly history: Pick<FetchHistory, 'isUnchanged'>) {}

  process(uri: CrawlUri): ProcessResult {
    if (!this.history.isUnchanged(uri)) return 'proceed';
    uri.annotations.push('unchanged');
    uri.outLinks = [];
    uri.disposition = 'unchanged';
    return 'post';
  }
}
