// One process for the Broker, over its port and its web pages: starting one for each file takes longer than its tests.
import '../servers/broker/index-repair.test.js';
import '../servers/broker/messages.test.js';
import '../servers/broker/open.test.js';
import '../servers/broker/request-log.test.js';
import '../servers/broker/server.test.js';
import '../servers/broker/web.test.js';
import '../servers/web/application.test.js';
