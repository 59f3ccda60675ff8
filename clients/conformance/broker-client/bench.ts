import { BrokerBench, type BrokerPart } from '../broker-bench.js';
import type { ConformanceCase } from '../case.js';
import type { ClientContext as Context } from '../client-bench.js';
import type { Address } from '../client-under-test.js';
import { full, fullTexts, type Kind, type Requested, requestedBy } from './replies.js';

export type ClientContext = Context<Bench>;
export type ClientCase = ConformanceCase<ClientContext>;

/** What a client is told: the Broker's address and the query. */
export interface QueryTask extends Address {
  readonly query: string;
}

/** How the scripted Broker plays its part; its reply follows what the client asks for. */
export interface Part extends BrokerPart<(requested: Requested) => string> {
  /** What the client is to ask. Default {@link QUERY}. */
  readonly query?: string;
}

export const QUERY = 'lighthouse';

/** The client that is judged. Its ordinary reply has two objects with everything. */
export class Bench extends BrokerBench<QueryTask, Part, Kind> {
  readonly ordinaryTexts = fullTexts('walrus', 'penguin');
  protected readonly ordinaryPart: Part = {
    reply: (requested) => full('walrus', requested) + full('penguin', requested),
    watch: true,
  };
  protected readonly essential = { kind: 'url', name: 'URLs' } as const;

  protected taskOf(address: Address, part: Part | undefined): QueryTask {
    return { ...address, query: part?.query ?? QUERY };
  }

  protected replyTo(part: Part, message: string): string {
    return part.reply(requestedBy(message));
  }
}
