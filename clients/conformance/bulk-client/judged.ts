import { type BrokerRun, type Sent, saysFailed } from '../broker-bench.js';
import { check } from '../case.js';
import { printable } from '../printable.js';
import type { BulkClientCase, BulkClientContext, Part } from './bench.js';
import type { Kind } from './replies.js';

/** The data of a case about one reply. */
export interface Judged {
  readonly id: string;
  readonly title: string;
  readonly rules: readonly string[];
  readonly source: string;
  readonly level?: 'MUST' | 'SHOULD';
  readonly part: Part;
  /** Texts that have to be shown, of the kinds that the client shows at all. */
  readonly shows?: readonly Sent<Kind>[];
  /** Texts that must not be shown. */
  readonly hides?: readonly string[];
  /** A word that has to be in standard output or standard error. */
  readonly says?: string;
  /** How the run has to end; not judged if undefined. */
  readonly ends?: 'well' | 'failed';
  /** Only for a client that asks for the interface of 1995. */
  readonly proposed?: boolean;
}

/** Makes a case about one reply. */
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

/** As {@link judged}: the client loses nothing and takes the transfer for complete. */
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

/** No text that is not part of an object is shown. @throws Mismatch */
function showsNone({ output }: BrokerRun, texts: readonly string[]): void {
  for (const text of texts) {
    check(!output.includes(text), 'something is shown that is no object of the transfer', {
      expected: `not ${printable(text)}`,
      received: printable(output.slice(-200)),
    });
  }
}
