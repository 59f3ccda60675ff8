// One process for the exporting daemon and its collector: starting one for each file takes longer than its tests.
import '../gatherd/access.test.js';
import '../gatherd/changes.test.js';
import '../gatherd/chunk-cache.test.js';
import '../gatherd/client.test.js';
import '../gatherd/collect.test.js';
import '../gatherd/crc.test.js';
import '../gatherd/hard.test.js';
import '../gatherd/rules.test.js';
import '../gatherd/server.test.js';
import '../gatherd/sessions.test.js';
import '../host/daemon-parts.test.js';
import '../host/host.test.js';
