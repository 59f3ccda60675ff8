// Tests a query engine of one's own by the suite of the contract: node --test own-indexer-conformance.mjs
import { test } from 'node:test';
import { indexerConformance } from 'harvest-kit/conformance/indexer';
import { capabilities, openIndexer } from './own-indexer.mjs';

indexerConformance({
  test,
  name: 'scan',
  open: openIndexer,
  // The tests of features that the engine does not have are skipped.
  manifest: { capabilities, persistence: false, rebuildBeside: false },
});
