// Small documents that make a careless reader take gigabytes or minutes: each ends in bounded memory, as a
// summary (E-45). A seed decides their sizes and, outside of `verify`, which of them are read.
import t from 'tap';
import { defuse } from '../helpers/bombs/defuse.js';
import { byTier, SEED } from '../helpers/seed.js';

/** Kinds of bombs with the number of those that are read outside of `verify`. */
const KINDS = { archives: 8, office: 8, packed: 8, pdf: 6, references: 14, text: 12 } as const;

for (const [kind, count] of Object.entries(KINDS))
  t.test(`E-45: every bomb of the kind ${kind} ends as a summary (seed ${SEED})`, (t) =>
    defuse(t, kind, byTier(count, Number.POSITIVE_INFINITY)),
  );
