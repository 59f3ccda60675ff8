import { ConnectionError } from '../../../protocols/errors.js';
import { GATHERD_PORT } from '../../../protocols/gatherd/index.js';
import { printable } from '../printable.js';
import { type BoundCase, CASE_TIMEOUT_MS, type Suite } from '../runner.js';
import { targetOf, targetText } from '../target.js';
import { Transcript } from '../transcript.js';
import { changesCases } from './changes-cases.js';
import { compressionCases } from './compression-cases.js';
import { type GatherdCase, GatherdContext, type SharedFacts } from './context.js';
import { dialogueCases } from './dialogue-cases.js';
import { enduranceCases } from './endurance-cases.js';
import { objectCases } from './object-cases.js';
import { sessionCases } from './session-cases.js';
import { updateCases } from './update-cases.js';

const CASES: readonly GatherdCase[] = [
  ...dialogueCases,
  ...updateCases,
  ...objectCases,
  ...compressionCases,
  ...changesCases,
  ...sessionCases,
  ...enduranceCases,
];

/** Judges a gatherd by what can be seen from outside. The database should not change meanwhile. */
export const suite: Suite = {
  name: 'gatherd',
  title: 'a gatherd: greeting, commands, updates, compression, INFO, endurance',
  usage: 'HOST[:PORT]',
  cases: CASES,
  async prepare(words, { timeoutMs = CASE_TIMEOUT_MS, signal = new AbortController().signal }) {
    const target = targetOf(words, GATHERD_PORT);
    const shared: SharedFacts = { target, idleMs: timeoutMs, survey: undefined };
    await assertServed(shared, signal);
    const cases = CASES.map((described): BoundCase => {
      const run = async (transcript: Transcript, stop: AbortSignal) => {
        await using context = new GatherdContext(shared, transcript, stop);
        await described.run(context);
      };
      return { ...described, run };
    });
    return { suite: 'gatherd', target: targetText(target), cases, async [Symbol.asyncDispose]() {} };
  },
};

/** Rejects with ConnectionError when nobody is there, or when we are not served (GATHERD-3.10). */
async function assertServed(shared: SharedFacts, signal: AbortSignal): Promise<void> {
  await using context = new GatherdContext(shared, new Transcript(), signal);
  const wire = await context.connect();
  // Silence, or a connection that breaks: somebody is there, and the cases will say what is wrong.
  const first = await wire.read().catch((error: unknown) => {
    if (error instanceof ConnectionError) return undefined;
    throw error;
  });
  const text = Buffer.from(first ?? []).toString('latin1');
  if (text.startsWith('999')) {
    throw new ConnectionError(`${targetText(shared.target)} does not serve us: ${printable(text)}`);
  }
}
