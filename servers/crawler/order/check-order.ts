import { KitError } from '../../../protocols/errors.js';
import { seenRules } from '../../../protocols/urls/index.js';
import { decideSequence } from '../decide/build-rules.js';
import { WholePattern } from '../decide/predicates.js';
import { patternMatcher } from '../patterns.js';
import { headerProblem, proxyProblem } from '../requests/request-settings.js';
import { zstdProblem } from '../warc/zstd-frames.js';
import { chainProblems, type OrderProblem } from './check-chains.js';
import type { CrawlOrderConfig } from './order.js';
import type { CrawlSettings } from './settings.js';
import { applyOverrides } from './sheets.js';

/**
 * Finds problems that a schema cannot express: values that depend on each other, patterns that do not compile,
 * sheets that never apply. They are reported before the crawl starts (CRAWL-22).
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

  if (order.console !== undefined && (order.console.certificate === '') !== (order.console.key === ''))
    problems.push({
      path: ['console', order.console.key === '' ? 'key' : 'certificate'],
      problem: 'certificate and key are set together',
    });
  const { crawlers, own } = order.mapper;
  if (crawlers > 0 && own >= crawlers)
    problems.push({
      path: ['mapper', 'own'],
      problem: `it must be less than ${crawlers}, the number of crawlers`,
    });
  if (order.warc.digestHistory && order.warc.directory === '')
    problems.push({
      path: ['warc', 'digestHistory'],
      problem: 'it requires a directory of WARC files (CRAWL-18.5)',
    });
  const noZstd =
    order.warc.compress && order.warc.compression === 'zstd' ? zstdProblem(order.warc.format) : undefined;
  if (noZstd !== undefined) problems.push({ path: ['warc', 'compression'], problem: noZstd });
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
export function keepsCookies({ settings, sheets }: CrawlOrderConfig): boolean {
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
