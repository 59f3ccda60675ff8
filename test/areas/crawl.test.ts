// One process for the crawl engine: starting one for each file takes longer than its tests.
import '../crawl/checkpoint.test.js';
import '../crawl/console.test.js';
import '../crawl/frontier.test.js';
import '../crawl/job.test.js';
import '../crawl/journal.test.js';
import '../crawl/logs.test.js';
import '../crawl/politeness.test.js';
import '../crawl/processors.test.js';
import '../crawl/servers.test.js';
import '../crawl/settings.test.js';
import '../crawl/warc.test.js';
