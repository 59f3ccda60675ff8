import { UsageError } from '../../../protocols/errors.js';
import type { ClientUnderTest } from '../client-under-test.js';
import { CommandClient } from '../command-client.js';
import type { PreparedSuite, Suite } from '../runner.js';
import { Bench, type QueryTask } from './experiment.js';
import { replyCases } from './reply-cases.js';
import { type ClientCase, sentCases } from './sent-cases.js';

export type { QueryTask } from './experiment.js';
export const CLIENT_CASES: readonly ClientCase[] = [...sentCases, ...replyCases];

/** Binds the cases to a client, a program or a function. The command line does it by {@link suite}. */
export function prepareClient(client: ClientUnderTest<QueryTask>): PreparedSuite {
  const bench = new Bench(client);
  return {
    suite: suite.name,
    target: client.name,
    cases: CLIENT_CASES.map(({ run, ...description }) => ({
      ...description,
      run: (transcript, signal) => run({ bench, transcript, signal }),
    })),
    // Every run ends its own server and process.
    async [Symbol.asyncDispose]() {},
  };
}

/** Judges a client of the Broker: its command against scripted Brokers. */
export const suite: Suite = {
  name: 'broker-client',
  title: 'a client that asks a Broker: what it sends, understands and shows',
  usage: '-- COMMAND [ARG...]  ({host}, {port} and {query} are replaced, or appended)',
  cases: CLIENT_CASES,
  async prepare(words) {
    const command = words[0] === '--' ? words.slice(1) : words;
    if (command.length === 0 || (words[0] !== '--' && (command[0] ?? '').startsWith('-'))) {
      throw new UsageError('the command of the client is missing: broker-client -- COMMAND [ARG...]');
    }
    return prepareClient(await CommandClient.of<QueryTask>(command, ['host', 'port', 'query']));
  },
};
