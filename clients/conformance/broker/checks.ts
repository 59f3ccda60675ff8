// Checks of replies that several cases share: equal sets of URLs, refusals.
import { check, Mismatch, NotApplicable } from '../case.js';
import { printable } from '../printable.js';
import { formatReply, type Reply, textsOf } from './reply.js';
import type { Survey } from './survey.js';

/**
 * Whether a refusal of the query fails the case, or skips it because the engine does not support the query
 * (BRK-2.19).
 */
export type OnRefusal = 'fail' | 'skip';

export function urlsOf(reply: Reply): Set<string> {
  return new Set(reply.objects.map(({ url }) => url));
}

/**
 * Checks that the reply is not a `111`.
 * @throws Mismatch for a `111`; NotApplicable if the engine may lack a feature that the query needs and says so
 */
export function checkNotRefused(reply: Reply, what: string, onRefusal: OnRefusal = 'fail'): void {
  const [fatal] = textsOf(reply, 111);
  if (fatal === undefined) return;
  // BRK-4.18: a query that the engine does not support is not called malformed.
  if (onRefusal === 'skip' && !/malformed|syntax/i.test(fatal)) {
    throw new NotApplicable(`the broker does not support this: ${printable(fatal)}`);
  }
  throw new Mismatch(`a query is refused: ${printable(what)}`, {
    expected: 'results',
    received: printable(`111 - ${fatal}`),
  });
}

/**
 * Checks that the message is refused: only notices, then one `111` with the word ERROR, then the end (BRK-4.13,
 * 4.14).
 * @throws Mismatch
 */
export function checkRefused(reply: Reply, message: string): void {
  const results = reply.items.filter(({ code }) => code !== 101 && code !== 103);
  const [fatal, ...more] = results;
  const last = reply.items.at(-1);
  check(
    fatal?.code === 111 && more.length === 0 && last === fatal && fatal.text.includes('ERROR'),
    `not refused: ${printable(message, 80)}`,
    { expected: '111 - ... ERROR ..., and nothing after it', received: formatReply(reply) },
  );
}

/** Checks that the reply has an item with this code. @throws Mismatch */
export function checkHas(reply: Reply, code: number, message: string): void {
  check(textsOf(reply, code).length > 0, message, {
    expected: `${code} - ...`,
    received: formatReply(reply),
  });
}

/** Checks that the reply has no item with this code. @throws Mismatch */
export function checkHasNo(reply: Reply, code: number, message: string): void {
  check(textsOf(reply, code).length === 0, message, { expected: `no ${code}`, received: formatReply(reply) });
}

/** Checks that the sets are equal, except for URLs that several objects share. @throws Mismatch */
export function checkSameUrls(
  expected: ReadonlySet<string>,
  received: ReadonlySet<string>,
  { shared }: Pick<Survey, 'shared'>,
  query: string,
): void {
  const missing = [...expected].filter((url) => !received.has(url) && !shared.has(url));
  const surplus = [...received].filter((url) => !expected.has(url) && !shared.has(url));
  check(missing.length + surplus.length === 0, `wrong objects for ${printable(query)}`, {
    expected: `${expected.size} objects${missing.length > 0 ? `, among them ${printable(missing[0] ?? '')}` : ''}`,
    received: `${received.size} objects${surplus.length > 0 ? `, among them ${printable(surplus[0] ?? '')}` : ''}`,
  });
}

/** Checks that all expected URLs were received. @throws Mismatch */
export function checkIncludes(
  expected: ReadonlySet<string>,
  received: ReadonlySet<string>,
  query: string,
): void {
  const [missing] = [...expected].filter((url) => !received.has(url));
  check(missing === undefined, `an object is not found by ${printable(query)}`, {
    expected: printable(missing ?? ''),
    received: `${received.size} other objects`,
  });
}
