import { hostOf, linkHops, SurtPrefixSet } from '../../../protocols/urls/index.js';
import { type DecideRule, DecideSequence, decideRule } from './decision.js';
import { hasFileSuffix, hopsAbove, isTransitive, isUnder, type Predicate, pathOf } from './predicates.js';

/** CRAWL-10.1.3: the focus of a scope. A scope that consists of filters only is `broad` with an `exclude`. */
const CLASSIC_SCOPES = ['broad', 'domain', 'host', 'path', 'surt-prefix'] as const;

/** CRAWL-10.1.1. */
const MAX_LINK_HOPS = 25;

type ClassicScopeKind = (typeof CLASSIC_SCOPES)[number];

export interface ClassicScopeOptions {
  readonly kind: ClassicScopeKind;
  /** Cleaned URIs. */
  readonly seeds: readonly string[];
  /** `surt-prefix`: lines in addition to the seeds (CRAWL-15.2). */
  readonly surtLines?: readonly string[];
  /** CRAWL-10.1.2: default 5. */
  readonly maxTransHops?: number;
  /** CRAWL-10.1.4: whether media of other hosts pass; default true. */
  readonly additionalFocus?: boolean;
  /** CRAWL-10.1.1: the operator's filter. */
  readonly exclude?: Predicate;
}

/**
 * Builds a classic scope (CRAWL-10.1.1) as a sequence of rules: it accepts URIs that are seeds, in focus, in
 * additional focus or transitive, and not excluded.
 */
export function classicScope(options: ClassicScopeOptions): DecideSequence {
  const { maxTransHops = 5, additionalFocus = true, exclude } = options;
  const rules: DecideRule[] = [
    decideRule('all', 'REJECT', () => true),
    decideRule('seed', 'ACCEPT', ({ seed }) => seed === true),
    decideRule(`${options.kind}-focus`, 'ACCEPT', focusOf(options)),
  ];
  if (additionalFocus) rules.push(decideRule('additional-focus', 'ACCEPT', hasFileSuffix('all')));
  rules.push(decideRule('transitive', 'ACCEPT', isTransitive(maxTransHops)));
  if (exclude !== undefined) rules.push(decideRule('exclude', 'REJECT', exclude));
  rules.push(decideRule('too-many-link-hops', 'REJECT', hopsAbove(MAX_LINK_HOPS, linkHops)));
  return new DecideSequence(rules);
}

function focusOf({ kind, seeds, surtLines = [] }: ClassicScopeOptions): Predicate {
  switch (kind) {
    case 'broad':
      return () => true;
    case 'domain': {
      const domains = new Set(seeds.map((seed) => withoutWww(hostOf(seed))));
      return ({ uri }) => domainsOf(withoutWww(hostOf(uri))).some((domain) => domains.has(domain));
    }
    case 'host': {
      const hosts = new Set(seeds.map(hostOf));
      return ({ uri }) => hosts.has(hostOf(uri));
    }
    case 'path': {
      const paths = seeds.map((seed) => ({ host: hostOf(seed), path: directoryOf(pathOf(seed)) }));
      return ({ uri }) =>
        paths.some(({ host, path }) => host === hostOf(uri) && pathOf(uri).startsWith(path));
    }
    case 'surt-prefix':
      return isUnder(SurtPrefixSet.fromLines([...seeds, ...surtLines]));
  }
}

/** CRAWL-10.1.3: removes `www`, digits and a dot from the start of the host. */
function withoutWww(host: string): string {
  return host.toLowerCase().replace(/^www\d*\./, '');
}

/** Returns the host and all domains above it. */
function domainsOf(host: string): string[] {
  if (host === '') return [];
  const labels = host.split('.');
  return labels.map((_, from) => labels.slice(from).join('.'));
}

/** Returns the path up to, not including, its last slash (CRAWL-10.1.3). */
function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
