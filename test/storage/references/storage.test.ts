// The link graph on the disk: generations, lists of links, and the structures they are built from.
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import type { DocumentInput, LinkKind } from '../../../storage/references/contract.js';
import { DistinctIds } from '../../../storage/references/distinct-ids.js';
import { joinUrl, splitUrl } from '../../../storage/references/document-url.js';
import { CurrentReferences, ReferencesBuilder, ReferencesReader } from '../../../storage/references/index.js';
import { KeyIndex } from '../../../storage/references/key-index.js';
import { RecordSorter } from '../../../storage/references/record-sorter.js';
import { assertProperty } from '../../helpers/property.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { FIXTURE_DOCUMENTS, publishFixture } from './fixture.js';

/** Returns all IDs of a list of links. */
function idsIn(reader: ReferencesReader, kind: LinkKind, id: number): number[] {
  const list = reader.links(kind, id);
  return list === undefined ? [] : [...list.page(0, list.total)];
}

/** The IDs of small graphs: 0 to 12, and the limits of the range. */
const ids = fc.oneof(fc.nat(12), fc.constantFrom(0, 0xffff_ffff, 0x8000_0000));

t.test('section 13: the fixture is read from memory and from the disk', async (t) => {
  const data = await temporaryDirectory(t);
  t.equal(await publishFixture(data), 1);
  for (const residentBytes of [1 << 20, 0]) {
    await using reader = await ReferencesReader.openCurrent(data, { residentBytes });
    t.same(reader.counts, { documents: 5, servers: 3, links: 8, repeated: 0 });
    t.same(idsIn(reader, 'refs', 10), [11, 20, 12], 'F-01');
    t.same(idsIn(reader, 'hubs', 10), [11, 20, 12], 'F-02');
    t.same(idsIn(reader, 'hubs', 20), [10, 11], 'F-03');
    t.equal(reader.idByUrl('http://a.example/'), 10, 'F-04');
    t.same([...(reader.links('refs', 10)?.page(1, 1) ?? [])], [20], 'F-07');
    t.same([...(reader.links('refs', 10)?.page(5, 9) ?? [1])], [], 'F-08');
    t.same([...(reader.links('refs', 10)?.page(0, 0) ?? [1])], [], 'F-09');
    t.equal(reader.links('refs', 21), undefined, 'F-10');
    t.equal(reader.knows(21), true, 'F-10');
    t.equal(reader.knows(99), false, 'F-11');
    t.equal(reader.documentByUrl('http://nowhere.example/'), undefined, 'F-12');
    t.same(idsIn(reader, 'siterefs', 1), [20, 12], 'F-14');
    t.same(idsIn(reader, 'sitehubs', 1), [20, 12], 'F-15');
    t.same(idsIn(reader, 'siterefs', reader.serverByName('a.example:81')?.id ?? 0), [10, 11], 'F-16');
    t.same(idsIn(reader, 'sitehubs', 3), [10, 11], 'F-17');
    t.equal(reader.serverByName('c.example:80'), undefined, 'F-19');
    const described = {
      id: 12,
      url: 'http://a.example:81/',
      serverId: 2,
      protocol: 'http',
      uri: '/',
      time: 1000000120,
      checkTime: 1000001200,
      length: 1200,
    };
    t.same(reader.documentByUrl('http://a.example:81/'), described, 'F-20');
    t.same(reader.server(2), { id: 2, protocol: 'http', name: 'a.example', port: 81 });
    t.equal(reader.rank(10), undefined);
    t.same([...reader.refdb.duplicates(11)], [10, 20], 'R-18');
    t.same([...reader.hubsdb.duplicates(12)], [10], 'R-18');
    t.same([...reader.urldb.idsOfServer(3)], [20, 21], 'R-17');
    t.equal(reader.urldb.byId(21)?.url, 'http://b.example/lonely', 'R-18');
    t.equal(reader.urldb.byUrl('http://b.example/lonely')?.id, 21, 'R-18');
    t.equal(reader.srvdb.byId(3)?.name, 'b.example', 'R-18');
    t.equal(reader.srvdb.byName('b.example:80')?.id, 3, 'R-18');
  }
});

