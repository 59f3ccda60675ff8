// The frontier with every seen filter: restarts, crashes, many random histories. The suite with the default filter is in `npm test`.
import t from 'tap';
import { frontierConformance } from '../../servers/crawler/frontier/conformance/index.js';
import { SEEN_KINDS } from '../../storage/seen/index.js';
import { opener } from '../servers/crawler/frontier-under-test.js';

for (const kind of SEEN_KINDS)
  t.test(`CRAWL-4.11 the frontier with the seen filter ${kind}`, async (t) => {
    frontierConformance({
      test: (name, run) => (/CRAWL-17\.2\.2|CRAWL-4|history/.test(name) ? t.test(name, run) : undefined),
      open: opener(kind),
      histories: 10,
    });
  });
