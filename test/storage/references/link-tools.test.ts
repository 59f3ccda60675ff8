// harvest links load, links dump and pagerank: parsing of links, the files, and ranks.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import {
  loadReferences,
  pageRank,
  publishRanks,
  type RankGraph,
  ReferencesReader,
} from '../../../storage/references/index.js';
import { type ByteOrder, PairParser } from '../../../storage/references/pair-parser.js';
import { cli } from '../../helpers/cli.js';
import { assertProperty } from '../../helpers/property.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { FIXTURE_PAIRS, publishFixture } from './fixture.js';

/** The header of a dump; its data begins in line 7. */
const HEADER = 'VERSION=3\nformat=bytevalue\ntype=btree\nduplicates=1\ndb_pagesize=4096\nHEADER=END\n';

/** Parses a text that arrives in chunks of these lengths; the last chunk is the rest. */
function parsePairs(text: string, byteOrder: ByteOrder = 'little', chunkLengths = [text.length]): number[] {
  const found: number[] = [];
  const parser = new PairParser('F', (pairs) => found.push(...pairs), { byteOrder });
  const bytes = Buffer.from(text, 'latin1');
  let offset = 0;
  for (const length of chunkLengths) {
    parser.push(bytes.subarray(offset, offset + length));
    offset += length;
  }
  parser.push(bytes.subarray(offset));
  parser.end();
  return found;
}

t.test('R-19: the record (10, 20) is parsed as db_dump writes it', async (t) => {
  t.same(parsePairs(`${HEADER} 0a000000\n 14000000\nDATA=END\n`), [10, 20]);
  t.same(parsePairs(`${HEADER} 0000000A\n 00000014\nDATA=END\n`, 'big'), [10, 20], 'R-13: big-endian');
  t.same(
    parsePairs(`${HEADER} ffffffff\n 00000080\nDATA=END`),
    [0xffff_ffff, 0x8000_0000],
    'no LF at the end',
  );
  const print = HEADER.replace('bytevalue', 'print');
  t.same(parsePairs(`${print} \\0a\\00\\00\\00\n A\\\\\\0d \nDATA=END\n`), [10, 0x200d_5c41], 'db_dump -p');
  t.same(
    parsePairs(HEADER.replaceAll('\n', '\r\n').concat(' 0a000000\r\n 14000000\r\nDATA=END\r\n')),
    [10, 20],
  );
  t.same(
    parsePairs('# found\n10 20\n\n 11\t \t21 \r\n4294967295 0'),
    [10, 20, 11, 21, 4294967295, 0],
    'pairs',
  );
  t.same(parsePairs(''), []);
});

t.test('R-19: the result does not depend on chunk boundaries', async (t) => {
  const text = `${HEADER} 0a000000\n 14000000\n 0b000000\n 15000000\nDATA=END\n`;
  const lengths = fc.array(fc.nat(20), { maxLength: 30 });
  assertProperty(
    fc.property(lengths, (chunkLengths) => {
      t.strictSame(parsePairs(text, 'little', chunkLengths), [10, 20, 11, 21]);
      t.strictSame(parsePairs('1 2\n 3\t4\n# 5\n6 7', 'little', chunkLengths), [1, 2, 3, 4, 6, 7]);
    }),
  );
  const many = Array.from({ length: 40_000 }, (_, i) => i);
  t.strictSame(
    parsePairs(`${many.join(' ').replace(/(\d+ \d+) /g, '$1\n')}\n`),
    many,
    'more pairs than a batch',
  );
});

t.test('R-9: a line longer than 64 KiB is rejected, however it is cut', async (t) => {
  for (const [length, message] of [
    [65_536, undefined],
    [65_537, /a line is longer than 65536 bytes/],
  ] as const) {
    const text = `1 2\n#${'x'.repeat(length - 1)}\n3 4\n`;
    for (const lengths of [[text.length], [30_000, 30_000], [65_541]]) {
      const name = `${length} bytes in chunks of ${lengths.join(', ')}`;
      if (message === undefined) t.strictSame(parsePairs(text, 'little', lengths), [1, 2, 3, 4], name);
      else t.throws(() => parsePairs(text, 'little', lengths), message, name);
    }
  }
});