t.test('a file that is written while it is open is not read as a sound one', async (t) => {
  const data = await temporaryDirectory(t);
  await publishFixture(data);
  await using reader = await ReferencesReader.openCurrent(data, { residentBytes: 0 });
  const path = join(data, 'references', '1', 'refs.ids');
  const bytes = readFileSync(path);
  bytes[0]! ^= 1;
  writeFileSync(path, bytes);
  t.throws(() => idsIn(reader, 'refs', 10), {
    name: 'StorageError',
    message: /1 is damaged: refs\.ids does not match its checksum; `harvest store check/,
  });
});

t.test('R-11, R-12, R-29, R-32: the lists of any graph equal those of a naive computation', async (t) => {
  const data = await temporaryDirectory(t);
  const graphs = fc.record({
    documents: fc.uniqueArray(fc.record({ id: ids, host: fc.nat(3) }), { selector: ({ id }) => id }),
    pairs: fc.array(fc.tuple(ids, ids), { maxLength: 60 }),
  });
  await assertProperty(
    fc.asyncProperty(graphs, async ({ documents, pairs }) => {
      const inputs = documents.map(({ id, host }) => ({
        id,
        url: `http://h${host}/${id}`,
        serverId: host + 1,
      }));
      await publishFixture(data, inputs, pairs);
      await using reader = await ReferencesReader.openCurrent(data, { residentBytes: pairs.length * 3 });
      const distinct = [...new Map(pairs.map((pair) => [pair.join(), pair])).values()];
      const linksOf = (id: number): number[] => distinct.filter(([a]) => a === id).map(([, b]) => b);
      const linksTo = (id: number): number[] => distinct.filter(([, b]) => b === id).map(([a]) => a);
      const server = new Map(inputs.map(({ id, serverId }) => [id, serverId]));
      const outside = (site: number, links: (id: number) => number[]): number[] => {
        const own = [...server.keys()].filter((id) => server.get(id) === site).sort((a, b) => a - b);
        return [...new Set(own.flatMap(links).filter((id) => server.get(id) !== site))];
      };
      const all = [...pairs.flat(), ...server.keys(), 13];
      for (const id of new Set(all)) {
        t.strictSame(idsIn(reader, 'refs', id), linksOf(id));
        t.strictSame(idsIn(reader, 'hubs', id), linksTo(id));
        const known = server.has(id) || linksOf(id).length + linksTo(id).length > 0;
        t.equal(reader.knows(id), known, 'R-27');
        t.equal(reader.document(id)?.serverId, server.get(id));
      }
      for (let site = 0; site < 6; site++) {
        t.strictSame(idsIn(reader, 'siterefs', site), outside(site, linksOf));
        t.strictSame(idsIn(reader, 'sitehubs', site), outside(site, linksTo));
      }
      for (const { id, url } of inputs) t.equal(reader.idByUrl(url), id);
      t.same(reader.counts.repeated, pairs.length - distinct.length);
    }),
    { numRuns: 20 },
  );
});

t.test('R-11: the sorter is stable, in memory and with merged runs', async (t) => {
  const directory = await temporaryDirectory(t);
  const records = fc.array(fc.oneof(fc.nat(5), fc.integer({ min: 0, max: 0xffff_ffff })), { maxLength: 300 });
  assertProperty(
    fc.property(records, fc.constantFrom(1, 3), fc.constantFrom(64, 400, 100_000), (keys, width, memory) => {
      using sorter = new RecordSorter(width, memory, join(directory, 'run'));
      for (const [position, key] of keys.entries()) {
        const offset = sorter.add(key);
        for (let i = 0; i < width; i++) sorter.words[offset + i] = position + i;
      }
      const expected = keys.map((key, position) => [key, position]).sort((a, b) => (a[0] ?? 0) - (b[0] ?? 0));
      using cursor = sorter.sorted();
      for (const [key, position] of expected) {
        t.equal(cursor.next(), true);
        t.equal(cursor.key, key);
        t.equal(cursor.words[cursor.offset + width - 1], (position ?? 0) + width - 1);
      }
      t.equal(cursor.next(), false);
    }),
    { numRuns: 60 },
  );
  t.same(readdirSync(directory), [], 'the files of the runs are removed');
});

