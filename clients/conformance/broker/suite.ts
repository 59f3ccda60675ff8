// The suite `broker`.
import { DEFAULT_BROKER_PORT } from '../../broker/index.js';
import type { Suite } from '../runner.js';
import { factsOf, prepareServer } from '../server-context.js';
import { targetOf } from '../target.js';
import { adminCases } from './admin-cases.js';
import { parseArguments, readPassword } from './arguments.js';
import { attributeCases } from './attribute-cases.js';
import { assertBroker, type BrokerCase, BrokerContext, type SharedFacts } from './context.js';
import { enduranceCases } from './endurance-cases.js';
import { flagCases } from './flag-cases.js';
import { grammarCases } from './grammar-cases.js';
import { messageCases } from './message-cases.js';
import { queryCases } from './query-cases.js';
import { replyCases } from './reply-cases.js';

const CASES: readonly BrokerCase[] = [
  ...messageCases,
  ...queryCases,
  ...attributeCases,
  ...grammarCases,
  ...flagCases,
  ...replyCases,
  ...adminCases,
  ...enduranceCases,
];

/** Checks a Broker from outside, on its own data, which should not change during the run. */
export const suite: Suite = {
  name: 'broker',
  title: 'a Broker: messages, queries, flags, replies, administration, endurance',
  usage: 'HOST[:PORT] [--password-file FILE]',
  cases: CASES,
  async prepare(args, options) {
    const { address, passwordFile } = parseArguments(args);
    const facts = factsOf(targetOf(address, DEFAULT_BROKER_PORT), options);
    const password = passwordFile === undefined ? undefined : await readPassword(passwordFile);
    const shared: SharedFacts = { ...facts, password, survey: undefined };
    return prepareServer('broker', CASES, BrokerContext, shared, options, assertBroker);
  },
};
