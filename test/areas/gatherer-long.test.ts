// The tests of the area that take seconds each; those of `gatherer` run in every `npm test`.
import '../servers/all-in-one/logs.test.js';
import '../servers/gatherer/annotate.test.js';
import '../servers/gatherer/requests.test.js';
import '../servers/gatherer/archive.test.js';
import '../servers/gatherer/order-logins.test.js';
import '../servers/gatherer/embeds.test.js';
import '../servers/gatherer/crawl-choices.test.js';
import '../servers/gatherer/debug.test.js';
import '../servers/gatherer/hostile-servers.test.js';
import '../servers/gatherer/link-limits.test.js';
import '../servers/gatherer/logins.test.js';
import '../servers/gatherer/own-fetchers.test.js';
import '../servers/gatherer/references.test.js';
import '../servers/gatherer/refresh.test.js';
import '../servers/gatherer/robots-agent.test.js';
import '../clients/fetch/cache.test.js';
import '../clients/fetch/lenient.test.js';
