import { StateError } from '../../../protocols/errors.js';
import { type CrawlUri, DISPOSITIONS } from '../crawl-uri.js';

/** The fields of a URI that an operator's processor may set, and that the crawl relies on. */
type State = Pick<
  CrawlUri,
  | 'status'
  | 'disposition'
  | 'reason'
  | 'size'
  | 'digest'
  | 'updateTime'
  | 'retryAfterMs'
  | 'fetchBegin'
  | 'contactEnd'
  | 'fetchAs'
  | 'retire'
  | 'outLinks'
  | 'candidates'
  | 'uriErrors'
>;

/** What each field may be. */
const LEGAL: { readonly [K in keyof State]: (value: unknown) => boolean } = {
  status: Number.isInteger,
  disposition: (value) => DISPOSITIONS.some((known) => known === value),
  reason: isText,
  size: isCount,
  digest: isWord,
  updateTime: isCount,
  retryAfterMs: isCount,
  fetchBegin: isCount,
  contactEnd: isCount,
  fetchAs: isText,
  retire: (value) => value === undefined || isText(value),
  outLinks: (value) => Array.isArray(value) && value.every(isLink),
  candidates: Array.isArray,
  uriErrors: Array.isArray,
};

const FIELDS = Object.keys(LEGAL) as (keyof State)[];

/** Remembers the state of a URI, to restore it if a processor leaves it in one that the crawl cannot use. */
export class SavedState {
  readonly #values: Partial<Record<keyof State, unknown>> = {};
  readonly #annotations: readonly string[];

  constructor(readonly uri: CrawlUri) {
    for (const field of FIELDS) this.#values[field] = uri[field];
    this.#annotations = [...uri.annotations];
  }

  /** Restores the state, so that a URI whose processor failed has nothing of it. */
  restore(): void {
    Object.assign(this.uri, this.#values);
    this.uri.annotations.splice(0, this.uri.annotations.length, ...this.#annotations);
  }

  /** @throws StateError that names the field, if one has a value that the crawl cannot use */
  check(): void {
    const { uri } = this;
    for (const field of FIELDS)
      if (!LEGAL[field](uri[field])) throw new StateError(`it set ${field} to a value that is not legal`);
    // CRAWL-16.2: annotations are separated by commas in a field without spaces.
    if (!uri.annotations.every((text: unknown) => isWord(text) && !/,/.test(String(text))))
      throw new StateError('it added an annotation that is no text, or has a space or a comma');
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isWord(value: unknown): boolean {
  return typeof value === 'string' && !/\s/.test(value);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isLink(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('url' in value) || !('hop' in value)) return false;
  return typeof value.url === 'string' && URL.canParse(value.url) && /^[LEXRM]$/.test(String(value.hop));
}
