// Many random histories of the frontier, with every seen filter; the suite itself is in `npm test`.
import t from 'tap';
import { frontierConformance } from '../../servers/crawler/frontier/conformance/index.js';
import { SEEN_KINDS } from '../../storage/seen/index.js';
import { opener } from '../servers/crawler/frontier-under-test.js';

for (const kind of SEEN_KINDS)
  t.test(`random histories with the seen filter ${kind}`, async (t) => {
    frontierConformance({
      test: (name, run) => (/history/.test(name) ? t.test(name, run) : undefined),
      open: opener(kind),
      histories: 10,
    });
  });
