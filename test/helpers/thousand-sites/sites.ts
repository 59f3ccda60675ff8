import { HOSTILE_KINDS } from './hostile-kinds.js';
import { PLAIN_KINDS } from './plain-kinds.js';
import { ROBOTS_KINDS } from './robots-kinds.js';
import { type Expectation, type Site, SiteBuilder, type WebOptions } from './site.js';

const KINDS = Object.entries({ ...PLAIN_KINDS, ...ROBOTS_KINDS, ...HOSTILE_KINDS });

/** Names of all kinds of sites; a web of at least so many has each of them. */
export const KIND_NAMES: readonly string[] = KINDS.map(([name]) => name);

/** One site of the web: the same for the same options, in whatever process. */
export function siteOf(options: WebOptions, index: number): Site {
  // Some kinds need the next one beside them: the last round is filled up with plain sites.
  const whole = options.sites - (options.sites % KINDS.length);
  const [kind, build] = KINDS[index < whole ? index % KINDS.length : 0]!;
  const site = new SiteBuilder(options, index);
  build(site);
  return site.build(kind);
}

/** What the server's log must show of this site after a crawl. */
export function expected(site: Site): Expectation {
  return site.expected;
}

/** All of them. */
export function allSites(options: WebOptions): Site[] {
  return Array.from({ length: options.sites }, (_, index) => siteOf(options, index));
}