t.test('R-9: keys are found in dense and sparse ranges', async (t) => {
  const keys = fc.uniqueArray(fc.oneof(fc.nat(40), fc.integer({ min: 0, max: 0xffff_ffff })));
  assertProperty(
    fc.property(keys, fc.integer({ min: 0, max: 0xffff_ffff }), (some, other) => {
      const sorted = Uint32Array.from(some).sort();
      const index = new KeyIndex(sorted);
      for (const [position, key] of sorted.entries()) t.equal(index.find(key), position);
      t.equal(index.find(other), sorted.indexOf(other));
    }),
  );
});

t.test('R-12: the first occurrence of an ID is detected in successive lists', async (t) => {
  const lists = fc.array(fc.array(fc.nat(60), { maxLength: 120 }), { maxLength: 5 });
  const distinct = new DistinctIds();
  assertProperty(
    fc.property(lists, (all) => {
      for (const list of all) {
        distinct.clear();
        t.strictSame(
          list.filter((id) => distinct.add(id)),
          [...new Set(list)],
        );
      }
    }),
  );
  distinct.clear();
  for (let id = 0; id < 5000; id++) t.equal(distinct.add(id), true);
  for (let id = 0; id < 5000; id++) t.equal(distinct.add(id), false);
});

t.test('R-41, R-42: splitting and joining a URL restores it', async (t) => {
  const urls = [
    'http://a.example/',
    'http://a.example:81/x?y=/z',
    'https://[::1]:8443/',
    'http://[::1]/',
    'gopher://g.example:70/0/x',
    'gopher://g.example/0/x',
    'file:///tmp/x',
    'https://a.example:80/',
  ];
  for (const url of urls) t.equal(joinUrl(splitUrl(url)), url);
  t.match(splitUrl('https://a.example/?q'), { scheme: 'https', host: 'a.example', port: 443, path: '/?q' });
  t.match(splitUrl('gopher://g.example/'), { port: 70 });
  t.match(splitUrl('news://n.example/'), { port: 0 });
  for (const url of [
    'http://a.example',
    'http://u@a.example/',
    'http://a.example/#f',
    'http://a/ b',
    'a/b',
    'http://a:70000/',
  ])
    t.throws(() => splitUrl(url), { code: 'ERR_PROTOCOL', rule: 'R-41' }, url);
});

t.test('R-38: two schemes at one host and port are one server and two documents', async (t) => {
  const data = await temporaryDirectory(t);
  const documents: DocumentInput[] = [
    { id: 2, url: 'https://a.example:80/' },
    { id: 1, url: 'http://a.example/', time: 2 ** 33, length: 2 ** 40 },
    { id: 3, url: 'https://a.example/' },
  ];
  await publishFixture(data, documents, []);
  await using reader = await ReferencesReader.openCurrent(data);
  t.equal(reader.counts.servers, 2);
  for (const { id, url } of documents) t.equal(reader.documentByUrl(url)?.id, id);
  t.match(reader.document(2), { serverId: 1, protocol: 'https' });
  t.match(reader.document(1), { serverId: 1, protocol: 'http', time: 2 ** 33, length: 2 ** 40 });
  t.match(reader.server(1), { protocol: 'https', port: 80 }, 'the protocol is that of the first document');
  t.same([...reader.urldb.idsOfServer(1)], [1, 2], 'R-17: the IDs are ascending');
});

