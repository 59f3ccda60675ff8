// One process for the query engines: starting one for each file takes longer than its tests.
import '../indexers/differential.test.js';
import '../indexers/open-indexer.test.js';
import '../indexers/order.test.js';
import '../indexers/parts.test.js';
import '../indexers/running.test.js';
import '../indexers/semantics.test.js';
