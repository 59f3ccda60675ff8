import type { Processor, ProcessResult } from '../chains.js';
import { type CrawlUri, FETCH_STATUS } from '../crawl-uri.js';
import { WholePattern } from '../decide/predicates.js';
import type { CrawlSettings } from '../order/settings.js';
import { cachedPatterns } from '../patterns.js';
import type { ProcessorDescriptor } from './parts.js';

export interface BlockerOptions {
  /** Returns the settings of the URI with its sheets applied (CRAWL-19.5). */
  readonly settings: (uri: CrawlUri) => Pick<CrawlSettings, 'blockAll' | 'blockPattern' | 'allowPattern'>;
}

/**
 * CRAWL-11.2, the second half of the Preselector: rejects every URI (`blockAll`), those that `allowPattern`
 * does not match, and those that `blockPattern` matches. Patterns are in RE2 syntax and match whole URIs.
 */
export class Blocker implements Processor {
  readonly name = 'Blocker';
  readonly #compile = cachedPatterns((source) => new WholePattern(source));

  constructor(readonly options: BlockerOptions) {}

  /** @throws UsageError when a pattern is not a regular expression */
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
    if (allowPattern !== '' && !this.#compile(allowPattern).matches(uri.url))
      return 'not matched by allowPattern';
    if (blockPattern !== '' && this.#compile(blockPattern).matches(uri.url)) return 'blockPattern';
    return undefined;
  }
}

export const BLOCKER: ProcessorDescriptor = {
  name: 'Blocker',
  chain: 'pre-fetch',
  text: 'rejects URIs by blockAll, allowPattern, blockPattern',
  rule: 'CRAWL-11.2',
  settings: ['blockAll', 'blockPattern', 'allowPattern'],
  ordered: true,
  classes: ['Preselector'],
  create: () => new Blocker({ settings: ({ settings }) => settings }),
};
