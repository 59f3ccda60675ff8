import { DEFAULT_REFERENCES_PORT } from '../../../protocols/sstp/index.js';
import { type BoundCase, CASE_TIMEOUT_MS, type Suite } from '../runner.js';
import { targetOf, targetText } from '../target.js';
import { Transcript } from '../transcript.js';
import { connectionCases } from './connection-cases.js';
import { type SharedFacts, type SstpCase, SstpContext } from './context.js';
import { fixtureCases } from './fixture-cases.js';
import { messageCases } from './message-cases.js';

const CASES: readonly SstpCase[] = [...messageCases, ...connectionCases, ...fixtureCases];

/** Judges a References Server by what can be seen over SSTP, and by the fixture where it serves that. */
export const suite: Suite = {
  name: 'sstp',
  title: 'a References Server: messages, errors, connections, the five requests on the fixture',
  usage: 'HOST[:PORT]',
  cases: CASES,
  async prepare(words, { timeoutMs = CASE_TIMEOUT_MS, signal = new AbortController().signal }) {
    const target = targetOf(words, DEFAULT_REFERENCES_PORT);
    const shared: SharedFacts = { target, idleMs: timeoutMs, fixture: undefined };
    // Rejects with ConnectionError when nobody is there.
    await using probe = new SstpContext(shared, new Transcript(), signal);
    await probe.connect();
    const cases = CASES.map((described): BoundCase => {
      const run = async (transcript: Transcript, stop: AbortSignal) => {
        await using context = new SstpContext(shared, transcript, stop);
        await described.run(context);
      };
      return { ...described, run };
    });
    return { suite: 'sstp', target: targetText(target), cases, async [Symbol.asyncDispose]() {} };
  },
};
