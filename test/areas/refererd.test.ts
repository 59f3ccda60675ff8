// One process for the References Server: starting one for each file takes longer than its tests.
import '../servers/refererd/buffers.test.js';
import '../servers/refererd/fixture.test.js';
import '../servers/refererd/parts.test.js';
import '../servers/refererd/server.test.js';
import '../servers/refererd/smtp.test.js';
