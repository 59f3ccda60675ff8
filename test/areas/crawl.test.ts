// One process for the crawl engine: starting one for each file takes longer than its tests.
import '../servers/crawler/checkpoint.test.js';
import '../servers/crawler/console.test.js';
import '../servers/crawler/frontier.test.js';
import '../servers/crawler/job.test.js';
import '../servers/crawler/journal.test.js';
import '../servers/crawler/logs.test.js';
import '../servers/crawler/politeness.test.js';
import '../servers/crawler/processors.test.js';
import '../servers/crawler/servers.test.js';
import '../servers/crawler/settings.test.js';
import '../servers/crawler/warc.test.js';
import '../servers/crawler/without-gatherer.test.js';
