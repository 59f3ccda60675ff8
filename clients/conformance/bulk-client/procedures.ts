// What several cases about a client that collects from Brokers do.
import type { ReplyCheck, SentText } from '../broker-bench.js';
import type { Procedure } from '../case.js';
import type { Behavior, BulkClientContext } from './bench.js';
import type { Kind } from './replies.js';

/** A reply, and what the client must make of it. */
type Check = ReplyCheck<Behavior, Kind>;

/** Sends a reply. */
export function replies(expected: Check): Procedure<BulkClientContext> {
  return {
    async run(context) {
      await context.bench.shownKinds(context);
      await context.bench.checkReply(expected, context);
    },
  };
}

/** Sends a complete transfer: the client must show every object and must succeed. */
export function reads(
  reply: string,
  shownTexts: readonly SentText<Kind>[],
  more: Partial<Check> = {},
): Procedure<BulkClientContext> {
  return replies({ behavior: { reply }, shownTexts, outcome: 'success', ...more });
}

/** Sends a reply whose defect the client must report. */
export function fails(reply: string, more: Partial<Check> = {}): Procedure<BulkClientContext> {
  return replies({ behavior: { reply }, outcome: 'failure', ...more });
}
