// The mutants of the bulk transfers of the kit's own Broker, behind a proxy.
import { bulkReference } from '../clients/conformance/bulk-reference.js';
import { type BrokerChange, brokerLink } from './broker-link.js';
import { BULK_LIST_MUTANTS } from './bulk-lists.js';
import { BULK_MUTANTS } from './bulk-mutants.js';
import { BULK_PROPOSED_MUTANTS } from './bulk-proposed.js';
import { BULK_VARIANTS } from './bulk-variants.js';
import type { MutatedSuite } from './mutant.js';
import { runProxied } from './run-proxied.js';

export const BULK: MutatedSuite<BrokerChange> = {
  suite: 'bulk',
  covers: /^(?!fixture\/)/,
  slow: /^(?:message\/bytewise|endurance\/.*)$/,
  first: ['transfer/everything'],
  mutants: [...BULK_MUTANTS, ...BULK_PROPOSED_MUTANTS, ...BULK_LIST_MUTANTS],
  variants: BULK_VARIANTS,
  async start(t) {
    const port = await bulkReference(t);
    return (change = {}, request) =>
      runProxied('bulk', port, () => brokerLink(change), request, { weakness: change.weakness ?? {} });
  },
};
