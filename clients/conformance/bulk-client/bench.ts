// Runs a client that collects from Brokers against a scripted Broker.
import {
  type BrokerBehavior,
  BrokerBench,
  type BrokerRun,
  type ReplyCheck,
  type SentText,
  urlOf,
} from '../broker-bench.js';
import { type ConformanceCase, NotApplicable, type Procedure } from '../case.js';
import type { ClientContext } from '../client-context.js';
import type { Address } from '../command-client.js';
import { full, group, type Kind, SUCCESS, updated } from './replies.js';

export type BulkClientContext = ClientContext<Bench>;
export type BulkClientCase = ConformanceCase<BulkClientContext>;

/** Behavior of the scripted Broker. Its reply is a text in which each character is a byte. */
export type Behavior = BrokerBehavior<string>;

/** Runs the client under test. The ordinary transfer has objects in each group. */
export class Bench extends BrokerBench<Address, Behavior, Kind> {
  readonly ordinaryTexts = [
    { kind: 'delete' as const, text: urlOf('walrus') },
    { kind: 'refresh' as const, text: urlOf('penguin') },
    ...updated('puffin', 'gannet'),
  ];
  protected readonly ordinaryBehavior: Behavior = {
    reply:
      SUCCESS +
      group('DELETE', full('walrus')) +
      group('REFRESH', full('penguin')) +
      group('UPDATE', full('puffin') + full('gannet')),
    watch: true,
  };
  protected readonly essential = { kind: 'update', name: 'objects' } as const;

  override observe(behavior: Behavior, context: ClientContext<unknown>): Promise<BrokerRun> {
    context.transcript.note('the client is started');
    return super.observe(behavior, context);
  }

  /**
   * @throws NotApplicable if the client does not request the interface of 1995, so that no Broker may send it
   *   (BP-29)
   */
  async requireProposed(context: ClientContext<unknown>): Promise<void> {
    const { sessions } = await this.ordinaryUnshown(context);
    const lines = sessions.flatMap((session) => session.lines);
    if (!lines.some(({ text }) => /#interface\s+2\b.*#end\b/i.test(text)))
      throw new NotApplicable('the client does not request #interface 2');
  }

  protected taskOf(address: Address): Address {
    return address;
  }

  protected replyTo(behavior: Behavior): string {
    return behavior.reply;
  }
}

/** A reply, and what the client must make of it. */
type Check = ReplyCheck<Behavior, Kind>;

/** Sends a reply. */
export function replies(expected: Check): Procedure<BulkClientContext> {
  return async (context) => {
    await context.bench.shownKinds(context);
    await context.bench.checkReply(expected, context);
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
