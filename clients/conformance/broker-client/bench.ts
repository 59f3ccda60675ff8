// Runs a client of the Broker against a scripted Broker that answers its query.
import { type BrokerBehavior, BrokerBench } from '../broker-bench.js';
import type { ConformanceCase } from '../case.js';
import type { ClientContext as Context } from '../client-bench.js';
import type { Address } from '../client-under-test.js';
import { full, fullTexts, type Kind, type Requested, requestedBy } from './replies.js';

export type ClientContext = Context<Bench>;
export type ClientCase = ConformanceCase<ClientContext>;

/** The client's task: the Broker's address and the query. */
export interface QueryTask extends Address {
  readonly query: string;
}

/** Behavior of the scripted Broker. Its reply depends on what the client requests. */
export interface Behavior extends BrokerBehavior<(requested: Requested) => string> {
  /** The query that the client has to send. Default {@link QUERY}. */
  readonly query?: string;
}

export const QUERY = 'lighthouse';

/** Runs the client under test. The ordinary reply has two objects with all kinds of texts. */
export class Bench extends BrokerBench<QueryTask, Behavior, Kind> {
  readonly ordinaryTexts = fullTexts('walrus', 'penguin');
  protected readonly ordinaryBehavior: Behavior = {
    reply: (requested) => full('walrus', requested) + full('penguin', requested),
    watch: true,
  };
  protected readonly essential = { kind: 'url', name: 'URLs' } as const;

  protected taskOf(address: Address, behavior: Behavior | undefined): QueryTask {
    return { ...address, query: behavior?.query ?? QUERY };
  }

  protected replyTo(behavior: Behavior, message: string): string {
    return behavior.reply(requestedBy(message));
  }
}
