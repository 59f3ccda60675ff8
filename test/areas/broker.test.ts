// One process for the Broker, over its port and its web pages: starting one for each file takes longer than its
// tests.
import '../servers/broker/admin/clock-watch.test.js';
import '../servers/broker/admin/index-repair.test.js';
import '../servers/broker/query/messages.test.js';
import '../servers/broker/query/turns.test.js';
import '../servers/broker/open.test.js';
import '../servers/broker/admin/request-log.test.js';
import '../servers/broker/admin/shared-index.test.js';
import '../servers/broker/long-words.test.js';
import '../servers/broker/message-steps.test.js';
import '../servers/broker/page-steps.test.js';
import '../servers/broker/gone-clients.test.js';
import '../servers/broker/refusals.test.js';
import '../servers/broker/server.test.js';
import '../servers/broker/web/web.test.js';
import '../servers/web/application.test.js';
import '../servers/web/gone-clients.test.js';
