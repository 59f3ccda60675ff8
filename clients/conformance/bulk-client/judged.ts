import { type BrokerRun, type Sent, saysFailed } from '../broker-bench.js';
import { check } from '../case.js';
import { printable } from '../printable.js';
import type { BulkClientCase, BulkClientContext, Part } from './bench.js';
import type { Kind } from './replies.js';

/** A case that sends one reply to the client under test and judges its output. */
export interface Judged {
  readonly id: string;
  readonly title: string;
  readonly rules: readonly string[];
  readonly source: string;
  readonly level?: 'MUST' | 'SHOULD';
  readonly part: Part;
  /** Texts that the output must have, if the client shows texts of their kind. */
  readonly shows?: readonly Sent<Kind>[];
  /** Texts that must not be shown. */
  readonly hides?: readonly string[];
  /** A word that standard output or standard error must have. */
  readonly says?: string;
  /** The required outcome of the run; not judged if undefined. */
  readonly ends?: 'well' | 'failed';
  /** Only for clients that request the 1995 interface (`#interface 2`). */
  readonly proposed?: boolean;
}

/** Makes a runnable case from its description. */
export function judged({
  part,
  shows = [],
  hides = [],
  says,
  ends,
  proposed,
  ...rest
}: Judged): BulkClientCase {
  const { id, title, rules, source, level = 'MUST' } = rest;
  const run = async (context: BulkClientContext) => {
    if (proposed === true) await context.bench.asksForProposed(context);
    await context.bench.shows(context);
    const observation = await context.bench.observe(part, context);
    await context.bench.showsAll(observation, shows, context);
    showsNone(observation, hides);
    if (says !== undefined) {
      const all = observation.output + observation.diagnostics;
      check(all.includes(says), 'the message is not shown', { expected: says, received: printable(all) });
    }
    if (ends === 'well') await context.bench.succeeds(observation, context);
    if (ends === 'failed') saysFailed(observation);
  };
  return { id, title, rules, source, level, run };
}

/** A case of a complete transfer: the client must show every object and must succeed. */
export function reads(
  id: string,
  title: string,
  rules: readonly string[],
  source: string,
  reply: string,
  shows: readonly Sent<Kind>[],
  more: Partial<Judged> = {},
): BulkClientCase {
  return judged({ id, title, rules, source, part: { reply }, shows, ends: 'well', ...more });
}

/** Checks that none of the texts is in the output. @throws Mismatch */
function showsNone({ output }: BrokerRun, texts: readonly string[]): void {
  for (const text of texts) {
    check(!output.includes(text), 'the output has text that is not part of the transferred objects', {
      expected: `not ${printable(text)}`,
      received: printable(output.slice(-200)),
    });
  }
}
