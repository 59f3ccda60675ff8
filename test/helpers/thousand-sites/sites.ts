// All sites of the web.
import { HOSTILE_KINDS } from './hostile-kinds.js';
import { PLAIN_KINDS } from './plain-kinds.js';
import { ROBOTS_KINDS } from './robots-kinds.js';
import { type Site, SiteBuilder, type WebOptions } from './site.js';

const KINDS = Object.entries({ ...PLAIN_KINDS, ...ROBOTS_KINDS, ...HOSTILE_KINDS });

/** Names of all kinds; a web with at least this many sites contains each kind. */
export const KIND_NAMES: readonly string[] = KINDS.map(([name]) => name);

/** Builds one site, equal for equal options in any process. */
export function siteOf(options: WebOptions, index: number): Site {
  // Some kinds need the next site, so an incomplete last round has plain sites only.
  const completeRounds = options.sites - (options.sites % KINDS.length);
  const [kind, build] = KINDS[index < completeRounds ? index % KINDS.length : 0]!;
  const site = new SiteBuilder(options, index);
  build(site);
  return site.build(kind);
}

/** Builds all sites. */
export function allSites(options: WebOptions): Site[] {
  return Array.from({ length: options.sites }, (_, index) => siteOf(options, index));
}