t.test('R-19, R-9: malformed links are rejected with file and line', async (t) => {
  const malformed: readonly [text: string, message: string][] = [
    [`${HEADER} 0a00000\n`, 'F:7: expected a blank and the 8 hexadecimal digits of an ID (R-19)'],
    [`${HEADER} 0a000000\n 1400000g\n`, 'F:8: expected a blank and the 8 hexadecimal digits of an ID (R-19)'],
    [`${HEADER} 0a000000\nDATA=END\n`, 'F:8: the last key has no data (R-19)'],
    [`${HEADER} 0a000000\n 0a000000\n`, 'F:8: the dump ends without DATA=END (R-19)'],
    [`${HEADER}DATA=END\nx\n`, 'F:8: data follows DATA=END (R-19)'],
    [`${HEADER}DATA\n`, 'F:7: expected a line that begins with a blank, or DATA=END (R-19)'],
    ['VERSION=3\nformat=none\n', 'F:2: the format must be bytevalue or print (R-19)'],
    ['VERSION=3\ntype=hash\n', 'F:2: the database must be of type btree (R-8)'],
    ['VERSION=3\nx\n', 'F:2: expected a header line NAME=VALUE (R-19)'],
    ['VERSION=3\nformat=print\nHEADER=END\n abc\n', 'F:4: expected an ID of 4 bytes, not 3 (R-9)'],
    ['1 2\n3\n', 'F:2: expected two IDs separated by a blank or tab (R-9)'],
    ['1 2\n\n3 4 5\n', 'F:3: a line has more than two IDs (R-9)'],
    ['1 4294967296\n', 'F:1: an ID is at most 4294967295 (R-9)'],
    ['a b\n', 'F:1: expected two IDs separated by a blank or tab (R-9)'],
    [`1 2\n${' '.repeat(70_000)}`, 'F:2: a line is longer than 65536 bytes (R-19)'],
  ];
  for (const [text, message] of malformed)
    t.throws(() => parsePairs(text), { code: 'ERR_STORAGE', message }, message);
});

const DOCUMENTS = `{"id":10,"url":"http://A.example:80","time":1000000100,"checktime":1000001000,"length":1000}
{"id":11,"url":"http://a.example/x"}

{"id":20,"url":"http://b.example/","server":9}
`;

t.test('R-10, R-13, R-19: links are loaded and dumped', async (t) => {
  const directory = await temporaryDirectory(t);
  const data = join(directory, 'data');
  const file = (name: string, content: string | Uint8Array): string => {
    writeFileSync(join(directory, name), content);
    return join(directory, name);
  };
  const documents = file('d.jsonl.gz', gzipSync(DOCUMENTS));
  const refs = file('refs', '10 20\n11 20\n10 11\n10 20\n77 10\n');
  const loaded = await cli(
    'links',
    'load',
    '--json',
    '--documents',
    documents,
    '--refs',
    refs,
    '--data',
    data,
  );
  t.equal(loaded.stderr, '');
  t.same(
    JSON.parse(loaded.stdout),
    { documents: 3, servers: 2, links: 4, repeated: 1, generation: 1 },
    'R-12',
  );
  const dump = async (...args: readonly string[]): Promise<string> =>
    (await cli('links', 'dump', '--data', data, ...args)).stdout;
  t.equal(
    await dump(),
    'VERSION=3\nformat=bytevalue\ntype=btree\nduplicates=1\nHEADER=END\n 0a000000\n 14000000\n 0a000000\n 0b000000\n 0b000000\n 14000000\n 4d000000\n 0a000000\nDATA=END\n',
  );
  const hubs = await dump('--hubs', '--format', 'pairs');
  t.equal(hubs, '10 77\n11 10\n20 10\n20 11\n');
  t.equal(
    await dump('--documents'),
    '{"id":10,"url":"http://a.example/","time":1000000100,"checktime":1000001000,"length":1000,"server":1}\n{"id":11,"url":"http://a.example/x","time":0,"checktime":0,"length":0,"server":1}\n{"id":20,"url":"http://b.example/","time":0,"checktime":0,"length":0,"server":9}\n',
  );
  t.equal(
    await dump('--servers'),
    '{"id":1,"protocol":"http","name":"a.example","port":80}\n{"id":9,"protocol":"http","name":"b.example","port":80}\n',
  );

  await t.test('R-10: the order of a reverse database is kept, and its content is checked', async (t) => {
    const other = join(directory, 'other');
    const reversed = file('hubs', '20 11\n20 10\n11 10\n10 77\n');
    await loadReferences({ data: other, refs, hubs: reversed });
    await using reader = await ReferencesReader.openCurrent(other);
    t.same([...reader.hubsdb.duplicates(20)], [11, 10]);
    const incomplete = file('less', '20 11\n20 10\n10 77\n');
    await t.rejects(
      loadReferences({ data: other, refs, hubs: incomplete }),
      /link from 10 to 11 is in refs and not in hubs/,
    );
    const excessive = file('more', '20 11\n20 10\n11 10\n10 77\n5 6\n');
    await t.rejects(
      loadReferences({ data: other, refs, hubs: excessive }),
      /hubs holds 1 pairs that are not in refs/,
    );
    t.equal(
      (await ReferencesReader.openCurrent(other)).generation,
      1,
      'the previous generation stays current',
    );
  });

  await t.test('R-41: documents whose URLs are not UTF-8 stay apart', async () => {
    const other = join(directory, 'bytes');
    const lines = ['\xe8', '\xe9', '\xc3\xa9'].map(
      (byte, i) => `{"id":${i + 1},"url":"http://a.example/${byte}"}\n`,
    );
    const path = file('bytes.jsonl', Buffer.from(lines.join(''), 'latin1'));
    await loadReferences({ data: other, refs, documents: path });
    await using reader = await ReferencesReader.openCurrent(other);
    t.same(
      [1, 2, 3].map((id) => reader.document(id)?.url),
      ['http://a.example/%E8', 'http://a.example/%E9', 'http://a.example/%C3%A9'],
    );
  });

  await t.test('R-16: malformed documents are rejected with file and line', async (t) => {
    const assertRejected = async (line: string, message: RegExp): Promise<void> => {
      const path = file('bad', `${DOCUMENTS}${line}\n`);
      await t.rejects(loadReferences({ data, refs, documents: path }), { message }, line);
    };
    await assertRejected('{', /bad:5: not JSON \(R-16\)/);
    await assertRejected('[]', /bad:5: id: expected a number/);
    await assertRejected('{"id":1}', /bad:5: url: expected a string/);
    await assertRejected('{"id":1,"url":"x"}', /bad:5: .*R-23/);
    await assertRejected('{"id":1,"url":"http://u:p@a.example/"}', /bad:5: .*R-41/);
    await assertRejected('{"id":1,"url":"http://a.example/","time":-1}', /bad:5: time: expected an integer/);
    await assertRejected('{"id":-1,"url":"http://a.example/"}', /bad:5: the document ID must be/);
  });
  t.match(await cli('links', 'load', '--refs', join(directory, 'none'), '--data', data), {
    code: 1,
    stderr: /links load: .*none cannot be read/,
  });
  t.match(await cli('links', 'load', '--refs', '-', '--hubs', '-', '--data', data), { code: 2 });
  t.match(await cli('links', 'dump', '--refs', '--hubs', '--data', data), { code: 2 });
  t.match(await cli('links', 'dump', '--data', directory), {
    code: 1,
    stderr: /no references were published/,
  });
});

