// One process for the layout, and the chain from documents to answers: starting one for each file takes longer than its tests.
import '../architecture/areas.test.js';
import '../architecture/errors.test.js';
import '../architecture/circles.test.js';
import '../architecture/import-direction.test.js';
import '../servers/all-in-one/chain.test.js';
import '../servers/all-in-one/half-open.test.js';
