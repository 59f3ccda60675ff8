// The frontier with every seen filter: restarts, crashes, many random histories. The suite with the default filter is in `npm test`.
import t from 'tap';
import { frontierConformance } from '../../servers/crawler/frontier/conformance/index.js';
import { SEEN_KINDS, type SeenKind } from '../../storage/seen/index.js';
import { byTier, SEED } from '../helpers/seed.js';
import { opener } from '../servers/crawler/frontier-under-test.js';

for (const kind of byTier<readonly SeenKind[]>(['level'], SEEN_KINDS))
  t.test(`CRAWL-4.11 the frontier with the seen filter ${kind}`, async (t) => {
    frontierConformance({
      test: (name, run) => (/CRAWL-17\.2\.2|CRAWL-4|history/.test(name) ? t.test(name, run) : undefined),
      open: opener(kind),
      histories: byTier(5, 10),
      seed: SEED,
    });
  });
