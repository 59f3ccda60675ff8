// One process for gathering and fetching: starting one for each file takes longer than its tests.
import '../gatherer/all-in-one.test.js';
import '../gatherer/annotate.test.js';
import '../gatherer/crawl.test.js';
import '../gatherer/debug.test.js';
import '../gatherer/enumeration.test.js';
import '../gatherer/hostile-servers.test.js';
import '../gatherer/logins.test.js';
import '../gatherer/objects.test.js';
import '../gatherer/references.test.js';
import '../gatherer/refresh.test.js';
import '../fetch/cache.test.js';
import '../fetch/file.test.js';
import '../fetch/ftp.test.js';
import '../fetch/gopher.test.js';
import '../fetch/http.test.js';
import '../fetch/news.test.js';
