// The tests of the area that take seconds each; those of `indexers` run in every `npm test`.
import '../storage/indexers/conformance.test.js';
import '../storage/indexers/differential.test.js';
import '../storage/indexers/engine.test.js';
import '../storage/indexers/index-rest.test.js';
import '../storage/indexers/most-words.test.js';
import '../storage/indexers/one-order.test.js';
import '../storage/indexers/open-indexer.test.js';
import '../storage/indexers/query-steps.test.js';
import '../storage/indexers/scheduler.test.js';
import '../storage/indexers/term-lookup.test.js';
import '../storage/indexers/outlines.test.js';
import '../storage/indexers/relevance.test.js';
import '../storage/indexers/semantics.test.js';
