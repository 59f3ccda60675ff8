// One process for gathering and fetching: starting one for each file takes longer than its tests.
import '../servers/all-in-one/all-in-one.test.js';
import '../servers/gatherer/annotate.test.js';
import '../servers/gatherer/crawl.test.js';
import '../servers/gatherer/debug.test.js';
import '../servers/gatherer/enumeration.test.js';
import '../servers/gatherer/hostile-servers.test.js';
import '../servers/gatherer/logins.test.js';
import '../servers/gatherer/objects.test.js';
import '../servers/gatherer/open.test.js';
import '../servers/gatherer/references.test.js';
import '../servers/gatherer/refresh.test.js';
import '../clients/fetch/cache.test.js';
import '../clients/fetch/file.test.js';
import '../clients/fetch/ftp.test.js';
import '../clients/fetch/gopher.test.js';
import '../clients/fetch/http.test.js';
import '../clients/fetch/news.test.js';
