// The suite `bulk-client`.
import { commandOf, prepareClients } from '../client-context.js';
import { type ClientUnderTest, CommandClient } from '../command-client.js';
import type { PreparedSuite, Suite } from '../runner.js';
import { Bench, type BulkClientCase } from './bench.js';
import { proposedCases } from './proposed-cases.js';
import { sentCases } from './sent-cases.js';
import { shippedCases } from './shipped-cases.js';

export const BULK_CLIENT_CASES: readonly BulkClientCase[] = [...sentCases, ...shippedCases, ...proposedCases];

/** Binds the cases to a client, a program or a function. The command line does it by {@link suite}. */
export function prepareBulkClient(client: ClientUnderTest): PreparedSuite {
  return prepareClients(suite.name, client.name, BULK_CLIENT_CASES, new Bench(client));
}

/** Checks a client that collects from Brokers: runs its command against scripted Brokers. */
export const suite: Suite = {
  name: 'bulk-client',
  title: 'a client that collects from a Broker: #BULK, what it tolerates and shows of the reply',
  usage: '-- COMMAND [ARG...]  ({host} and {port} are replaced, or appended)',
  requirements: [
    'COMMAND requests everything and must write what it receives to standard output, in any format. The',
    'kinds of text that it writes of the ordinary transfer (URLs of updated, refreshed and deleted',
    'objects, a value) must be complete in all others. Exit status 0 means that the transfer was complete.',
  ],
  cases: BULK_CLIENT_CASES,
  async prepare(args) {
    return prepareBulkClient(await CommandClient.of(commandOf('bulk-client', args)));
  },
};
export type { Behavior, Bench, BulkClientCase, BulkClientContext } from './bench.js';
export type { Kind } from './replies.js';
