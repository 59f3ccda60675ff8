import { saysFailed } from '../broker-client/experiment.js';
import { check } from '../case.js';
import { printable } from '../printable.js';
import {
  type BulkClientCase,
  type ClientContext,
  type Part,
  showsAll,
  showsNone,
  succeeds,
} from './experiment.js';
import type { Sent } from './replies.js';

/** The makings of a case about one reply. */
export interface Judged {
  readonly id: string;
  readonly title: string;
  readonly rules: readonly string[];
  readonly source: string;
  readonly level?: 'MUST' | 'SHOULD';
  readonly part: Part;
  /** Texts that have to be shown, of the kinds that the client shows at all. */
  readonly shows?: readonly Sent[];
  /** Texts that must not be shown. */
  readonly hides?: readonly string[];
  /** A word that has to be said, on either way. */
  readonly says?: string;
  /** How the run has to end; not judged when absent. */
  readonly ends?: 'well' | 'failed';
  /** Only for a client that asks for the interface of 1995. */
  readonly proposed?: boolean;
}

/** A case: what the client makes of one reply. */
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
  const run = async (context: ClientContext) => {
    if (proposed === true) await context.bench.asksForProposed(context);
    await context.bench.shows(context);
    const observation = await context.bench.observe(part, context);
    await showsAll(observation, shows, context);
    showsNone(observation, hides);
    if (says !== undefined) {
      const all = observation.output + observation.diagnostics;
      check(all.includes(says), 'the message is not shown', { expected: says, received: printable(all) });
    }
    if (ends === 'well') await succeeds(observation, context);
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
  shows: readonly Sent[],
  more: Partial<Judged> = {},
): BulkClientCase {
  return judged({ id, title, rules, source, part: { reply }, shows, ends: 'well', ...more });
}
