// The mutants of the kit's own Broker with the fixture, behind a proxy.
import { fixtureBroker } from '../clients/conformance/fixture-reference.js';
import { FIXTURE_MATCHING_MUTANTS } from './broker-fixture-matching.js';
import { FIXTURE_OBJECT_MUTANTS } from './broker-fixture-objects.js';
import { FIXTURE_QUERY_MUTANTS } from './broker-fixture-queries.js';
import { FIXTURE_VALUE_MUTANTS } from './broker-fixture-values.js';
import { BROKER_FIXTURE_VARIANTS } from './broker-fixture-variants.js';
import { type BrokerChange, brokerLink } from './broker-link.js';
import type { MutatedSuite } from './mutant.js';
import { runProxied } from './run-proxied.js';

export const BROKER_FIXTURE: MutatedSuite<BrokerChange> = {
  suite: 'broker',
  part: 'fixture',
  covers: /^fixture\//,
  slow: /^$/,
  first: ['fixture/objects'],
  mutants: [
    ...FIXTURE_QUERY_MUTANTS,
    ...FIXTURE_MATCHING_MUTANTS,
    ...FIXTURE_VALUE_MUTANTS,
    ...FIXTURE_OBJECT_MUTANTS,
  ],
  variants: BROKER_FIXTURE_VARIANTS,
  async start(t) {
    const port = await fixtureBroker(t);
    return (change = {}, request) => runProxied('broker', port, () => brokerLink(change), request);
  },
};
