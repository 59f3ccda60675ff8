// The parts of a Glimpse index without its programs: which objects the parts cover, and which text glimpse
// misses.
import fc from 'fast-check';
import t from 'tap';
import { OidSet } from '../../../storage/broker/oid-set.js';
import { hardText } from '../../../storage/indexers/glimpse/glimpse-indexer.js';
import { type Part, planParts } from '../../../storage/indexers/glimpse/parts.js';
import { assertProperty } from '../../helpers/property.js';

t.test('BRK-8.2 after any changes the newest version of each object is in the last part with it', (t) => {
  const change = fc.record({
    put: fc.array(fc.integer({ min: 1, max: 4000 }), { maxLength: 8 }),
    fill: fc.constantFrom(0, 0, 1, 700, 1500),
    removeShare: fc.constantFrom(0, 0, 0, 0.1, 0.6, 1),
  });
  assertProperty(
    fc.property(fc.array(change, { minLength: 1, maxLength: 40 }), (changes) => {
      let parts: Part[] = [];
      let next = 1;
      let live = new OidSet();
      /** The change of an object's newest version, and the change at which each part was made. */
      const version = new Map<number, number>();
      const made = new Map<Part, number>();
      for (const [time, { put, fill, removeShare }] of changes.entries()) {
        const written = OidSet.of(put);
        for (let i = 0; i < fill; i++) written.add(next++);
        const removed = [...live.toArray()].filter((oid) => (oid * 7919) % 100 < removeShare * 100);
        for (const oid of removed) written.delete(oid);
        for (const oid of written.toArray()) version.set(oid, time);
        live = live.clone().subtract(OidSet.of(removed)).unite(written);
        const { kept, fresh } = planParts(parts, written, live);
        parts = [...kept];
        if (!fresh.isEmpty) {
          const none = new OidSet();
          const part = {
            name: '',
            oids: fresh.clone(),
            count: fresh.size,
            words: none,
            lines: none,
            sizes: {},
          };
          made.set(part, time);
          parts.push(part);
        }
        for (const oid of live.toArray()) {
          const last = parts.findLast((part) => part.oids.has(oid));
          if (last === undefined || made.get(last)! < version.get(oid)!)
            throw new Error(`object ${oid} is not in the index after change ${time}`);
        }
        const entries = parts.reduce((sum, { count }) => sum + count, 0);
        if (entries > 2 * live.size) throw new Error(`${entries} entries for ${live.size} objects`);
        if (parts.length > 8) throw new Error(`${parts.length} parts`);
      }
    }),
    { numRuns: 60 },
  );
  t.end();
});

t.test('BRK-8.2 small changes of a large index do not index it again', (t) => {
  const all = OidSet.of(Array.from({ length: 100_000 }, (_, i) => i + 1));
  const none = new OidSet();
  let parts: Part[] = [{ name: '1', oids: all, count: 100_000, words: none, lines: none, sizes: {} }];
  const live = all.clone();
  let indexed = 0;
  for (let oid = 100_001; oid <= 102_000; oid++) {
    live.add(oid);
    const { kept, fresh } = planParts(parts, OidSet.of([oid]), live);
    indexed += fresh.size;
    parts = [...kept, { name: '', oids: fresh, count: fresh.size, words: none, lines: none, sizes: {} }];
  }
  t.ok(indexed < 2000 * 1001 + 4000, `${indexed} files for 2000 changes`);
  t.ok(parts[0]?.count === 100_000 && parts.length <= 3);
  t.end();
});

t.test('BRK-8.9 long words and long lines are found in any bytes', (t) => {
  const piece = fc.oneof(
    fc.record({ byte: fc.constantFrom('a', 'Z', '0', '_'), count: fc.integer({ min: 1, max: 70 }) }),
    fc.record({
      byte: fc.constantFrom(' ', '-', '\n', '\u00e9', '@'),
      count: fc.integer({ min: 1, max: 3 }),
    }),
    fc.record({ byte: fc.constantFrom(' ', '-'), count: fc.integer({ min: 7000, max: 9000 }) }),
  );
  assertProperty(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.map(({ byte, count }) => byte.repeat(count)).join('');
      const expected = {
        words: /[A-Za-z0-9_]{65}/.test(text),
        lines: text.split('\n').some((line) => line.length > 8000),
      };
      const actual = hardText(Buffer.from(text, 'latin1'));
      if (actual.words !== expected.words || actual.lines !== expected.lines)
        throw new Error(JSON.stringify({ actual, expected }));
    }),
    { numRuns: 500 },
  );
  t.end();
});
