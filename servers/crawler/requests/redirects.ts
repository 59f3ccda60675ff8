// What follows a redirect of a crawl: its target, once more a page behind a cookie wall, or an error (CRAWL-22.5).
import { withoutUserInfo } from '../../../protocols/urls/index.js';
import type { CrawlUri } from '../crawl-uri.js';
import { lruCache } from '../lru.js';
import type { CookieJars } from './cookie-jars.js';

/** Redirects that are remembered; a circle is short. */
const MAX_KNOWN = 10_000;
/** Redirects of a circle that is found. */
const MAX_CIRCLE = 10;
/** Redirects in a row after which a page is not fetched again, also where the settings have no limit. */
const MAX_AGAIN = 5;

interface Redirect {
  readonly target: string;
  /** The header Cookie of the request; empty without one. */
  readonly cookie: string;
}

/**
 * Decides about the redirects of a crawl. A URL is fetched once, so that redirects that lead back to one yield
 * nothing, unless its request gets other cookies than before: many pages set a cookie, and redirect until they get it.
 */
export class Redirects {
  /** By URL, its last redirect. */
  readonly #known = lruCache<Redirect>(MAX_KNOWN);
  readonly #cookies: Pick<CookieJars, 'headerFor'> | undefined;

  /** @param cookies undefined if the crawl keeps none */
  constructor(cookies: Pick<CookieJars, 'headerFor'> | undefined) {
    this.#cookies = cookies;
  }

  /**
   * Sets the disposition and the links of a URI whose response redirects.
   * @param location absolute URL
   */
  async classify(uri: CrawlUri, location: string): Promise<void> {
    const { maxRedirects } = uri.settings;
    const before = /R*$/.exec(uri.entry.uri.pathFromSeed)?.[0].length ?? 0;
    const target = withoutUserInfo(location);
    this.#known.set(uri.url, { target, cookie: uri.sentCookie });
    if (maxRedirects > 0 && before >= maxRedirects) {
      // Each target can be a new URL, so that such a chain never ends by itself.
      fail(uri, `more than ${maxRedirects} redirects in a row (G-173)`);
      return;
    }
    // The path of a URI that was fetched before a restart has what the memory has lost.
    const leadsBack = this.#leads(target, uri.url) || (before > 0 && uri.entry.uri.via === target);
    if (leadsBack && (before >= MAX_AGAIN || !(await this.#hasOtherCookies(uri, target)))) {
      fail(uri, `its redirects lead back to ${target} without a document${hint(uri)}`);
      return;
    }
    uri.disposition = 'redirected';
    uri.outLinks = [{ url: location, hop: 'R', ...(leadsBack ? { again: true } : {}) }];
  }

  /** Whether the last redirects lead from one URL to another, which may be the same. */
  #leads(from: string, to: string): boolean {
    let url: string | undefined = from;
    for (let step = 0; step < MAX_CIRCLE && url !== undefined; step++) {
      if (url === to) return true;
      url = this.#known.get(url)?.target;
    }
    return false;
  }

  async #hasOtherCookies({ settings }: CrawlUri, target: string): Promise<boolean> {
    const now = settings.cookies ? await this.#cookies?.headerFor(target) : '';
    return (now ?? '') !== (this.#known.get(target)?.cookie ?? '');
  }
}

function fail(uri: CrawlUri, reason: string): void {
  uri.disposition = 'failed';
  uri.reason = reason;
}

function hint({ settings, fetched }: CrawlUri): string {
  return settings.cookies || fetched?.setCookies === undefined
    ? ''
    : '; it sets a cookie, which settings.cookies of an order keeps';
}
