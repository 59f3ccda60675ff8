import { DEFAULT_BROKER_PORT } from '../../broker/index.js';
import { assertBroker } from '../broker/context.js';
import type { Suite } from '../runner.js';
import { factsOf, prepareServer } from '../server-context.js';
import { targetOf } from '../wire.js';
import { type BulkCase, BulkContext, type SharedFacts } from './context.js';
import { fixtureCases } from './fixture-cases.js';
import { enduranceCases, messageCases } from './message-cases.js';
import { proposedCases } from './proposed-cases.js';
import { proposedListCases } from './proposed-list-cases.js';
import { selectionCases } from './selection-cases.js';
import { transferCases } from './transfer-cases.js';

const CASES: readonly BulkCase[] = [
  ...transferCases,
  ...selectionCases,
  ...messageCases,
  ...enduranceCases,
  ...proposedCases,
  ...proposedListCases,
  ...fixtureCases,
];

/** Checks the bulk transfers of a Broker from outside. Its data should not change during the run. */
export const suite: Suite = {
  name: 'bulk',
  title: 'a Broker that serves bulk transfers: #BULK, its groups and objects, the interface of 1995',
  usage: 'HOST[:PORT]',
  cases: CASES,
  async prepare(args, options) {
    const shared: SharedFacts = {
      ...factsOf(targetOf(args, DEFAULT_BROKER_PORT), options),
      survey: undefined,
      proposed: undefined,
    };
    return prepareServer('bulk', CASES, BulkContext, shared, options, assertBroker);
  },
};
