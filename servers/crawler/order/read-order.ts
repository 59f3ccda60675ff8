import type { z } from 'zod';
import { ConfigError } from '../../../protocols/errors.js';
import { placeProcessors } from './chain-config.js';
import { withChainSettings } from './check-chains.js';
import { orderProblems } from './check-order.js';
import { parseJsonWithComments } from './json-with-comments.js';
import { type CrawlOrderConfig, type CrawlOrderInput, crawlOrderSchema } from './order.js';
import { crawlSettingsSchema } from './settings.js';

/** Maximum number of characters of a value in an error. */
const MAX_VALUE_LENGTH = 60;

/**
 * Reads a crawl order: JSON with `//` and block comments and with commas after last elements.
 * @param file name for errors
 * @throws ConfigError for the first problem, with file, line, path and value
 */
export function readOrder(text: string, file: string): CrawlOrderConfig {
  const { value, lineOf } = parseJsonWithComments(text, file);
  return validateOrder(value, file, lineOf);
}

/**
 * Validates an order.
 * @param lineOf returns the line of a path, from 1; 0 if unknown
 * @throws ConfigError as {@link readOrder}
 */
export function validateOrder(
  value: unknown,
  file: string,
  lineOf: (path: readonly PropertyKey[]) => number,
): CrawlOrderConfig {
  const { order, origins, problems } = withChainSettings(withProfile(value));
  const fail = (path: readonly PropertyKey[], problem: string): never => {
    const place = originOf(path, origins);
    throw new ConfigError(file, lineOf(place), formatPath(place), problem);
  };
  const [misplaced] = problems;
  if (misplaced !== undefined) return fail(misplaced.path, misplaced.problem);
  const result = crawlOrderSchema.safeParse(order);
  if (!result.success) {
    const [issue] = result.error.issues;
    if (issue === undefined) throw new ConfigError(file, 0, '', 'it is not a crawl order');
    const path = issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : issue.path;
    return fail(path, problemOf(issue, order));
  }
  const [problem] = orderProblems(result.data);
  if (problem !== undefined) return fail(problem.path, problem.problem);
  placeProcessors(result.data.chains, (path) => ({ file, line: lineOf(path) }));
  return result.data;
}

/** Returns where the operator wrote a value: the setting of a processor is in the entry of its chain. */
export function originOf(
  path: readonly PropertyKey[],
  origins: ReadonlyMap<string, readonly PropertyKey[]>,
): readonly PropertyKey[] {
  const origin = origins.get(path.slice(0, 2).join('.'));
  return origin === undefined ? path : [...origin, ...path.slice(2)];
}

/** Settings of the profile `archive`. */
const ARCHIVE_SETTINGS: CrawlOrderInput['settings'] = {
  embeds: 'any',
  urlForm: 'clean',
  cookies: true,
  sendReferer: true,
};

/** Adds the settings of the order's profile below those that it gives. */
function withProfile(order: unknown): unknown {
  if (typeof order !== 'object' || order === null || !('profile' in order) || order.profile !== 'archive')
    return order;
  const given: unknown = 'settings' in order ? order.settings : {};
  if (typeof given !== 'object' || given === null) return order;
  return { ...order, settings: { ...ARCHIVE_SETTINGS, ...given } };
}

function problemOf(issue: z.core.$ZodIssue, order: unknown): string {
  if (issue.code === 'unrecognized_keys')
    return `there is no such name${hintFor(issue.keys[0] ?? '', issue.path)}`;
  const message =
    issue.code === 'invalid_union' ? 'there is no such rule' : issue.message.replace(/^Invalid input: /, '');
  const value = valueAt(order, issue.path);
  return value === undefined ? message : `${message}: ${cut(JSON.stringify(value))}`;
}

/** Suggests a name for one in the spelling of the original, as `max-delay-ms`, or at the wrong level. */
function hintFor(name: string, path: readonly PropertyKey[]): string {
  const normalized = normalizeName(name);
  const findName = (names: readonly string[]): string | undefined =>
    names.find((known) => normalizeName(known) === normalized);
  const setting = findName(Object.keys(crawlSettingsSchema.shape));
  if (setting !== undefined)
    return path.includes('settings') ? `; ${setting} is meant?` : `; settings.${setting} is meant?`;
  const top = findName(Object.keys(crawlOrderSchema.shape));
  return top === undefined ? '' : `; ${top}, at the top of the order, is meant?`;
}

function normalizeName(name: string): string {
  return name.replace(/[-_]/g, '').toLowerCase();
}

/** Formats a path as `sheets[0].settings.minDelayMs`. */
export function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((shown, part) => {
    if (typeof part === 'number') return `${shown}[${part}]`;
    return shown === '' ? String(part) : `${shown}.${String(part)}`;
  }, '');
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let current = value;
  for (const part of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = Object.entries(current).find(([name]) => name === String(part))?.[1];
  }
  return current;
}

function cut(text: string): string {
  return text.length <= MAX_VALUE_LENGTH ? text : `${text.slice(0, MAX_VALUE_LENGTH)}...`;
}
