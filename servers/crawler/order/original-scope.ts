import type { RuleInput } from '../decide/index.js';
import type { XmlElement } from './xml-tree.js';

/** Reports a part that is not converted. */
export type Warn = (element: XmlElement, problem: string) => void;

/**
 * Converts a 1.x scope to decide rules: a classic scope to equivalent rules (CRAWL-10.1), a deciding scope rule by rule (CRAWL-10.2.4).
 * Returns undefined for other classes.
 */
export function originalScope(scope: XmlElement, warn: Warn): RuleInput[] | undefined {
  const focus = FOCUS[scope.className];
  if (focus !== undefined) return classicRules(scope, focus, warn);
  if (scope.className !== 'DecidingScope') return undefined;
  const sequence = scope.children.find(({ name }) => name === 'decide-rules');
  const rules = sequence?.children.find(({ name }) => name === 'rules')?.children ?? [];
  return rules.flatMap((rule) => {
    if (textOf(rule, 'enabled') === 'false') return [];
    const converted = RULES[rule.className]?.(rule);
    if (converted === undefined) warn(rule, `the rule ${rule.className} is unknown and left out`);
    for (const name of ['surts-source-file', 'surts-source'])
      if (textOf(rule, name) !== undefined)
        warn(rule, `the prefixes of ${textOf(rule, name)} are not read: write them into lines`);
    return converted ?? [];
  });
}

/** CRAWL-10.1.3. */
const FOCUS: Readonly<Record<string, RuleInput>> = {
  BroadScope: { rule: 'all', answer: 'ACCEPT' },
  DomainScope: { rule: 'on-domains' },
  HostScope: { rule: 'on-hosts' },
  PathScope: { rule: 'surt-prefixed' },
  SurtPrefixScope: { rule: 'surt-prefixed' },
};

/** CRAWL-10.1.1: seeds, URIs in focus, media and transitive URIs, up to a number of links. */
function classicRules(scope: XmlElement, focus: RuleInput, warn: Warn): RuleInput[] {
  const exclude = scope.children.find(({ name }) => name === 'exclude-filter');
  if (exclude?.children.some(({ children }) => children.length > 0))
    warn(exclude, 'the exclude filter is left out: write it as rules that REJECT');
  // CRAWL-10.1.4: on by default.
  const media = scope.children.find(({ name }) => name === 'additionalScopeFocus');
  const acceptsMedia = media === undefined || textOf(media, 'enabled') !== 'false';
  return [
    { rule: 'all', answer: 'REJECT' },
    { rule: 'seed' },
    focus,
    ...(acceptsMedia ? [{ rule: 'file-pattern', preset: 'all' } as const] : []),
    { rule: 'transclusion', maxTransHops: numberOf(scope, 'max-trans-hops') ?? 5 },
    { rule: 'too-many-link-hops', max: numberOf(scope, 'max-link-hops') ?? 25 },
  ];
}

