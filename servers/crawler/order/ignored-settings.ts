// Finds settings of an order without effect: those that apply only together with others.

import { PROCESSORS } from '../processors/table.js';
import { chainSteps } from './chain-config.js';
import type { OrderProblem } from './check-chains.js';
import { keepsCookies } from './check-order.js';
import { type CrawlOrderConfig, crawlOrderSchema } from './order.js';
import type { CrawlSettings } from './settings.js';
import { applyOverrides } from './sheets.js';

/** Settings that have an effect only with another one: when they have one, and what to say otherwise. */
const DEPENDENT: readonly (readonly [
  names: readonly (keyof CrawlSettings)[],
  problem: string,
  isEffective: (settings: CrawlSettings) => boolean,
])[] = [
  [
    ['browserMaxSeconds', 'browserMaxRequests', 'browserMaxMegabytes', 'browserDelayMs', 'browserScroll'],
    'without fetcher browser',
    ({ fetcher }) => fetcher === 'browser',
  ],
  [['customRobots'], 'without robotsPolicy custom', ({ robotsPolicy }) => robotsPolicy === 'custom'],
  [
    ['userAgents'],
    'without robotsPolicy most-favored-set',
    ({ robotsPolicy }) => robotsPolicy === 'most-favored-set',
  ],
  [
    ['masquerade'],
    'without a most-favored robotsPolicy',
    ({ robotsPolicy }) => robotsPolicy.startsWith('most-favored'),
  ],
  [
    ['robotsUnreachable', 'calculateRobotsOnly'],
    'with robotsPolicy ignore',
    ({ robotsPolicy }) => robotsPolicy !== 'ignore',
  ],
  [
    ['robotsAnswers'],
    'with robotsPolicy ignore or rfc9309',
    ({ robotsPolicy }) => robotsPolicy !== 'ignore' && robotsPolicy !== 'rfc9309',
  ],
  [
    ['digestStripMaxKB'],
    'without a digestStripPattern',
    ({ digestStripPattern }) => digestStripPattern !== '',
  ],
  [['runtimeOperation'], 'without runtimeSeconds', ({ runtimeSeconds }) => runtimeSeconds > 0],
  [['proxyLoginEnvironment'], 'without proxy', ({ proxy }) => proxy !== '' && proxy !== 'direct'],
  [
    ['bandwidthReading'],
    'without maxPerHostBandwidthKBs',
    ({ maxPerHostBandwidthKBs }) => maxPerHostBandwidthKBs > 0,
  ],
  [
    ['quotaForceRetire'],
    'without a quota',
    ({ quotas }) => Object.values(quotas).some((limit) => limit >= 0),
  ],
  [['parallelQueuesBy'], 'without parallelQueues of at least 2', ({ parallelQueues }) => parallelQueues > 1],
  [
    ['queueLabels'],
    'without queueAssignment limits or host-limits',
    ({ queueAssignment }) => queueAssignment === 'limits' || queueAssignment === 'host-limits',
  ],
  [['queueAssignment'], 'with forceQueue', ({ forceQueue }) => forceQueue === ''],
  [['maxTransHops'], 'without embeds any', ({ embeds }) => embeds === 'any'],
  [['maxSpeculativeHops', 'urlForm'], 'without embeds root or any', ({ embeds }) => embeds !== 'frames'],
  [['blockPattern', 'allowPattern'], 'with blockAll', ({ blockAll }) => !blockAll],
];

/** Settings that another one limits. */
const LIMITED = [
  ['lostMaxRetries', 'maxRetries'],
  ['busyMaxRetries', 'maxRetries'],
  ['unansweredRetryDelaySeconds', 'retryDelaySeconds'],
  ['lostRetryDelaySeconds', 'retryDelaySeconds'],
  ['busyRetryDelaySeconds', 'retryDelaySeconds'],
] as const satisfies readonly (readonly [keyof CrawlSettings, keyof CrawlSettings])[];

/**
 * Returns the settings of an order without effect, for a warning: those that apply only together with
 * others.
 */
