// The suite `sstp`.
import { DEFAULT_REFERENCES_PORT } from '../../../protocols/sstp/index.js';
import type { Suite } from '../runner.js';
import { factsOf, prepareServer } from '../server-context.js';
import { targetOf } from '../wire.js';
import { connectionCases } from './connection-cases.js';
import { type SharedFacts, type SstpCase, SstpContext } from './context.js';
import { fixtureCases } from './fixture-cases.js';
import { fixtureDataCases } from './fixture-data-cases.js';
import { messageCases } from './message-cases.js';
import { pageCases } from './page-cases.js';
import { persistenceCases } from './persistence-cases.js';
import { refusalCases } from './refusal-cases.js';
import { urlCases } from './url-cases.js';

const CASES: readonly SstpCase[] = [
  ...messageCases,
  ...refusalCases,
  ...connectionCases,
  ...persistenceCases,
  ...pageCases,
  ...urlCases,
  ...fixtureCases,
  ...fixtureDataCases,
];

/** Checks a References Server over SSTP, and by the fixture if it serves that. */
export const suite: Suite = {
  name: 'sstp',
  title: 'a References Server: messages, errors, connections, the five requests on the fixture',
  usage: 'HOST[:PORT]',
  cases: CASES,
  async prepare(args, options) {
    const shared: SharedFacts = {
      ...factsOf(targetOf(args, DEFAULT_REFERENCES_PORT), options),
      fixture: undefined,
    };
    return prepareServer('sstp', CASES, SstpContext, shared, options, (context) => context.connect());
  },
};
