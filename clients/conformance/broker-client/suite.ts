// The suite `broker-client`: checks a program that queries a Broker against scripted Brokers.
import { commandOf, prepareClients } from '../client-context.js';
import { type ClientUnderTest, CommandClient } from '../command-client.js';
import type { PreparedSuite, Suite } from '../runner.js';
import { Bench, type ClientCase, type QueryTask } from './replies.js';
import { replyCases } from './reply-cases.js';
import { sentCases } from './sent-cases.js';

export type { Behavior, Bench, ClientCase, ClientContext, Kind, QueryTask, Requested } from './replies.js';
export const CLIENT_CASES: readonly ClientCase[] = [...sentCases, ...replyCases];

/** Binds the cases to a client, a program or a function. The command line uses {@link suite} instead. */
export function prepareClient(client: ClientUnderTest<QueryTask>): PreparedSuite {
  return prepareClients(suite.name, client.name, CLIENT_CASES, new Bench(client));
}

/** Checks a client of the Broker: runs its command against scripted Brokers. */
export const suite: Suite = {
  name: 'broker-client',
  title: 'a client that queries a Broker: what it sends, understands and shows',
  usage: '-- COMMAND [ARG...]  ({host}, {port} and {query} are replaced, or appended)',
  requirements: [
    'COMMAND sends the query as it is given and writes what it receives to standard output, in any',
    'format: every text of a reply is one plain word. The kinds of text that it writes of the ordinary',
    'reply (URLs, descriptions, matched lines, attributes) must be complete in all others; cases about a',
    'kind that it does not write are skipped. So it should request descriptions (#desc) and one attribute',
    '(#attribute NAME, of any name: the first one that it requests is sent). Exit status 0 means that the',
    'reply was complete.',
  ],
  cases: CLIENT_CASES,
  async prepare(args) {
    const command = commandOf('broker-client', args);
    return prepareClient(await CommandClient.of<QueryTask>(command, ['host', 'port', 'query']));
  },
};
