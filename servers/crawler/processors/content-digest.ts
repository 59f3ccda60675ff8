import { RE2JS } from 're2js';
import { UsageError } from '../../../protocols/errors.js';
import type { Processor, ProcessResult } from '../chains.js';
import type { CrawlUri } from '../crawl-uri.js';
import { sha1Base32 } from '../warc/digest.js';

export interface ContentDigestOptions {
  /** CRAWL-18.7: what matches (counters, dates) is replaced by a blank; in RE2's language, a line at a time. Empty: nothing. */
  readonly stripPattern?: string;
  /** Texts that are longer are digested as they are. Bytes, default 1 MiB. */
  readonly maxStripBytes?: number;
  /** Milliseconds for replacing; what is left of the text then is taken as it is. Default 1000. */
  readonly maxStripMs?: number;
}

/** Characters that the pattern is shown at once at most; a longer line is cut into such pieces. */
const PIECE = 2048;

/**
 * The digest of the body (CRAWL-11.8, 16.1 field 10) into `uri.digest`: `sha1:` and base32. With a pattern it is that of
 * HTTPContentDigest (CRAWL-18.7), which tells whether a page changed apart from what changes all the time; it is good for
 * comparing and for nothing else. It has to stand before Essence, which gives the body away.
 */
export class ContentDigest implements Processor {
  readonly name = 'ContentDigest';
  readonly #pattern: RE2JS | undefined;
  readonly #maxBytes: number;
  readonly #maxMs: number;

  /** @throws UsageError when the pattern is no regular expression */
  constructor({ stripPattern = '', maxStripBytes = 1 << 20, maxStripMs = 1000 }: ContentDigestOptions = {}) {
    this.#pattern = stripPattern === '' ? undefined : compile(stripPattern);
    this.#maxBytes = maxStripBytes;
    this.#maxMs = maxStripMs;
  }

  process(uri: CrawlUri): ProcessResult {
    const { fetched } = uri;
    // 304 brings no body; that of a local or listed document may be empty, and then has no digest either.
    if (fetched === undefined || fetched.body.length === 0) return 'proceed';
    uri.digest = this.digest(fetched.body, fetched.contentType, fetched.charset);
    return 'proceed';
  }

  /** @param contentType media type without parameters: only texts are looked into */
  digest(body: Uint8Array, contentType?: string, charset?: string): string {
    const pattern = this.#pattern;
    if (pattern === undefined || body.length > this.#maxBytes || !isText(contentType))
      return sha1Base32(body);
    return sha1Base32(Buffer.from(this.#stripped(decoded(body, charset), pattern), 'utf8'));
  }

  /**
   * RE2 finds one match in linear time, but looking for all of them may take the square of it: the text comes in pieces, and
   * a page that was made to hurt costs no more than the time set.
   */
  #stripped(text: string, pattern: RE2JS): string {
    const parts: string[] = [];
    const deadline = performance.now() + this.#maxMs;
    for (let at = 0; at < text.length; ) {
      if (performance.now() > deadline) {
        parts.push(text.slice(at));
        break;
      }
      const end = pieceEnd(text, at);
      parts.push(pattern.matcher(text.slice(at, end)).replaceAll(' '));
      at = end;
    }
    return parts.join('');
  }
}

/** Behind as many whole lines as a piece holds; in a line that is longer than that, behind a piece of it. */
function pieceEnd(text: string, at: number): number {
  if (text.length - at <= PIECE) return text.length;
  const newline = text.lastIndexOf('\n', at + PIECE - 1);
  return newline < at ? at + PIECE : newline + 1;
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source);
  } catch (cause) {
    throw new UsageError(`${source} is no regular expression`, { cause });
  }
}

function isText(contentType: string | undefined): boolean {
  return contentType?.startsWith('text/') === true || contentType === 'application/xhtml+xml';
}

function decoded(body: Uint8Array, charset: string | undefined): string {
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return new TextDecoder().decode(body); // a name that nobody knows
  }
}
