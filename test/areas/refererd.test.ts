// One process for the References Server: starting one for each file takes longer than its tests.
import '../refererd/buffers.test.js';
import '../refererd/fixture.test.js';
import '../refererd/parts.test.js';
import '../refererd/server.test.js';
