// What several cases about a Broker do.
import type { Procedure } from '../case.js';
import { withSurvey } from '../server-context.js';
import { checkNotRefused, checkRefused, type OnRefusal } from './checks.js';
import type { BrokerContext } from './context.js';
import { intersect, minus, pickOverlapping, SURVEY_MS, type Survey, union } from './survey.js';

/** Compares replies with the survey of the Broker's data. */
export const surveyed = withSurvey<Survey, BrokerContext>(SURVEY_MS);

/** Sends messages that must be refused. */
export function refused(...messages: readonly string[]): Procedure<BrokerContext> {
  return {
    async run(context) {
      for (const message of messages) checkRefused(await context.ask(message), message);
    },
  };
}

/** Sends queries that must not be refused, whatever they find. */
export function accepted(flags: string, ...queries: readonly string[]): Procedure<BrokerContext> {
  return {
    async run(context) {
      for (const query of queries) checkNotRefused(await context.ask(`#USER ${flags} #END ${query}`), query);
    },
  };
}

const MEANINGS = { and: intersect, or: union, except: minus } as const;

/**
 * Sends spellings of `a and b`, `a or b` or `a except b`, for two words of the data, and compares what they
 * find.
 * @param queries with `{a}` and `{b}` for the words
 */
export function finds(
  onRefusal: OnRefusal,
  ...queries: readonly (readonly [query: string, meaning: keyof typeof MEANINGS])[]
): Procedure<BrokerContext> {
  return surveyed(async (survey, context) => {
    const [a, b] = pickOverlapping(survey);
    for (const [query, meaning] of queries) {
      const spelled = query.replaceAll('{a}', a.text).replaceAll('{b}', b.text);
      await context.checkFinds(spelled, MEANINGS[meaning](a.urls, b.urls), onRefusal);
    }
  });
}
