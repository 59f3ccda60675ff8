import type { Processor, ProcessResult } from '../chains.js';
import type { CrawlUri } from '../crawl-uri.js';
import { FETCH_HISTORY, type FetchHistory } from './fetch-history.js';
import type { ProcessorDescriptor } from './parts.js';

/** The annotation of a URI whose processing {@link ChangeEvaluator} ends. */
export const UNCHANGED = 'unchanged';

/**
 * CRAWL-18.8, with the setting `skipUnchanged`: a document with the digest of its last fetch gets the
 * annotation `unchanged`; its links are not followed, and nothing is extracted or written. It is for crawls
 * that look for changes on known pages; it does not suit a crawl that finds new pages through unchanged ones.
 */
export class ChangeEvaluator implements Processor {
  readonly name = 'ChangeEvaluator';

  constructor(readonly history: Pick<FetchHistory, 'isUnchanged'>) {}

  process(uri: CrawlUri): ProcessResult {
    if (!uri.settings.skipUnchanged || !this.history.isUnchanged(uri)) return 'proceed';
    uri.annotations.push(UNCHANGED);
    uri.outLinks = [];
    uri.disposition = 'unchanged';
    return 'post';
  }
}

export const CHANGE_EVALUATOR: ProcessorDescriptor = {
  name: 'ChangeEvaluator',
  chain: 'extract',
  text: 'with skipUnchanged: an unchanged document is not read again',
  rule: 'CRAWL-18.8',
  requires: ['FetchHistory'],
  settings: ['skipUnchanged'],
  ordered: true,
  classes: ['ChangeEvaluator'],
  create: ({ of }) => {
    const history = of(FETCH_HISTORY);
    return history && new ChangeEvaluator(history);
  },
};
