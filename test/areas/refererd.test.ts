// One process for the References Server: starting one for each file takes longer than its tests.
import '../servers/refererd/access-first.test.js';
import '../servers/refererd/allowed-hosts.test.js';
import '../servers/refererd/fixture.test.js';
import '../servers/refererd/log.test.js';
import '../servers/refererd/reply-buffers.test.js';
import '../servers/refererd/server.test.js';
import '../servers/refererd/smtp.test.js';
import '../servers/refererd/user-base.test.js';