const RULES: Readonly<Record<string, (rule: XmlElement) => RuleInput>> = {
  AcceptDecideRule: () => ({ rule: 'all', answer: 'ACCEPT' }),
  RejectDecideRule: () => ({ rule: 'all', answer: 'REJECT' }),
  SeedAcceptDecideRule: () => ({ rule: 'seed' }),
  PrerequisiteAcceptDecideRule: () => ({ rule: 'prerequisite' }),
  SurtPrefixedDecideRule: (rule) => ({ rule: 'surt-prefixed', ...answerOf(rule), ...seedsOf(rule) }),
  NotSurtPrefixedDecideRule: (rule) => ({ rule: 'not-surt-prefixed', ...answerOf(rule), ...seedsOf(rule) }),
  OnHostsDecideRule: (rule) => ({ rule: 'on-hosts', ...answerOf(rule), ...seedsOf(rule) }),
  NotOnHostsDecideRule: (rule) => ({ rule: 'not-on-hosts', ...answerOf(rule), ...seedsOf(rule) }),
  OnDomainsDecideRule: (rule) => ({ rule: 'on-domains', ...answerOf(rule), ...seedsOf(rule) }),
  NotOnDomainsDecideRule: (rule) => ({ rule: 'not-on-domains', ...answerOf(rule), ...seedsOf(rule) }),
  ScopePlusOneDecideRule: (rule) => ({
    rule: 'scope-plus-one',
    on: textOf(rule, 'host-domain-scope')?.toLowerCase() === 'host' ? 'hosts' : 'domains',
    ...answerOf(rule),
    ...seedsOf(rule),
  }),
  TooManyHopsDecideRule: (rule) => ({ rule: 'too-many-hops', max: numberOf(rule, 'max-hops') ?? 20 }),
  TransclusionDecideRule: (rule) => ({
    rule: 'transclusion',
    maxTransHops: numberOf(rule, 'max-trans-hops') ?? 3,
    maxSpeculativeHops: numberOf(rule, 'max-speculative-hops') ?? 1,
  }),
  PathologicalPathDecideRule: (rule) => ({
    rule: 'pathological-path',
    maxRepetitions: numberOf(rule, 'max-repetitions') ?? 2,
  }),
  TooManyPathSegmentsDecideRule: (rule) => ({
    rule: 'too-many-path-segments',
    max: numberOf(rule, 'max-path-depth') ?? 20,
  }),
  HasViaDecideRule: (rule) => ({ rule: 'has-via', answer: answerOf(rule).answer ?? 'ACCEPT' }),
  AddRedirectFromRootServerToScope: () => ({ rule: 'redirect-from-root' }),
  MatchesFilePatternDecideRule: (rule) => ({
    rule: 'file-pattern',
    ...answerOf(rule),
    preset: FILE_PRESETS[textOf(rule, 'use-preset-pattern')?.toLowerCase() ?? 'all'] ?? 'all',
  }),
  MatchesRegExpDecideRule: (rule) => ({ rule: 'matches', ...patternsOf(rule) }),
  NotMatchesRegExpDecideRule: (rule) => ({ rule: 'not-matches', ...patternsOf(rule) }),
  MatchesListRegExpDecideRule: (rule) => ({ rule: 'matches', ...patternsOf(rule) }),
  NotMatchesListRegExpDecideRule: (rule) => ({ rule: 'not-matches', ...patternsOf(rule) }),
  HopsPathMatchesRegExpDecideRule: (rule) => ({ rule: 'hops-match', ...patternsOf(rule) }),
  ClassKeyMatchesRegExpDecideRule: (rule) => ({ rule: 'class-key-matches', ...patternsOf(rule) }),
  ContentTypeMatchesRegExpDecideRule: (rule) => ({ rule: 'content-type-matches', ...patternsOf(rule) }),
};

const FILE_PRESETS: Readonly<Record<string, 'images' | 'audio' | 'video' | 'documents' | 'all'>> = {
  images: 'images',
  audio: 'audio',
  video: 'video',
  miscellaneous: 'documents',
  all: 'all',
};

function answerOf(rule: XmlElement): { answer?: 'ACCEPT' | 'REJECT' } {
  const decision = textOf(rule, 'decision');
  return decision === 'ACCEPT' || decision === 'REJECT' ? { answer: decision } : {};
}

function seedsOf(rule: XmlElement): { seeds?: boolean } {
  const seeds = textOf(rule, 'seeds-as-surt-prefixes');
  return seeds === undefined ? {} : { seeds: seeds === 'true' };
}

function patternsOf(rule: XmlElement): {
  answer: 'ACCEPT' | 'REJECT';
  patterns: string[];
  logic: 'OR' | 'AND';
} {
  const list =
    rule.children.find(({ name }) => name === 'regexp-list')?.children.map(({ text }) => text) ?? [];
  const pattern = textOf(rule, 'regexp');
  return {
    answer: answerOf(rule).answer ?? 'ACCEPT',
    patterns: [...(pattern === undefined ? [] : [pattern]), ...list].filter((text) => text !== ''),
    logic: textOf(rule, 'list-logic') === 'AND' ? 'AND' : 'OR',
  };
}

/** Returns the text of a child element; undefined if it is absent or empty. */
function textOf(element: XmlElement, name: string): string | undefined {
  const text = element.children.find((child) => child.name === name)?.text;
  return text === '' ? undefined : text;
}

function numberOf(element: XmlElement, name: string): number | undefined {
  const text = textOf(element, name);
  return text === undefined ? undefined : Number(text);
}
