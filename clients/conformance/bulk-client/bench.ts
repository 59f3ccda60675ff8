import { BrokerBench, type BrokerPart, type BrokerRun } from '../broker-bench.js';
import { type ConformanceCase, NotApplicable } from '../case.js';
import type { ClientContext } from '../client-bench.js';
import type { Address } from '../client-under-test.js';
import { full, group, type Kind, SUCCESS, updated, urlOf } from './replies.js';

export type BulkClientContext = ClientContext<Bench>;
export type BulkClientCase = ConformanceCase<BulkClientContext>;

/** How the scripted Broker plays its part; its reply is a text, a character a byte. */
export type Part = BrokerPart<string>;

/** The client that is judged. Its ordinary transfer has something in each group. */
export class Bench extends BrokerBench<Address, Part, Kind> {
  readonly ordinaryTexts = [
    { kind: 'delete' as const, text: urlOf('walrus') },
    { kind: 'refresh' as const, text: urlOf('penguin') },
    ...updated('puffin', 'gannet'),
  ];
  protected readonly ordinaryPart: Part = {
    reply:
      SUCCESS +
      group('DELETE', full('walrus')) +
      group('REFRESH', full('penguin')) +
      group('UPDATE', full('puffin') + full('gannet')),
    watch: true,
  };
  protected readonly essential = { kind: 'update', name: 'objects' } as const;

  override observe(part: Part, context: ClientContext<unknown>): Promise<BrokerRun> {
    context.transcript.note('the client is started');
    return super.observe(part, context);
  }

  /** @throws NotApplicable the client does not ask for the interface of 1995, so no Broker may send it (BP-29) */
  async asksForProposed(context: ClientContext<unknown>): Promise<void> {
    const { sessions } = await this.ordinaryUnshown(context);
    const lines = sessions.flatMap((session) => session.lines);
    if (!lines.some(({ text }) => /#interface\s+2\b.*#end\b/i.test(text)))
      throw new NotApplicable('the client does not ask for #interface 2');
  }

  protected taskOf(address: Address): Address {
    return address;
  }

  protected replyTo(part: Part): string {
    return part.reply;
  }
}
