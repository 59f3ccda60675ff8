// One process for gatherd and its clients: starting one for each file takes longer than its tests.
import '../servers/gatherd/access.test.js';
import '../servers/gatherd/changes.test.js';
import '../servers/gatherd/chunk-cache.test.js';
import '../clients/connection/connection.test.js';
import '../clients/gatherd/client.test.js';
import '../clients/gatherd/collect.test.js';
import '../protocols/gatherd/crc.test.js';
import '../servers/gatherd/hard.test.js';
import '../protocols/gatherd/rules.test.js';
import '../servers/gatherd/server.test.js';
import '../protocols/gatherd/sessions.test.js';
import '../servers/host/append-file.test.js';
import '../servers/host/daemon-parts.test.js';
import '../servers/host/host.test.js';
import '../servers/host/stop-signal.test.js';
