// All sites of the web that the server imitates, each of one kind. A kind is a situation that a crawler must
// handle.
import { HOSTILE_KINDS } from './hostile-kinds.js';
import { PLAIN_KINDS } from './plain-kinds.js';
import { ROBOTS_KINDS } from './robots-kinds.js';
import { type Site, SiteBuilder, type WebOptions } from './site.js';

/** Their order is that of the sites, because some kinds link to the next site. */
const KINDS = Object.entries({ ...PLAIN_KINDS, ...ROBOTS_KINDS, ...HOSTILE_KINDS });

/** Names of all kinds. A web with at least as many sites as there are kinds contains each kind. */
export const KIND_NAMES: readonly string[] = KINDS.map(([name]) => name);

/** Builds one site, equal for equal options in any process. */
export function siteOf(options: WebOptions, index: number): Site {
  // The kinds follow each other again and again. Some need the next site, so the sites after the last complete
  // sequence are all of the first kind, which needs none.
  const inCompleteSequences = options.sites - (options.sites % KINDS.length);
  const [kind, build] = KINDS[index < inCompleteSequences ? index % KINDS.length : 0]!;
  const site = new SiteBuilder(options, index);
  build(site);
  return site.build(kind);
}

/** Builds all sites. */
export function allSites(options: WebOptions): Site[] {
  return Array.from({ length: options.sites }, (_, index) => siteOf(options, index));
}
