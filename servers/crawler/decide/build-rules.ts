import { hopCount, linkHops, SurtPrefixSet } from '../../../protocols/urls/index.js';
import { type DecideRule, DecideSequence, decideRule } from './decision.js';
import {
  hasFileSuffix,
  hopsAbove,
  isInFocus,
  isPathological,
  isPrerequisite,
  isRedirectFromRoot,
  isTransclusion,
  isTransitive,
  isUnder,
  type Predicate,
  pathSlashesAbove,
  schemeNotIn,
  type TextField,
  textMatches,
  viaIsUnder,
  WholePattern,
} from './predicates.js';
import { parseRules, type RuleConfig } from './rule-config.js';
import { parseSeeds } from './seed-list.js';

/** Data that rules need in addition to their configuration. */
export interface RuleContext {
  /** The seeds, which imply SURT prefixes (CRAWL-15.2). */
  readonly seeds: readonly string[];
}

/**
 * Builds the sequence of a configuration (CRAWL-10.2).
 * @param rules as an operator writes them; validated here
 * @throws UsageError that names the rule and the problem
 */
export function decideSequence(rules: unknown, context: RuleContext): DecideSequence {
  return new DecideSequence(parseRules(rules).map((rule) => buildRule(rule, context)));
}

/** Builds a rule of the catalog (CRAWL-10.2.4). */
function buildRule(config: RuleConfig, { seeds }: RuleContext): DecideRule {
  const predicate = predicateOf(config, seeds);
  return decideRule(config.rule, answerOf(config), predicate);
}

function answerOf(config: RuleConfig): 'ACCEPT' | 'REJECT' {
  if ('answer' in config) return config.answer;
  return config.rule === 'transclusion' || config.rule === 'classic-transitive' ? 'ACCEPT' : 'REJECT';
}

function predicateOf(config: RuleConfig, seeds: readonly string[]): Predicate {
  switch (config.rule) {
    case 'all':
      return () => true;
    case 'seed':
      return ({ seed }) => seed === true;
    case 'surt-prefixed':
      return isUnder(prefixesOf(config, seeds));
    case 'not-surt-prefixed':
      return not(isUnder(prefixesOf(config, seeds)));
    case 'on-hosts':
      return isUnder(prefixesOf(config, seeds).restrictToHosts());
    case 'not-on-hosts':
      return not(isUnder(prefixesOf(config, seeds).restrictToHosts()));
    case 'on-domains':
      return isUnder(prefixesOf(config, seeds).extendToDomains());
    case 'not-on-domains':
      return not(isUnder(prefixesOf(config, seeds).extendToDomains()));
    case 'scope-plus-one': {
      const set = prefixesOf(config, seeds);
      return viaIsUnder(config.on === 'hosts' ? set.restrictToHosts() : set.extendToDomains());
    }
    case 'too-many-hops':
      return hopsAbove(config.max, hopCount);
    case 'too-many-link-hops':
      return hopsAbove(config.max, linkHops);
    case 'transclusion':
      return isTransclusion(config.maxTransHops, config.maxSpeculativeHops);
    case 'classic-focus':
      return isInFocus(config.on, parseSeeds(seeds.join('\n')).seeds);
    case 'classic-transitive':
      return isTransitive(config.maxTransHops);
    case 'pathological-path':
      return isPathological(config.maxRepetitions);
    case 'too-many-path-segments':
      return pathSlashesAbove(config.max);
    case 'prerequisite':
      return isPrerequisite;
    case 'scheme-not-in':
      return schemeNotIn(config.schemes);
    case 'not-matches':
      return not(matchesPatterns('uri', config));
    case 'matches':
    case 'via-matches':
    case 'hops-match':
    case 'class-key-matches':
    case 'source-tag-matches':
    case 'status-matches':
    case 'content-type-matches':
    case 'response-matches':
      return matchesPatterns(FIELDS[config.rule], config);
    case 'file-pattern':
      return hasFileSuffix(config.preset);
    case 'has-via':
      return ({ via }) => via !== undefined;
    case 'status-in':
      return ({ status }) => status !== undefined && config.statuses.includes(status);
    case 'status-not-in':
      return ({ status }) => status !== undefined && !config.statuses.includes(status);
    case 'content-length-above':
      return ({ contentLength }) => contentLength !== undefined && contentLength > config.bytes;
    case 'content-length-at-most':
      return ({ contentLength }) => contentLength !== undefined && contentLength <= config.bytes;
    case 'location-in':
      return ({ location }) => location !== undefined && config.locations.includes(location);
    case 'address-in':
      return ({ address }) => address !== undefined && config.addresses.includes(address);
    case 'redirect-from-root':
      return isRedirectFromRoot;
    case 'identical-digest':
      return ({ identicalDigest }) => identicalDigest === true;
    case 'queue-over-budget':
      return ({ queueOverBudget }) => queueOverBudget === true;
  }
}

const FIELDS = {
  matches: 'uri',
  'via-matches': 'via',
  'hops-match': 'hops',
  'class-key-matches': 'classKey',
  'source-tag-matches': 'sourceTag',
  'status-matches': 'status',
  'content-type-matches': 'contentType',
  'response-matches': 'response',
} as const satisfies Readonly<Record<string, TextField>>;

interface PatternConfig {
  readonly patterns: readonly string[];
  readonly logic: 'OR' | 'AND';
}

function matchesPatterns(field: TextField, { patterns, logic }: PatternConfig): Predicate {
  return textMatches(
    field,
    patterns.map((source) => new WholePattern(source)),
    logic,
  );
}

function prefixesOf(
  config: { readonly seeds: boolean; readonly lines: readonly string[] },
  seeds: readonly string[],
): SurtPrefixSet {
  return SurtPrefixSet.fromLines([...(config.seeds ? seeds : []), ...config.lines]);
}

function not(predicate: Predicate): Predicate {
  return (subject) => !predicate(subject);
}
