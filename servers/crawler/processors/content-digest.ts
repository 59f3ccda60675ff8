import type { RE2JS } from 're2js';
import { isPayloadWhole, isWhole } from '../../../clients/fetch/index.js';
import type { Processor, ProcessResult } from '../chains.js';
import type { CrawlUri } from '../crawl-uri.js';
import type { CrawlSettings } from '../order/settings.js';
import { cachedPatterns, compileRe2 } from '../patterns.js';
import { payloadDigestOf } from '../warc/captures.js';
import { sha1Base32 } from '../warc/digest.js';
import { FETCH_HISTORY, type FetchHistory } from './fetch-history.js';
import type { ProcessorDescriptor } from './parts.js';

/** The settings of a URI that its digest depends on. */
export type DigestSettings = Pick<CrawlSettings, 'digestStripPattern' | 'digestStripMaxKB'>;

export interface ContentDigestOptions {
  /**
   * Maximum number of milliseconds for stripping one page; the rest of its text is digested unchanged. Default
   * 1000.
   */
  readonly maxStripMs?: number;
}

/** Characters per match. A longer line is cut into pieces of this length. */
const PIECE_LENGTH = 2048;

/**
 * Computes the digest of the body (CRAWL-11.8, 16.1 field 10) into `uri.digest`: `sha1:` and base32. The
 * setting `digestStripPattern` selects the digest of HTTPContentDigest (CRAWL-18.7): each match, text that
 * changes on every fetch, is replaced by a space first. Such a digest is for comparisons only. The processor
 * must run before Essence, which transfers the body to a thread.
 */
export class ContentDigest implements Processor {
  readonly name = 'ContentDigest';
  readonly #compile = cachedPatterns((source) => compileRe2(source));
  readonly #maxMs: number;

  constructor({ maxStripMs = 1000 }: ContentDigestOptions = {}) {
    this.#maxMs = maxStripMs;
  }

  process(uri: CrawlUri): ProcessResult {
    const { fetched, settings } = uri;
    // A 304 has no body. The body of a local or listed document may be empty and then has no digest.
    if (fetched === undefined || fetched.body.length === 0) return 'proceed';
    // CRAWL-18.9: what is not complete has no digest, so that nothing can equal it.
    if (!isPayloadWhole(fetched)) return 'proceed';
    if (!isWhole(fetched)) {
      // Only the beginning is in memory; an archive has the digest of the whole.
      if (fetched.wire !== undefined) uri.digest = payloadDigestOf(fetched);
      return 'proceed';
    }
    uri.digest = this.digest(fetched.body, settings, fetched.contentType, fetched.charset);
    return 'proceed';
  }

  /**
   * @param contentType media type without parameters; only texts are stripped
   * @throws UsageError when the pattern is not a regular expression
   */
  digest(
    body: Uint8Array,
    { digestStripPattern, digestStripMaxKB }: DigestSettings,
    contentType?: string,
    charset?: string,
  ): string {
    const tooLarge = digestStripMaxKB >= 0 && body.length > digestStripMaxKB * 1024;
    if (digestStripPattern === '' || tooLarge || !isText(contentType)) return sha1Base32(body);
    const pattern = this.#compile(digestStripPattern);
    return sha1Base32(Buffer.from(this.#strip(decode(body, charset), pattern), 'utf8'));
  }

  /**
   * RE2 finds one match in linear time, but finding all of them may take quadratic time. The text is therefore
   * matched in pieces, and a hostile page costs no more than the time limit.
   */
  #strip(text: string, pattern: RE2JS): string {
    const parts: string[] = [];
    const deadline = performance.now() + this.#maxMs;
    for (let start = 0; start < text.length; ) {
      if (performance.now() > deadline) {
        parts.push(text.slice(start));
        break;
      }
      const end = pieceEnd(text, start);
      parts.push(pattern.matcher(text.slice(start, end)).replaceAll(' '));
      start = end;
    }
    return parts.join('');
  }
}

/** Returns the end of the last whole line within a piece; within a longer line, the end of the piece. */
function pieceEnd(text: string, start: number): number {
  if (text.length - start <= PIECE_LENGTH) return text.length;
  const newline = text.lastIndexOf('\n', start + PIECE_LENGTH - 1);
  return newline < start ? start + PIECE_LENGTH : newline + 1;
}

function isText(contentType: string | undefined): boolean {
  return contentType?.startsWith('text/') === true || contentType === 'application/xhtml+xml';
}

function decode(body: Uint8Array, charset: string | undefined): string {
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return new TextDecoder().decode(body); // an unknown charset
  }
}

export const CONTENT_DIGEST: ProcessorDescriptor = {
  name: 'ContentDigest',
  chain: 'fetch',
  text: 'the digest of the body, without what digestStripPattern matches',
  rule: 'CRAWL-18.7',
  after: ['Fetch'],
  settings: ['digestStripPattern', 'digestStripMaxKB'],
  ordered: true,
  formerNames: ['HTTPContentDigest'],
  create: () => new ContentDigest(),
};

/** The annotation of a URI whose processing {@link ChangeEvaluator} ends. */
export const UNCHANGED = 'unchanged';

/**
 * CRAWL-18.8, with the setting `skipUnchanged`: a document with the digest of its last fetch gets the
 * annotation `unchanged`; its links are not followed, and nothing is extracted or written. It is for crawls
 * that look for changes on known pages; it does not suit a crawl that finds new pages through unchanged ones.
 */
export class ChangeEvaluator implements Processor {
  readonly #history: Pick<FetchHistory, 'isUnchanged'>;
  readonly name = 'ChangeEvaluator';

  constructor(history: Pick<FetchHistory, 'isUnchanged'>) {
    this.#history = history;
  }

  process(uri: CrawlUri): ProcessResult {
    if (!uri.settings.skipUnchanged || !this.#history.isUnchanged(uri)) return 'proceed';
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
