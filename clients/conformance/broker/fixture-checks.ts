// What the cases about the fixture share: cases that need it, queries that find exactly some of its objects.
import { FIXTURE } from '../../../protocols/fixture/index.js';
import { check, checkNone, NotApplicable, type Procedure, within } from '../case.js';
import { checkFixtureUrls, isFixtureUrl, type ReceivedValue } from '../fixture.js';
import { printable } from '../printable.js';
import { checkNotRefused, type OnRefusal } from './checks.js';
import type { BrokerContext } from './context.js';
import type { FixtureValues } from './fixture-data.js';
import type { Reply } from './reply.js';
import { SURVEY_MS } from './survey.js';

/** Flags with which parts of words match, in any case, and no lines are sent. */
export const PART_FLAGS = '#opaque #index case insensitive';

/** The same with case. */
export const SENSITIVE_FLAGS = '#opaque #index case sensitive';

/** Runs with the fixture only; skips the case for a Broker without it. */
export function loaded(
  run: (context: BrokerContext, found: Reply) => void | Promise<void>,
): Procedure<BrokerContext> {
  return within(SURVEY_MS, async (context: BrokerContext) => run(context, await context.fixture()));
}

/** Looks at the values of the fixture; skips the case for a Broker without it. */
export function valued(
  verify: (values: FixtureValues, context: BrokerContext) => void | Promise<void>,
): Procedure<BrokerContext> {
  return within(SURVEY_MS, async (context: BrokerContext) => verify(await context.fixtureValues(), context));
}

/** As {@link valued}; skips the case for a Broker that does not know `#attribute`, too. */
export function attributed(
  verify: (values: FixtureValues, context: BrokerContext) => void | Promise<void>,
): Procedure<BrokerContext> {
  return valued(async (values, context) => {
    if (!values.attributes) throw new NotApplicable('the broker does not know #attribute (late)');
    await verify(values, context);
  });
}

/** The first Update-Time of the fixture. */
const FIRST_TIME = Math.min(...FIXTURE.map(({ updateTime }) => updateTime));

/**
 * As {@link attributed}; skips the case for a Broker that has replaced the Update-Times, too: they are ahead of its
 * clock, and a collector then stores the time of arrival (GATHERD-13.10).
 */
export function timed(
  verify: (context: BrokerContext, values: FixtureValues) => void | Promise<void>,
): Procedure<BrokerContext> {
  return attributed(async (values, context) => {
    const times = [...values.copies.values()].flat(2).filter(({ name }) => name === 'Update-Time');
    const isReplaced = ({ value }: ReceivedValue) => {
      const text = Buffer.from(value).toString('latin1');
      return /^\d+$/.test(text) && Number(text) < FIRST_TIME;
    };
    if (times.length > 0 && times.every(isReplaced)) {
      throw new NotApplicable('the broker has replaced the Update-Times, which are ahead of its clock');
    }
    await verify(context, values);
  });
}

/** Returns the URL of the object with this last part of its path. @throws TypeError if the fixture has none */
export function urlNamed(name: string): string {
  const found = FIXTURE.find(({ url }) => url.endsWith(`/${name}`));
  if (found === undefined) throw new TypeError(`the fixture has no ${name}`);
  return found.url;
}

/** A query, the last parts of the URLs that it must find, and flags, if others than those of its case. */
export type Expectation = readonly [query: string, names: string, flags?: string];

/**
 * Checks that queries find exactly these objects of the fixture, each once.
 * @param onRefusal what a refusal of a query means; `skip-first`: an engine that supports the first query supports
 * the others, too
 */
export function findsExactly(
  flags: string,
  onRefusal: OnRefusal | 'skip-first',
  ...expectations: readonly Expectation[]
): Procedure<BrokerContext> {
  return loaded((context) => checkAll(context, flags, onRefusal, expectations));
}

/** As {@link findsExactly}, for queries about Update-Times; skips the case like {@link timed}. */
export function findsTimes(flags: string, ...expectations: readonly Expectation[]): Procedure<BrokerContext> {
  return timed((context) => checkAll(context, flags, 'skip', expectations));
}

async function checkAll(
  context: BrokerContext,
  flags: string,
  onRefusal: OnRefusal | 'skip-first',
  expectations: readonly Expectation[],
): Promise<void> {
  const verify = async ([query, names, own = flags]: Expectation, refusal: OnRefusal) => {
    const urls = names.split(' ').filter((name) => name !== '');
    await checkFinds(context, `${own} #END ${query}`, urls.map(urlNamed), refusal);
  };
  if (onRefusal !== 'skip-first') {
    await checkEach(expectations, (one) => verify(one, onRefusal));
    return;
  }
  for (const [at, one] of expectations.entries()) await verify(one, at === 0 ? 'skip' : 'fail');
}

/**
 * Checks all items, also after one that the Broker does not support, which skips the case if none fails.
 * @throws Mismatch or NotApplicable
 */
export async function checkEach<Item>(
  items: readonly Item[],
  verify: (item: Item) => Promise<void>,
): Promise<void> {
  let undecided: NotApplicable | undefined;
  for (const item of items) {
    try {
      await verify(item);
    } catch (error) {
      if (!(error instanceof NotApplicable)) throw error;
      undecided ??= error;
    }
  }
  if (undecided !== undefined) throw undecided;
}

/** Sends a user message and checks that it finds these objects of the fixture, each once. @throws Mismatch */
export async function checkFinds(
  context: BrokerContext,
  message: string,
  urls: readonly string[],
  onRefusal: OnRefusal,
): Promise<void> {
  const reply = await context.ask(`#USER ${message}`);
  checkNotRefused(reply, message, onRefusal);
  const found = reply.objects.map(({ url }) => url);
  checkFixtureUrls(urls, found, message);
  checkOnce(found, message);
}

/** Checks that no object of the fixture comes twice. @throws Mismatch */
export function checkOnce(urls: readonly string[], what: string): void {
  const twice = urls.find((url, at) => isFixtureUrl(url) && urls.indexOf(url) !== at);
  checkNone(twice, `an object comes twice: ${printable(what)}`, 'each URL once', printable);
}

/** Checks that a count is this one. @throws Mismatch */
export function checkCount(received: number, expected: number, what: string): void {
  check(received === expected, what, { expected: String(expected), received: String(received) });
}
