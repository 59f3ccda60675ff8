import type { Processor, ProcessResult } from '../chains.js';
import { type CrawlUri, FETCH_STATUS } from '../crawl-uri.js';
import { WholePattern } from '../decide/predicates.js';
import type { CrawlSettings } from '../order/settings.js';

export interface BlockerOptions {
  /** In the context of the URI (CRAWL-19.5). */
  readonly settings: (uri: CrawlUri) => Pick<CrawlSettings, 'blockAll' | 'blockPattern' | 'allowPattern'>;
}

/** Compiled patterns that are kept: settings and their sheets have a few. */
const MAX_PATTERNS = 1000;

/**
 * CRAWL-11.2, the Preselector's second half: everything is blocked; or what does not match `allowPattern`; or what matches
 * `blockPattern`. Patterns are RE2's and match the whole URI.
 */
export class Blocker implements Processor {
  readonly name = 'Blocker';
  readonly #patterns = new Map<string, WholePattern>();

  constructor(readonly options: BlockerOptions) {}

  /** @throws UsageError when a pattern is no regular expression */
  process(uri: CrawlUri): ProcessResult {
    const reason = this.#blockedBy(uri);
    if (reason === undefined) return 'proceed';
    uri.status = FETCH_STATUS.stoppedByName;
    uri.disposition = 'rejected';
    uri.reason = reason;
    return 'post';
  }

  #blockedBy(uri: CrawlUri): string | undefined {
    const { blockAll, blockPattern, allowPattern } = this.options.settings(uri);
    if (blockAll) return 'blockAll';
    if (allowPattern !== '' && !this.#pattern(allowPattern).matches(uri.url)) return 'not under allowPattern';
    if (blockPattern !== '' && this.#pattern(blockPattern).matches(uri.url)) return 'blockPattern';
    return undefined;
  }

  #pattern(source: string): WholePattern {
    let pattern = this.#patterns.get(source);
    if (pattern === undefined) {
      pattern = new WholePattern(source);
      if (this.#patterns.size >= MAX_PATTERNS) this.#patterns.clear();
      this.#patterns.set(source, pattern);
    }
    return pattern;
  }
}
