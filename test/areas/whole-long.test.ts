// The tests of the area that take seconds each; those of `whole` run in every `npm test`.
import '../architecture/public-types.test.js';
import '../servers/all-in-one/connection-limits.test.js';
import '../servers/all-in-one/failed-start.test.js';
import '../servers/all-in-one/while-gathering.test.js';
