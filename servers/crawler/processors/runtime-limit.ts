import type { Processor, ProcessResult } from '../chains.js';
import type { CrawlControl } from '../control.js';
import { type CrawlUri, FETCH_STATUS } from '../crawl-uri.js';

export interface RuntimeLimitOptions {
  /** Default 86 400. */
  readonly seconds?: number;
  /** What happens then; default `pause`. */
  readonly operation?: 'pause' | 'terminate' | 'block';
  /** Seconds of crawling, pauses left out. */
  readonly elapsed: () => number;
  readonly control: Pick<CrawlControl, 'pause' | 'stop'>;
}

/**
 * CRAWL-11.3: when the crawl has run long enough it is paused or ended, once: the URIs that are on their way go on, and an operator
 * who resumes a paused crawl has seen what happened. With `block` every further URI fails with -5004, so that the queues run dry.
 */
export class RuntimeLimit implements Processor {
  readonly name = 'RuntimeLimit';
  #told = false;

  constructor(readonly options: RuntimeLimitOptions) {}

  process(uri: CrawlUri): ProcessResult {
    const { seconds = 86_400, operation = 'pause', elapsed, control } = this.options;
    if (elapsed() < seconds) return 'proceed';
    if (operation !== 'block') {
      if (this.#told) return 'proceed';
      this.#told = true;
      uri.annotations.push(limitText(seconds));
      if (operation === 'pause') control.pause();
      else control.stop();
      return 'proceed';
    }
    uri.annotations.push(limitText(seconds));
    uri.status = FETCH_STATUS.runtimeLimit;
    uri.disposition = 'failed';
    uri.reason = `the crawl has run for ${seconds} seconds`;
    return 'post';
  }
}

/** CRAWL-16.2: the run-time limit's text; an annotation holds no blank and no comma. */
function limitText(seconds: number): string {
  return `runtimeLimit:${seconds}s`;
}
