// The tests of the area that take seconds each; those of `crawl` run in every `npm test`.
import '../servers/crawler/browser.test.js';
import '../servers/crawler/checkpoint.test.js';
import '../servers/crawler/contacts.test.js';
import '../servers/crawler/frontier.test.js';
import '../servers/crawler/partitions.test.js';
import '../servers/crawler/crawl-records.test.js';
import '../servers/crawler/job.test.js';
import '../servers/crawler/order-chains.test.js';
import '../servers/crawler/retries.test.js';
import '../servers/crawler/retry-after.test.js';
import '../servers/crawler/robots.test.js';
import '../servers/crawler/arc.test.js';
import '../servers/crawler/wacz.test.js';
