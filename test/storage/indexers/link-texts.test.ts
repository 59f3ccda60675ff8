// The counts of links, beside a model that keeps every page.
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { SoifObject } from '../../../protocols/soif/index.js';
import { openIndexFile } from '../../../storage/indexers/embedded/index/index-file.js';
import {
  LinkTextReader,
  LinkTextWriter,
  linkKeysOf,
  linkLinesOf,
  urlDigest,
} from '../../../storage/indexers/embedded/index/link-texts.js';
import { TimeSlice } from '../../../storage/indexers/scheduling/time-slice.js';
import { assertProperty } from '../../helpers/property.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

const TEXTS = ['News', 'the NEWS', 'Überblick', '', '日本'];
const FOLDED: Readonly<Record<string, string>> = {
  News: 'news',
  'the NEWS': 'the news',
  Überblick: 'überblick',
  日本: '日本',
};
const OIDS = [1, 2, 3, 4];
const ENDLESS = { sliceMs: 1000, lifetimeMs: 60_000 };

const link = fc.record({ target: fc.constantFrom(...OIDS), text: fc.constantFrom(...TEXTS) });
const change = fc.record({
  oid: fc.constantFrom(...OIDS),
  links: fc.option(fc.array(link, { maxLength: 6 }), { nil: undefined }),
});

const urlOf = (oid: number): string => `http://a/${oid}`;

function page(oid: number, links: readonly { readonly target: number; readonly text: string }[]): SoifObject {
  const lines = links.map(({ target, text }) => `${urlOf(target)} ${text}`).join('\n');
  return SoifObject.of('FILE', urlOf(oid), [['Link-Text', lines]]);
}

t.test('pages that link with a text count once, whatever was put, replaced and removed', async (t) => {
  const directory = await temporaryDirectory(t);
  let file = 0;
  await assertProperty(
    fc.asyncProperty(
      fc.array(fc.array(change, { minLength: 1, maxLength: 5 }), { maxLength: 5 }),
      async (transactions) => {
        const db = openIndexFile(join(directory, String(file++)));
        try {
          const writer = new LinkTextWriter(db);
          const model = new Map<number, ReadonlySet<string>>();
          for (const changes of transactions) {
            db.exec('BEGIN');
            for (const { oid, links } of changes) {
              writer.set(oid, links === undefined ? [] : linkKeysOf(linkLinesOf(page(oid, links))));
              model.set(oid, new Set(links?.map(({ target, text }) => `${target} ${FOLDED[text] ?? ''}`)));
            }
            writer.write();
            db.exec('COMMIT');
          }
          for (const oid of OIDS) db.exec(`INSERT INTO object VALUES(${oid}, 1, ${urlDigest(urlOf(oid))})`);
          const reader = new LinkTextReader(db);
          for (const text of Object.values(FOLDED)) {
            const pages = (name: string) => [...model.values()].filter((links) => links.has(name)).length;
            const counts = await reader.counts([text], OIDS, new TimeSlice(ENDLESS));
            t.same(
              counts,
              OIDS.map((oid) => pages(`${oid} ${text}`)),
            );
            t.same(
              await reader.known([text, 'x']),
              OIDS.some((oid) => pages(`${oid} ${text}`) > 0) ? [text] : [],
            );
          }
          const counts = await reader.counts(['news'], [9], new TimeSlice(ENDLESS));
          t.same(counts, [0], 'an object that the index does not have');
        } finally {
          db.close();
        }
      },
    ),
    { numRuns: 60 },
  );
});
