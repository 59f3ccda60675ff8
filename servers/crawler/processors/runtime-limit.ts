import type { Processor, ProcessResult } from '../chains.js';
import { type CrawlUri, FETCH_STATUS } from '../crawl-uri.js';
import type { ProcessorDescriptor, ProcessorParts } from './parts.js';

/**
 * CRAWL-11.3, with the settings `runtimeSeconds` and `runtimeOperation`: pauses or ends the crawl, once, after
 * this many seconds; the URIs in flight continue. With `block` every later URI fails with -5004, so that the
 * queues drain.
 */
export class RuntimeLimit implements Processor {
  readonly name = 'RuntimeLimit';
  readonly #done = new Set<string>();

  constructor(readonly options: ProcessorParts['runtime']) {}

  process(uri: CrawlUri): ProcessResult {
    const { runtimeSeconds: seconds, runtimeOperation: operation } = uri.settings;
    if (seconds === 0 || this.options.elapsed() < seconds) return 'proceed';
    // CRAWL-16.2: an annotation contains no space and no comma.
    const annotation = `runtimeLimit:${seconds}s`;
    if (operation === 'block') {
      uri.annotations.push(annotation);
      uri.status = FETCH_STATUS.runtimeLimit;
      uri.disposition = 'failed';
      uri.reason = `the crawl has run for ${seconds} seconds`;
      return 'post';
    }
    // The operation runs once: an operator who resumes a paused crawl knows the limit.
    if (this.#done.has(operation)) return 'proceed';
    this.#done.add(operation);
    uri.annotations.push(annotation);
    this.options[operation]();
    return 'proceed';
  }
}

export const RUNTIME_LIMIT: ProcessorDescriptor = {
  name: 'RuntimeLimit',
  chain: 'pre-fetch',
  text: 'pauses, ends or blocks the crawl after runtimeSeconds',
  rule: 'CRAWL-11.3',
  settings: ['runtimeSeconds', 'runtimeOperation'],
  ordered: true,
  classes: ['RuntimeLimitEnforcer'],
  create: ({ parts }) => new RuntimeLimit(parts.runtime),
};
