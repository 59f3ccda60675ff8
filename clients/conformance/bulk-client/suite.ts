import { UsageError } from '../../../protocols/errors.js';
import type { ClientUnderTest } from '../client-under-test.js';
import { CommandClient } from '../command-client.js';
import type { PreparedSuite, Suite } from '../runner.js';
import { Bench, type BulkClientCase } from './experiment.js';
import { proposedCases } from './proposed-cases.js';
import { sentCases } from './sent-cases.js';
import { shippedCases } from './shipped-cases.js';

export const BULK_CLIENT_CASES: readonly BulkClientCase[] = [...sentCases, ...shippedCases, ...proposedCases];

/** Binds the cases to a client, a program or a function. The command line does it by {@link suite}. */
export function prepareBulkClient(client: ClientUnderTest): PreparedSuite {
  const bench = new Bench(client);
  return {
    suite: suite.name,
    target: client.name,
    cases: BULK_CLIENT_CASES.map(({ run, ...description }) => ({
      ...description,
      run: (transcript, signal) => run({ bench, transcript, signal }),
    })),
    // Every run ends its own server and process.
    async [Symbol.asyncDispose]() {},
  };
}

/** Judges a client that collects from Brokers: its command against scripted Brokers. */
export const suite: Suite = {
  name: 'bulk-client',
  title: 'a client that collects from a Broker: #BULK, what it bears and shows of the answer',
  usage: '-- COMMAND [ARG...]  ({host} and {port} are replaced, or appended)',
  cases: BULK_CLIENT_CASES,
  async prepare(words) {
    const command = words[0] === '--' ? words.slice(1) : words;
    if (command.length === 0 || (words[0] !== '--' && (command[0] ?? '').startsWith('-'))) {
      throw new UsageError('the command of the client is missing: bulk-client -- COMMAND [ARG...]');
    }
    return prepareBulkClient(await CommandClient.of(command));
  },
};
