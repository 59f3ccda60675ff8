import type { RuleInput } from '../decide/rule-config.js';
import type { XmlElement } from './xml-tree.js';

/** The reports of the conversion of a scope. */
export interface ScopeReport {
  /** Reports a part that is not converted. */
  readonly warn: (element: XmlElement, problem: string) => void;
  /** Marks an element as converted. */
  readonly use: (element: XmlElement) => void;
  /** Returns the lines of a file of SURT prefixes; undefined if it was not read. */
  readonly prefixes: (file: string) => readonly string[] | undefined;
}

/** An element whose children are marked as converted when they are read. */
class Reader {
  readonly #element: XmlElement;
  readonly #report: ScopeReport;

  constructor(element: XmlElement, report: ScopeReport) {
    this.#element = element;
    this.#report = report;
  }

  child(name: string): XmlElement | undefined {
    const child = this.#element.children.find((candidate) => candidate.name === name);
    if (child !== undefined) this.#report.use(child);
    return child;
  }

  /** Returns the text of a child element; undefined if it is absent or empty. */
  text(name: string): string | undefined {
    const text = this.child(name)?.text;
    return text === '' ? undefined : text;
  }

  number(name: string): number | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : Number(text);
  }

  /** CRAWL-15.2: returns the lines of the file that a child names; none if there is no file. */
  prefixes(name: string): string[] {
    const child = this.#element.children.find((candidate) => candidate.name === name);
    const lines = child === undefined || child.text === '' ? undefined : this.#report.prefixes(child.text);
    if (child === undefined || lines === undefined) return [];
    this.#report.use(child);
    return lines.map((line) => line.trim().replace(/^\+/, '')).filter((line) => !/^(?:#|$)/.test(line));
  }

  list(name: string): string[] {
    const items = this.child(name)?.children ?? [];
    items.forEach(this.#report.use);
    return items.map(({ text }) => text);
  }
}

/**
 * Converts a 1.x scope to decide rules: a classic scope to equivalent rules (CRAWL-10.1), a deciding scope rule
 * by rule (CRAWL-10.2.4). Returns undefined for other classes.
 */
export function originalScope(scope: XmlElement, report: ScopeReport): RuleInput[] | undefined {
  const focus = FOCUS[scope.className];
  if (focus !== undefined) return classicRules(scope, focus, report);
  if (scope.className !== 'DecidingScope') return undefined;
  const sequence = new Reader(scope, report).child('decide-rules');
  return sequence === undefined ? [] : originalRules(sequence, report);
}

/** CRAWL-10.2.4: converts a decide-rule sequence, rule by rule. */
export function originalRules(sequence: XmlElement, report: ScopeReport): RuleInput[] {
  const { warn, use } = report;
  const rules = new Reader(sequence, report).child('rules')?.children ?? [];
  return rules.flatMap((rule) => {
    const reader = new Reader(rule, report);
    if (reader.text('enabled') === 'false') {
      warn(rule, `the rule ${rule.name} is disabled and left out`);
      return [];
    }
    const converted = RULES[rule.className]?.(reader);
    if (converted === undefined) {
      warn(rule, `the rule ${rule.className} is unknown and left out`);
      return [];
    }
    use(rule);
    warnOfPrefixFiles(rule, report);
    return converted;
  });
}

function warnOfPrefixFiles({ children }: XmlElement, { warn, prefixes }: ScopeReport): void {
  for (const child of children)
    if (
      /^surts-source(?:-file)?$/.test(child.name) &&
      (child.text === '' || prefixes(child.text) === undefined)
    )
      warn(
        child,
        child.text === ''
          ? `${child.name} is empty: there are no further prefixes`
          : `the prefixes of ${child.text} are not read: write them into lines`,
      );
}

/** CRAWL-10.1.3. */
const FOCUS: Readonly<Record<string, (scope: Reader) => RuleInput>> = {
  BroadScope: () => ({ rule: 'all', answer: 'ACCEPT' }),
  DomainScope: () => ({ rule: 'classic-focus', on: 'domains' }),
  HostScope: () => ({ rule: 'classic-focus', on: 'hosts' }),
  PathScope: () => ({ rule: 'classic-focus', on: 'paths' }),
  SurtPrefixScope: (scope) => ({ rule: 'surt-prefixed', ...seedsOf(scope) }),
};

/** CRAWL-10.1.1: seeds, URIs in focus, media and transitive URIs, up to a number of links. */
function classicRules(
  scope: XmlElement,
  focusOf: (scope: Reader) => RuleInput,
  report: ScopeReport,
): RuleInput[] {
  const { warn, use } = report;
  const reader = new Reader(scope, report);
  const exclude = scope.children.find(({ name }) => name === 'exclude-filter');
  if (exclude?.children.some(({ children }) => children.length > 0))
    warn(exclude, 'the exclude filter is left out: write it as rules that REJECT');
  else if (exclude !== undefined) use(exclude);
  warnOfPrefixFiles(scope, report);
  // CRAWL-10.1.4: on by default.
  const media = reader.child('additionalScopeFocus');
  const acceptsMedia = media === undefined || new Reader(media, report).text('enabled') !== 'false';
  return [
    { rule: 'all', answer: 'REJECT' },
    { rule: 'seed' },
    focusOf(reader),
    ...(acceptsMedia ? [{ rule: 'file-pattern', preset: 'all' } as const] : []),
    { rule: 'classic-transitive', maxTransHops: reader.number('max-trans-hops') ?? 5 },
    { rule: 'too-many-link-hops', max: reader.number('max-link-hops') ?? 25 },
  ];
}

const RULES: Readonly<Record<string, (rule: Reader) => RuleInput>> = {
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
    on: rule.text('host-domain-scope')?.toLowerCase() === 'host' ? 'hosts' : 'domains',
    ...answerOf(rule),
    ...seedsOf(rule),
  }),
  TooManyHopsDecideRule: (rule) => ({ rule: 'too-many-hops', max: rule.number('max-hops') ?? 20 }),
  TransclusionDecideRule: (rule) => ({
    rule: 'transclusion',
    maxTransHops: rule.number('max-trans-hops') ?? 3,
    maxSpeculativeHops: rule.number('max-speculative-hops') ?? 1,
  }),
  PathologicalPathDecideRule: (rule) => ({
    rule: 'pathological-path',
    maxRepetitions: rule.number('max-repetitions') ?? 2,
  }),
  TooManyPathSegmentsDecideRule: (rule) => ({
    rule: 'too-many-path-segments',
    max: rule.number('max-path-depth') ?? 20,
  }),
  HasViaDecideRule: (rule) => ({ rule: 'has-via', answer: answerOf(rule).answer ?? 'ACCEPT' }),
  AddRedirectFromRootServerToScope: () => ({ rule: 'redirect-from-root' }),
  MatchesFilePatternDecideRule: (rule) => ({
    rule: 'file-pattern',
    ...answerOf(rule),
    preset: FILE_PRESETS[rule.text('use-preset-pattern')?.toLowerCase() ?? 'all'] ?? 'all',
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

function answerOf(rule: Reader): { answer?: 'ACCEPT' | 'REJECT' } {
  const decision = rule.text('decision');
  return decision === 'ACCEPT' || decision === 'REJECT' ? { answer: decision } : {};
}

function seedsOf(rule: Reader): { seeds?: boolean | undefined; lines?: string[] } {
  const seeds = rule.text('seeds-as-surt-prefixes');
  const lines = ['surts-source-file', 'surts-source'].flatMap((name) => rule.prefixes(name));
  return {
    seeds: seeds === undefined ? undefined : seeds === 'true',
    ...(lines.length === 0 ? {} : { lines }),
  };
}

function patternsOf(rule: Reader): {
  answer: 'ACCEPT' | 'REJECT';
  patterns: string[];
  logic: 'OR' | 'AND';
} {
  const list = rule.list('regexp-list');
  const pattern = rule.text('regexp');
  return {
    answer: answerOf(rule).answer ?? 'ACCEPT',
    patterns: [...(pattern === undefined ? [] : [pattern]), ...list].filter((text) => text !== ''),
    logic: rule.text('list-logic') === 'AND' ? 'AND' : 'OR',
  };
}
