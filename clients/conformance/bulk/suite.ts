import { ConnectionError } from '../../../protocols/errors.js';
import { DEFAULT_BROKER_PORT } from '../../broker/index.js';
import { printable } from '../printable.js';
import { type BoundCase, CASE_TIMEOUT_MS, type Suite } from '../runner.js';
import { targetOf, targetText } from '../target.js';
import { Transcript } from '../transcript.js';
import { type BulkCase, BulkContext, type SharedFacts } from './context.js';
import { enduranceCases } from './endurance-cases.js';
import { messageCases } from './message-cases.js';
import { proposedCases } from './proposed-cases.js';
import { selectionCases } from './selection-cases.js';
import { transferCases } from './transfer-cases.js';

const CASES: readonly BulkCase[] = [
  ...transferCases,
  ...selectionCases,
  ...messageCases,
  ...enduranceCases,
  ...proposedCases,
];

/** Judges a Broker that others collect from, by what can be seen from outside. Its data should not change meanwhile. */
export const suite: Suite = {
  name: 'bulk',
  title: 'a Broker that others collect from: #BULK, its groups and objects, the interface of 1995',
  usage: 'HOST[:PORT]',
  cases: CASES,
  async prepare(words, { timeoutMs = CASE_TIMEOUT_MS, signal = new AbortController().signal }) {
    const target = targetOf(words, DEFAULT_BROKER_PORT);
    const shared: SharedFacts = { target, idleMs: timeoutMs, survey: undefined };
    await assertThere(shared, signal);
    const cases = CASES.map((described): BoundCase => {
      const run = async (transcript: Transcript, stop: AbortSignal) => {
        await using context = new BulkContext(shared, transcript, stop);
        await described.run(context);
      };
      return { ...described, run };
    });
    return { suite: 'bulk', target: targetText(target), cases, async [Symbol.asyncDispose]() {} };
  },
};

/** Rejects with ConnectionError when nobody is there, or when a Gatherer is (BRK-1.4). */
async function assertThere(shared: SharedFacts, signal: AbortSignal): Promise<void> {
  await using context = new BulkContext(shared, new Transcript(), signal);
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
