import { KitError } from '../../../protocols/errors.js';
import { seenRules } from '../../../protocols/urls/index.js';
import { decideSequence } from '../decide/index.js';
import { WholePattern } from '../decide/predicates.js';
import { patternMatcher } from '../patterns.js';
import { headerProblem, proxyProblem } from '../requests/index.js';
import { chainSteps } from './chain-config.js';
import { chainProblems } from './check-chains.js';
import { type CrawlOrderConfig, crawlOrderSchema, warcSchema } from './order.js';
import { BUILT_IN_PROCESSORS } from './processor-names.js';
import { type CrawlSettings, crawlSettingsSchema } from './settings.js';
import { applyOverrides } from './sheets.js';

/** A problem of an order whose values are all valid. */
export interface OrderProblem {
  /** Property names and array indexes. */
  readonly path: readonly (string | number)[];
  readonly problem: string;
}

/**
 * Finds problems that a schema cannot express: values that depend on each other, patterns that do not compile, sheets that never apply. They
 * are reported before the crawl starts (CRAWL-22).
 */
export function orderProblems(order: CrawlOrderConfig): OrderProblem[] {
  const problems: OrderProblem[] = [];
  const check = (path: OrderProblem['path'], action: () => unknown): void => {
    try {
      action();
    } catch (error) {
      if (!(error instanceof KitError)) throw error;
      problems.push({ path, problem: error.message });
    }
  };
  const checkSettings = (settings: CrawlSettings, path: OrderProblem['path']): void => {
    problems.push(
      ...contradictions(settings).map(({ name, problem }) => ({ path: [...path, name], problem })),
    );
    check([...path, 'seenRules'], () => seenRules(settings.seenRules));
    for (const name of ['blockPattern', 'allowPattern'] as const)
      if (settings[name] !== '') check([...path, name], () => new WholePattern(settings[name]));
    for (const [name, value] of Object.entries(settings.requestHeaders)) {
      const problem = headerProblem(name, value);
      if (problem !== undefined) problems.push({ path: [...path, 'requestHeaders', name], problem });
    }
    const wrongProxy = proxyProblem(settings.proxy);
    if (wrongProxy !== undefined) problems.push({ path: [...path, 'proxy'], problem: wrongProxy });
    if (settings.digestStripPattern !== '')
      check([...path, 'digestStripPattern'], () => patternMatcher(settings.digestStripPattern));
  };

  if (order.warc.digestHistory && order.warc.directory === '')
    problems.push({
      path: ['warc', 'digestHistory'],
      problem: 'it requires a directory of WARC files (CRAWL-18.5)',
    });
  problems.push(...chainProblems(order));
  order.credentials.forEach(({ kind }, i) => {
    if (kind === 'form' && !keepsCookies(order))
      problems.push({ path: ['credentials', i], problem: 'a form requires settings.cookies' });
  });
  check(['scope'], () => decideSequence(order.scope, { seeds: order.seeds }));
  checkSettings(order.settings, ['settings']);
  const names = new Set<string>();
  order.sheets.forEach(({ name, surts, rules, settings }, i) => {
    if (names.has(name))
      problems.push({ path: ['sheets', i, 'name'], problem: `two sheets are called ${name}` });
    names.add(name);
    if (surts.length === 0 && rules.length === 0)
      problems.push({ path: ['sheets', i], problem: 'it has neither surts nor rules, so it never applies' });
    check(['sheets', i, 'rules'], () => decideSequence(rules, { seeds: order.seeds }));
    checkSettings(applyOverrides(order.settings, settings), ['sheets', i, 'settings']);
  });
  return problems;
}

/** Whether any URI has cookies. */
function keepsCookies({ settings, sheets }: CrawlOrderConfig): boolean {
  return settings.cookies || sheets.some((sheet) => sheet.settings.cookies);
}

function contradictions(settings: CrawlSettings): { readonly name: string; readonly problem: string }[] {
  const found: { name: string; problem: string }[] = [];
  if (settings.minDelayMs > settings.maxDelayMs) {
    const problem = `it is more than maxDelayMs, ${settings.maxDelayMs}, which limits it (CRAWL-7.1)`;
    found.push({ name: 'minDelayMs', problem });
  }
  if (settings.robotsPolicy === 'custom' && settings.customRobots.trim() === '')
    found.push({ name: 'robotsPolicy', problem: 'custom requires a text in customRobots (CRAWL-13.4)' });
  if (settings.robotsPolicy === 'most-favored-set' && settings.userAgents.length === 0)
    found.push({
      name: 'robotsPolicy',
      problem: 'most-favored-set requires names in userAgents (CRAWL-13.4)',
    });
  return found;
}

