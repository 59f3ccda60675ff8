// Builds cases from a scripted reply and the output that it requires of the client.
import { type BrokerRun, checkReportsFailure, type SentText } from '../broker-bench.js';
import { check } from '../case.js';
import { printable } from '../printable.js';
import type { Behavior, BulkClientCase, BulkClientContext } from './bench.js';
import type { Kind } from './replies.js';

/** Description of a case that sends one reply to the client under test and checks its output. */
export interface ReplyCase {
  readonly id: string;
  readonly title: string;
  readonly rules: readonly string[];
  readonly source: string;
  readonly level?: 'MUST' | 'SHOULD';
  readonly behavior: Behavior;
  /** Texts that the output must have, if the client shows texts of their kind. */
  readonly shownTexts?: readonly SentText<Kind>[];
  /** Texts that must not be shown. */
  readonly hiddenTexts?: readonly string[];
  /** A word that standard output or standard error must have. */
  readonly shownMessage?: string;
  /** The required outcome of the run; not checked if undefined. */
  readonly outcome?: 'success' | 'failure';
  /** Only for clients that request the 1995 interface (`#interface 2`). */
  readonly proposed?: boolean;
}

/** Builds a case from its description. */
export function replyCase({
  behavior,
  shownTexts = [],
  hiddenTexts = [],
  shownMessage,
  outcome,
  proposed,
  ...rest
}: ReplyCase): BulkClientCase {
  const { id, title, rules, source, level = 'MUST' } = rest;
  const run = async (context: BulkClientContext) => {
    if (proposed === true) await context.bench.requireProposed(context);
    await context.bench.shownKinds(context);
    const observation = await context.bench.observe(behavior, context);
    await context.bench.checkShowsAll(observation, shownTexts, context);
    checkShowsNone(observation, hiddenTexts);
    if (shownMessage !== undefined) {
      const all = observation.output + observation.diagnostics;
      check(all.includes(shownMessage), 'the message is not shown', {
        expected: shownMessage,
        received: printable(all),
      });
    }
    if (outcome === 'success') await context.bench.checkSucceeds(observation, context);
    if (outcome === 'failure') checkReportsFailure(observation);
  };
  return { id, title, rules, source, level, run };
}

/** Builds a case about a complete transfer: the client must show every object and must succeed. */
export function readsCase(
  id: string,
  title: string,
  rules: readonly string[],
  source: string,
  reply: string,
  shownTexts: readonly SentText<Kind>[],
  more: Partial<ReplyCase> = {},
): BulkClientCase {
  return replyCase({
    id,
    title,
    rules,
    source,
    behavior: { reply },
    shownTexts,
    outcome: 'success',
    ...more,
  });
}

/** Checks that none of the texts is in the output. @throws Mismatch */
function checkShowsNone({ output }: BrokerRun, texts: readonly string[]): void {
  for (const text of texts) {
    check(!output.includes(text), 'the output has text that is not part of the transferred objects', {
      expected: `not ${printable(text)}`,
      received: printable(output.slice(-200)),
    });
  }
}
