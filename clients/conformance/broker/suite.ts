import { ConnectionError } from '../../../protocols/errors.js';
import { DEFAULT_BROKER_PORT } from '../../broker/index.js';
import { printable } from '../printable.js';
import { type BoundCase, CASE_TIMEOUT_MS, type Suite } from '../runner.js';
import { targetOf, targetText } from '../target.js';
import { Transcript } from '../transcript.js';
import { adminCases } from './admin-cases.js';
import { type BrokerCase, BrokerContext, type SharedFacts } from './context.js';
import { enduranceCases } from './endurance-cases.js';
import { flagCases } from './flag-cases.js';
import { grammarCases } from './grammar-cases.js';
import { messageCases } from './message-cases.js';
import { queryCases } from './query-cases.js';
import { replyCases } from './reply-cases.js';
import { parseWords, readPassword } from './words.js';

const CASES: readonly BrokerCase[] = [
  ...messageCases,
  ...queryCases,
  ...grammarCases,
  ...flagCases,
  ...replyCases,
  ...adminCases,
  ...enduranceCases,
];

/** Judges a Broker by what can be seen from outside, on its own data, which should not change meanwhile. */
export const suite: Suite = {
  name: 'broker',
  title: 'a Broker: messages, queries, flags, replies, administration, endurance',
  usage: 'HOST[:PORT] [--password-file FILE]',
  cases: CASES,
  async prepare(words, { timeoutMs = CASE_TIMEOUT_MS, signal = new AbortController().signal }) {
    const { address, passwordFile } = parseWords(words);
    const target = targetOf(address, DEFAULT_BROKER_PORT);
    const password = passwordFile === undefined ? undefined : await readPassword(passwordFile);
    const shared: SharedFacts = { target, idleMs: timeoutMs, password, survey: undefined };
    await assertThere(shared, signal);
    const cases = CASES.map((described): BoundCase => {
      const run = async (transcript: Transcript, stop: AbortSignal) => {
        await using context = new BrokerContext(shared, transcript, stop);
        await described.run(context);
      };
      return { ...described, run };
    });
    return { suite: 'broker', target: targetText(target), cases, async [Symbol.asyncDispose]() {} };
  },
};

/** Rejects with ConnectionError when nobody is there, or when a Gatherer is (BRK-1.4). */
async function assertThere(shared: SharedFacts, signal: AbortSignal): Promise<void> {
  await using context = new BrokerContext(shared, new Transcript(), signal);
  const wire = await context.connect();
  // Silence, or a connection that breaks: somebody is there, and the cases will say what is wrong.
  const first = await wire.line().catch((error: unknown) => {
    if (error instanceof ConnectionError) return '';
    throw error;
  });
  if (/^000 - HELLO/.test(first)) {
    throw new ConnectionError(`${targetText(shared.target)} is a gatherd, not a Broker: ${printable(first)}`);
  }
}
