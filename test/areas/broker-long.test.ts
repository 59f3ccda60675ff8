// The tests of the area that take seconds each; those of `broker` run in every `npm test`.
import '../servers/broker/admin-commands.test.js';
import '../servers/broker/collect/clock-jumps.test.js';
import '../servers/broker/collect/shared-turns.test.js';
import '../servers/broker/collect/lagging-gatherers.test.js';
import '../servers/broker/collect/collection.test.js';
import '../servers/broker/web/admin.test.js';
import '../servers/broker/web/large-reply.test.js';
import '../servers/broker/web/links.test.js';
import '../servers/broker/web/forgiving.test.js';
import '../servers/broker/web/spellings.test.js';
import '../servers/broker/web/passages.test.js';
import '../servers/broker/web/results.test.js';