/** Settings that have an effect only with another one: its name, and whether the other one makes it effective. */
const DEPENDENT: readonly {
  readonly name: keyof CrawlSettings;
  readonly needs: string;
  readonly effective: (settings: CrawlSettings) => boolean;
}[] = [
  {
    name: 'customRobots',
    needs: 'robotsPolicy custom',
    effective: ({ robotsPolicy }) => robotsPolicy === 'custom',
  },
  {
    name: 'userAgents',
    needs: 'robotsPolicy most-favored-set',
    effective: ({ robotsPolicy }) => robotsPolicy === 'most-favored-set',
  },
  {
    name: 'masquerade',
    needs: 'a most-favored robotsPolicy',
    effective: ({ robotsPolicy }) => robotsPolicy.startsWith('most-favored'),
  },
  {
    name: 'digestStripMaxKB',
    needs: 'a digestStripPattern',
    effective: ({ digestStripPattern }) => digestStripPattern !== '',
  },
  {
    name: 'runtimeOperation',
    needs: 'runtimeSeconds',
    effective: ({ runtimeSeconds }) => runtimeSeconds > 0,
  },
  {
    name: 'proxyLoginEnvironment',
    needs: 'proxy',
    effective: ({ proxy }) => proxy !== '' && proxy !== 'direct',
  },
  {
    name: 'bandwidthReading',
    needs: 'maxPerHostBandwidthKBs',
    effective: ({ maxPerHostBandwidthKBs }) => maxPerHostBandwidthKBs > 0,
  },
  {
    name: 'quotaForceRetire',
    needs: 'a quota',
    effective: ({ quotas }) => Object.values(quotas).some((limit) => limit >= 0),
  },
];

/** Returns what an order sets to no effect, for a warning: settings and options that apply only together with others. */
export function ignoredSettings(order: CrawlOrderConfig): OrderProblem[] {
  const ignored: OrderProblem[] = [];
  const defaults = crawlSettingsSchema.parse({});
  const check = (
    settings: CrawlSettings,
    given: Partial<CrawlSettings>,
    path: OrderProblem['path'],
  ): void => {
    for (const { name, needs, effective } of DEPENDENT)
      if (given[name] !== undefined && given[name] !== defaults[name] && !effective(settings)) {
        // An empty list is the default too.
        if (Array.isArray(given[name]) && given[name].length === 0) continue;
        ignored.push({ path: [...path, name], problem: `it has no effect without ${needs}` });
      }
  };
  check(order.settings, order.settings, ['settings']);
  order.sheets.forEach(({ settings }, i) => {
    const applied = applyOverrides(order.settings, settings);
    const given = Object.fromEntries(Object.entries(settings).filter(([name]) => name !== 'quotas'));
    check(applied, given, ['sheets', i, 'settings']);
  });
  if (order.warc.directory === '') {
    const unused = warcSchema.parse({});
    for (const name of ['maxFileBytes', 'compress', 'skipIdenticalDigests', 'prefix'] as const)
      if (order.warc[name] !== unused[name])
        ignored.push({ path: ['warc', name], problem: 'it has no effect without warc.directory' });
  }
  for (const name of ['cookiesLoadFile', 'cookiesSaveFile'] as const)
    if (order[name] !== '' && !keepsCookies(order))
      ignored.push({ path: [name], problem: 'it has no effect without settings.cookies' });
  ignored.push(...ignoredByChains(order, defaults));
  if (!order.holdQueues && order.targetReadyBacklog !== crawlOrderSchema.parse({}).targetReadyBacklog)
    ignored.push({ path: ['targetReadyBacklog'], problem: 'new queues ignore it without holdQueues' });
  return ignored;
}

/** Settings of processors that the chains of the order leave out. */
function ignoredByChains(order: CrawlOrderConfig, defaults: CrawlSettings): OrderProblem[] {
  const present = new Set(
    Object.values(chainSteps(order)).flatMap((steps) => steps.map(({ entry }) => entry.processor)),
  );
  const differs = (value: unknown, usual: unknown): boolean =>
    JSON.stringify(value) !== JSON.stringify(usual);
  return BUILT_IN_PROCESSORS.flatMap(({ name, chain, settings = [], warc = [] }): OrderProblem[] => {
    if (present.has(name) || order.chains[chain] === undefined) return [];
    const problem = `it has no effect: the chain ${chain} has no ${name}`;
    const unused = warcSchema.parse({});
    return [
      ...settings
        .filter((key) => differs(order.settings[key], defaults[key]))
        .map((key) => ({ path: ['settings', key], problem })),
      ...warc
        .filter((key) => differs(order.warc[key], unused[key]))
        .map((key) => ({ path: ['warc', key], problem })),
    ];
  });
}
