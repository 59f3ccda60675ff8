// The suite `sstp-client`.
import { commandOf, prepareClients } from '../client-context.js';
import { type ClientUnderTest, CommandClient } from '../command-client.js';
import type { PreparedSuite, Suite } from '../runner.js';
import { Bench, type LinkTask, type SstpClientCase } from './bench.js';
import { damageCases, errorCases, replyCases } from './reply-cases.js';
import { resultCases } from './result-cases.js';
import { sentCases } from './sent-cases.js';

export const SSTP_CLIENT_CASES: readonly SstpClientCase[] = [
  ...sentCases,
  ...replyCases,
  ...resultCases,
  ...errorCases,
  ...damageCases,
];

/** Binds the cases to a client, a program or a function. The command line does it by {@link suite}. */
export function prepareSstpClient(client: ClientUnderTest<LinkTask>): PreparedSuite {
  return prepareClients(suite.name, client.name, SSTP_CLIENT_CASES, new Bench(client));
}

/** Checks a client of a references server: runs its command against scripted servers. */
export const suite: Suite = {
  name: 'sstp-client',
  title:
    'a client of a references server: its requests, what it reads and refuses; prints the IDs of who links to a URL',
  usage: '-- COMMAND [ARG...]  ({host}, {port} and {url} are replaced, or appended)',
  requirements: [
    'COMMAND asks who links to the URL and must write the IDs that it receives to standard output, in',
    'their order and in any format: each number of six digits or more counts as an ID. Exit status 0',
    'means that there was a result; a failure has another one.',
  ],
  cases: SSTP_CLIENT_CASES,
  async prepare(args) {
    const command = commandOf('sstp-client', args);
    return prepareSstpClient(await CommandClient.of<LinkTask>(command, ['host', 'port', 'url']));
  },
};
export type {
  Behavior,
  Bench,
  LinkTask,
  SentRequest,
  SstpClientCase,
  SstpClientContext,
  SstpRun,
} from './bench.js';
export type { LinkRequest } from './replies.js';