/** Returns a graph in memory; `links` lists the targets of each node. */
function graphOf(size: number, links: Readonly<Record<number, readonly number[]>>): RankGraph {
  return {
    size,
    async walk(visit) {
      for (const [node, targets] of Object.entries(links))
        visit(Number(node), Uint32Array.from(targets), targets.length);
    },
  };
}

/** Asserts that ranks differ by less than 1e-9 from the expected ones. */
function assertClose(t: Test, found: Float64Array, expected: readonly number[], name: string): void {
  t.equal(found.length, expected.length, name);
  const maxError = Math.max(...expected.map((rank, node) => Math.abs(rank - (found[node] ?? 0))));
  t.ok(maxError < 1e-9, `${name}: off by ${maxError}`);
}

t.test('R-2: the PageRank of graphs with known ranks is computed', async (t) => {
  const exact = { tolerance: 1e-13, maxRounds: 1000 };
  const ring = await pageRank(graphOf(5, { 0: [1], 1: [2], 2: [3], 3: [4], 4: [0] }), exact);
  assertClose(t, ring.ranks, [0.2, 0.2, 0.2, 0.2, 0.2], 'a ring: all ranks are equal');

  // Leaf l = 0.15/5 + 0.85 c/4, center c = 0.15/5 + 0.85 * 4l, so c = 0.132/0.2775.
  const center = 0.132 / 0.2775;
  const leaf = (1 - center) / 4;
  const star = await pageRank(graphOf(5, { 0: [1, 2, 3, 4], 1: [0], 2: [0], 3: [0], 4: [0] }), exact);
  assertClose(t, star.ranks, [center, leaf, leaf, leaf, leaf], 'a star');

  // b has no links: a = 0.075 + 0.425 b, b = a + 0.85 a, a + b = 1.
  const chain = await pageRank(graphOf(2, { 0: [1] }), exact);
  assertClose(
    t,
    chain.ranks,
    [1 / 2.85, 1.85 / 2.85],
    'a chain of two: a node without links divides its rank among all nodes',
  );

  // A -> B C, B -> C, C -> A, D -> C: d = 0.0375; with q = 0.85: a = d + q c, b = d + q a/2, c = d + q (a/2 + b
  // + d).
  const q = 0.85;
  const d = 0.15 / 4;
  const c = (d + q * (d / 2 + d + (q * d) / 2 + d)) / (1 - q * (q / 2 + (q * q) / 2));
  const a = d + q * c;
  const four = await pageRank(graphOf(4, { 0: [1, 2], 1: [2], 2: [0], 3: [2] }), exact);
  assertClose(t, four.ranks, [a, d + (q * a) / 2, c, d], 'the four pages of the textbooks');
  t.equal(four.converged, true);

  const none = await pageRank(graphOf(3, {}), exact);
  assertClose(t, none.ranks, [1 / 3, 1 / 3, 1 / 3], 'a graph without links');
  const jumps = await pageRank(graphOf(3, { 0: [1], 1: [0], 2: [0] }), { damping: 0 });
  assertClose(t, jumps.ranks, [1 / 3, 1 / 3, 1 / 3], 'damping 0: links have no effect');
  t.match(await pageRank(graphOf(0, {})), { rounds: 0, converged: true }, 'an empty graph');
  t.match(await pageRank(graphOf(2, { 0: [1] }), { maxRounds: 1 }), { rounds: 1, converged: false });
  await t.rejects(pageRank(graphOf(2, { 0: [1] }), { signal: AbortSignal.abort() }));
});

