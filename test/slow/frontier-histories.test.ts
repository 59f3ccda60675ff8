// The frontier with every seen filter, and with queues that go on during a write: restarts, crashes, many
// random histories. The suite with the default filter is in `npm test`.
import t from 'tap';
import { frontierConformance } from '../../servers/crawler/frontier/conformance/index.js';
import { SEEN_KINDS, type SeenKind } from '../../storage/seen/index.js';
import { byTier, SEED } from '../helpers/seed.js';
import { opener } from '../servers/crawler/frontier-under-test.js';

t.test('the frontier whose queues go on during a write passes the conformance suite', async (t) => {
  frontierConformance({
    // One test expects a queue of new URIs before that of the page with them, which such a queue does not wait
    // for.
    test: (name, run) => (/ opened again continues/.test(name) ? undefined : t.test(name, run)),
    open: opener('level', true),
    histories: 1,
  });
});

for (const kind of byTier<readonly SeenKind[]>(['level'], SEEN_KINDS))
  t.test(`CRAWL-4.11 the frontier with the seen filter ${kind}`, async (t) => {
    frontierConformance({
      test: (name, run) => (/CRAWL-17\.2\.2|CRAWL-4|history/.test(name) ? t.test(name, run) : undefined),
      open: opener(kind),
      histories: byTier(5, 10),
      seed: SEED,
    });
  });
