// One process for the Broker over its port and its web side: starting one for each file takes longer than its tests.
import '../broker/admin.test.js';
import '../broker/collection.test.js';
import '../broker/messages.test.js';
import '../broker/server.test.js';
import '../broker/web-admin.test.js';
import '../broker/web-links.test.js';
import '../broker/web-results.test.js';
import '../broker/web.test.js';