t.test('R-2: ranks sum to 1 and do not depend on the order of links', async (t) => {
  const links = fc.array(fc.tuple(fc.nat(9), fc.nat(9)), { maxLength: 40 });
  const tableOf = (pairs: readonly (readonly [number, number])[]): Record<number, number[]> => {
    const table: Record<number, number[]> = {};
    for (const [from, to] of pairs) table[from] = [...(table[from] ?? []), to];
    return table;
  };
  await assertProperty(
    fc.asyncProperty(links, async (pairs) => {
      const { ranks } = await pageRank(graphOf(10, tableOf(pairs)));
      t.ok(Math.abs(ranks.reduce((sum, rank) => sum + rank, 0) - 1) < 1e-9);
      const reversed = await pageRank(graphOf(10, tableOf([...pairs].reverse())));
      assertClose(t, reversed.ranks, [...ranks], 'links in reverse order');
    }),
    { numRuns: 50 },
  );
});

t.test('R-28: harvest pagerank publishes ranks with the same links', async (t) => {
  const data = await temporaryDirectory(t);
  // 30 is known, although it has no document and no outgoing links.
  await publishFixture(data, undefined, [...FIXTURE_PAIRS, [20, 30]]);
  const run = await cli('pagerank', '--data', data, '--top', '2', '--json');
  t.equal(run.stderr, '');
  t.match(JSON.parse(run.stdout), {
    generation: 2,
    ranked: 6,
    links: 9,
    converged: true,
    top: [{ id: 10, url: 'http://a.example/' }, { id: 20 }],
  });
  await using reader = await ReferencesReader.openCurrent(data);
  t.equal(reader.ranked, true);
  t.same([...reader.refdb.duplicates(10)], [11, 20, 12], 'the links are unchanged');
  let sum = 0;
  for (const id of [10, 11, 12, 20, 21, 30]) sum += reader.rank(id) ?? 0;
  t.ok(Math.abs(sum - 1) < 1e-6);
  t.equal(reader.rank(99), undefined);
  t.equal(reader.links('refs', 30), undefined);
  const highest = reader.highestRanks(10);
  t.same(
    highest.map(({ id }) => id).sort((a, b) => a - b),
    [10, 11, 12, 20, 21, 30],
  );
  t.same(
    highest.map(({ rank }) => rank).sort((a, b) => b - a),
    highest.map(({ rank }) => rank),
  );
  t.match([highest[0], highest[5]], [{ id: 10 }, { id: 21 }]);
  t.same(reader.highestRanks(3), highest.slice(0, 3));
  t.same(reader.highestRanks(0), []);
  t.match(await publishRanks(data, { residentBytes: 0, maxRounds: 2 }), { generation: 3, rounds: 2 });
  await publishFixture(data);
  await using fresh = await ReferencesReader.openCurrent(data);
  t.equal(fresh.ranked, false, 'a new graph has no ranks');
  const text = await cli('pagerank', '--data', data, '--top', '1');
  t.match(text.stdout, /^\d\.\d{4}e-1\t10\thttp:\/\/a\.example\/\n$/);
  t.match(await cli('pagerank', '--data', data, '--damping', '1'), { code: 2 });
});