t.test('contradictory input is rejected, and nothing is published', async (t) => {
  const data = await temporaryDirectory(t);
  await publishFixture(data);
  const assertRejected = async (documents: DocumentInput[], message: RegExp): Promise<void> => {
    await t.rejects(publishFixture(data, documents, []), { message }, String(message));
  };
  const url = 'http://a.example/';
  await assertRejected(
    [
      { id: 7, url },
      { id: 7, url: `${url}x` },
    ],
    /document ID 7 is used twice: by documents 1 and 2/,
  );
  await assertRejected(
    [
      { id: 8, url },
      { id: 7, url },
    ],
    /documents 7 and 8 have the same URL|documents 8 and 7/,
  );
  await assertRejected([{ id: 2 ** 32, url }], /the document ID must be 0 to 4294967295/);
  await assertRejected([{ id: 1, url, length: -1 }], /-1 is not a valid time or length/);
  await assertRejected(
    [
      { id: 1, url, serverId: 1 },
      { id: 2, url: `${url}x`, serverId: 2 },
    ],
    /has two IDs: 1 and 2/,
  );
  await assertRejected(
    [
      { id: 1, url, serverId: 1 },
      { id: 2, url: 'http://b.example/', serverId: 1 },
    ],
    /server ID 1 is given to/,
  );
  await t.rejects(publishFixture(data, [], [[1, -1]]), /the ID of a link must be/);
  t.same(readdirSync(join(data, 'references')).sort(), ['1', 'CURRENT'], 'no temporary files remain');
});

t.test('DESIGN 4: a follower switches to each new generation, and the last two are kept', async (t) => {
  const data = await temporaryDirectory(t);
  const opened: number[] = [];
  await t.rejects(ReferencesReader.openCurrent(data), {
    code: 'ERR_STORAGE',
    message: /no references were published/,
  });
  await using current = await CurrentReferences.open(data, {
    pollIntervalMs: 20,
    onOpen: ({ generation }) => opened.push(generation),
  });
  // The follower's own timer does not keep the process running; this one does.
  const generation = async (number: number): Promise<void> => {
    while (opened.at(-1) !== number) await setTimeout(5);
  };
  t.equal(current.current, undefined);
  await publishFixture(data);
  await generation(1);
  const first = current.acquire();
  await publishFixture(data, FIXTURE_DOCUMENTS, [[10, 21]]);
  await generation(2);
  await publishFixture(data, FIXTURE_DOCUMENTS, []);
  await generation(3);
  t.same(readdirSync(join(data, 'references')).sort(), ['2', '3', 'CURRENT']);
  t.equal(current.current?.links('refs', 10), undefined);
  t.same(first === undefined ? [] : idsIn(first, 'refs', 10), [11, 20, 12], 'an acquired reader stays open');
  if (first !== undefined) await current.release(first);
});

t.test('DESIGN 4: files of a killed publisher are removed, a damaged generation is rejected', async (t) => {
  const data = await temporaryDirectory(t);
  await publishFixture(data);
  const abandoned = await ReferencesBuilder.create(data);
  abandoned.addLink(1, 2);
  t.ok(readdirSync(join(data, 'references')).includes('2.tmp'));
  t.equal(await publishFixture(data), 2);
  t.same(readdirSync(join(data, 'references')).sort(), ['1', '2', 'CURRENT']);
  await abandoned[Symbol.asyncDispose]();

  const damaged = join(data, 'references', '2', 'refs.ids');
  const intact = readFileSync(damaged);
  truncateSync(damaged, 8);
  await t.rejects(
    ReferencesReader.openCurrent(data),
    /refs\.ids has 8 bytes instead of 32; `harvest store check /,
  );
  writeFileSync(damaged, intact);
  // An earlier version wrote no sums.
  rmSync(join(data, 'references', '2', 'SUMS'));
  truncateSync(damaged, 8);
  await t.rejects(ReferencesReader.openCurrent(data), /refs\.ids is damaged: 8 bytes instead of 32/);
  writeFileSync(damaged, intact);
  const manifest = join(data, 'references', '2', 'MANIFEST');
  const text = readFileSync(manifest, 'utf8');
  writeFileSync(manifest, text.replace('"version": 1', '"version": 2'));
  await t.rejects(ReferencesReader.openCurrent(data), /MANIFEST is damaged or of another version: version/);
  writeFileSync(manifest, 'x');
  await t.rejects(ReferencesReader.openCurrent(data), /MANIFEST is damaged: it is not JSON/);
});
