// One process for the query engines: starting one for each file takes longer than its tests.
import '../storage/indexers/indexed-part.test.js';
import '../storage/indexers/glimpse-parts.test.js';
import '../storage/indexers/regexps.test.js';
import '../storage/indexers/occurrences.test.js';
import '../storage/indexers/link-texts.test.js';
import '../storage/indexers/near-words.test.js';
import '../storage/indexers/opensearch.test.js';
import '../storage/indexers/opensearch-terms.test.js';
import '../storage/indexers/text-and-terms.test.js';
import '../storage/indexers/word-list.test.js';