export function ignoredSettings(order: CrawlOrderConfig): OrderProblem[] {
  const ignored: OrderProblem[] = [];
  const usual = crawlOrderSchema.parse({});
  const defaults = usual.settings;
  const check = (
    applied: readonly CrawlSettings[],
    given: Partial<CrawlSettings>,
    path: OrderProblem['path'],
  ): void => {
    for (const [names, problem, isEffective] of DEPENDENT)
      for (const name of names)
        if (name in given && differs(given[name], defaults[name]) && !applied.some(isEffective))
          ignored.push({ path: [...path, name], problem: `it has no effect ${problem}` });
    for (const [name, maximum] of LIMITED)
      if (
        name in given &&
        differs(given[name], defaults[name]) &&
        applied.every((one) => one[name] > one[maximum])
      )
        ignored.push({ path: [...path, name], problem: `${maximum}, which is less, limits it` });
  };
  const sheets = order.sheets.map(({ settings }) => applyOverrides(order.settings, settings));
  // What the order sets may have its effect where a sheet sets the rest.
  check([order.settings, ...sheets], order.settings, ['settings']);
  order.sheets.forEach(({ settings }, i) => {
    const given = Object.fromEntries(Object.entries(settings).filter(([name]) => name !== 'quotas'));
    check([sheets[i] ?? order.settings], given, ['sheets', i, 'settings']);
  });
  if (order.warc.directory === '') {
    // Without a directory, digestHistory is an error.
    for (const [name, value] of Object.entries(order.warc))
      if (name !== 'digestHistory' && differs(value, usual.warc[name as keyof typeof usual.warc]))
        ignored.push({ path: ['warc', name], problem: 'it has no effect without warc.directory' });
  } else if (!order.warc.compress && order.warc.compression !== 'gzip')
    ignored.push({ path: ['warc', 'compression'], problem: 'it has no effect without warc.compress' });
  if (order.warc.format === 'arc' && order.warc.digestHistory && !order.warc.skipIdenticalDigests)
    ignored.push({
      path: ['warc', 'digestHistory'],
      problem: 'an ARC file has no revisit records: it has no effect without warc.skipIdenticalDigests',
    });
  for (const name of ['firstLookSeconds', 'lookSeconds'] as const)
    if (order.actions.directory === '' && order.actions[name] !== usual.actions[name])
      ignored.push({ path: ['actions', name], problem: 'it has no effect without actions.directory' });
  if (order.browser.keepDocuments && (order.warc.directory === '' || order.warc.format === 'arc'))
    ignored.push({
      path: ['browser', 'keepDocuments'],
      problem: 'it has no effect without WARC files (warc)',
    });
  for (const name of ['own', 'by', 'directory'] as const)
    if (order.mapper.crawlers === 0 && order.mapper[name] !== usual.mapper[name])
      ignored.push({ path: ['mapper', name], problem: 'it has no effect without mapper.crawlers' });
  for (const name of ['cookiesLoadFile', 'cookiesSaveFile'] as const)
    if (order[name] !== '' && !keepsCookies(order))
      ignored.push({ path: [name], problem: 'it has no effect without settings.cookies' });
  ignored.push(...ignoredByChains(order, usual));
  if (order.scope.length > 0 && order.settings.maxPathRepetitions !== defaults.maxPathRepetitions)
    ignored.push({
      path: ['settings', 'maxPathRepetitions'],
      problem: 'it has no effect with a scope: use its rule pathological-path',
    });
  if (!order.logs && order.progressSeconds !== usual.progressSeconds)
    ignored.push({ path: ['progressSeconds'], problem: 'it has no effect without logs' });
  if (!order.holdQueues && order.targetReadyBacklog !== usual.targetReadyBacklog)
    ignored.push({ path: ['targetReadyBacklog'], problem: 'new queues ignore it without holdQueues' });
  return ignored;
}

/** Settings of processors that the chains of the order leave out. */
function ignoredByChains(order: CrawlOrderConfig, usual: CrawlOrderConfig): OrderProblem[] {
  const present = new Set(
    Object.values(chainSteps(order)).flatMap((steps) => steps.map(({ entry }) => entry.processor)),
  );
  return PROCESSORS.flatMap(({ name, chain, settings = [], warc = [] }): OrderProblem[] => {
    if (present.has(name) || order.chains[chain] === undefined) return [];
    const problem = `it has no effect: the chain ${chain} has no ${name}`;
    return [
      ...settings
        .filter((key) => differs(order.settings[key], usual.settings[key]))
        .map((key) => ({ path: ['settings', key], problem })),
      ...warc
        .filter((key) => differs(order.warc[key], usual.warc[key]))
        .map((key) => ({ path: ['warc', key], problem })),
    ];
  });
}

function differs(value: unknown, usual: unknown): boolean {
  return JSON.stringify(value) !== JSON.stringify(usual);
}
