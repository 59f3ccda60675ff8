// The conformance suite for each installed engine, and the limits and scores of the embedded engine.
import t from 'tap';
import { PeerError } from '../../../protocols/errors.js';
import { SoifObject } from '../../../protocols/soif/index.js';
import { indexerConformance } from '../../../storage/indexers/conformance.js';
import {
  INDEXER_TYPES,
  type IndexerCapabilities,
  type IndexerType,
  openIndexer,
} from '../../../storage/indexers/index.js';
import { pluck } from '../../helpers/pluck.js';
import { ALL_CAPABILITIES, EmbeddedFixture, needsProgram, objectOf } from './embedded-fixture.js';

const WORDS_ONLY = { substrings: false, errors: 0, regexp: false, comparison: false };

/** The capabilities of each engine. */
const ENGINES: Readonly<Record<IndexerType, IndexerCapabilities>> = {
  embedded: ALL_CAPABILITIES,
  glimpse: { ...ALL_CAPABILITIES, accents: false, mostWords: false, score: false },
  swish: { ...ALL_CAPABILITIES, ...WORDS_ONLY, mostWords: false },
  opensearch: { ...ALL_CAPABILITIES, mostWords: false },
};

for (const type of INDEXER_TYPES) {
  t.test(`BRK-8.1 ${type}`, needsProgram(type), async (t) => {
    indexerConformance({
      test: (name, run) => t.test(name, run),
      name: type,
      open: async ({ directory, storeDirectory }) => {
        const indexer = await openIndexer({ type, brokerDirectory: directory, storeDirectory });
        t.type(indexer.objects, 'number', 'BRK-5.1: #do-stats says how many objects the engine has');
        return indexer;
      },
      manifest: { capabilities: ENGINES[type] },
    });
  });
}

t.test('BRK-4.8 a long line is cut', async (t) => {
  await using fixture = await EmbeddedFixture.open({ maxLineBytes: 40 });
  await fixture.put({ Body: `first\n${'x'.repeat(100)} tail\n` });
  t.same((await fixture.search('tail'))[0]?.lines, [
    { attribute: 'Body', text: 'x'.repeat(40), first: false },
  ]);
});

t.test('BRK-2.17 exact and regexp compare in the one spelling, blanks and hyphens as they are', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  await fixture.put({ Name: 'cafe\u0301 l\u2019eau a\u2010b  c' });
  const finds = async (query: string) => (await fixture.search(query)).length === 1;
  t.ok(await finds(`name exact "caf\u00e9 l'eau a-b  c"`));
  t.notOk(await finds(`name exact "caf\u00e9 l'eau a b  c"`), 'a hyphen is no blank');
  t.notOk(await finds(`name exact "caf\u00e9 l'eau a-b c"`), 'a run of blanks is not one blank');
  t.ok(await finds(`name regexp "^caf\u00e9 l'eau a-b  c$"`));
  t.notOk(await finds('name regexp "a b"'));
  t.notOk(await finds('name regexp "b c"'));
});

t.test('BRK-2.17 comparisons read a value as exact does: its line ends, its encoding', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  const values = [
    'b',
    'b\n',
    'b\r\n',
    '10\r\n',
    '10',
    'b\r\nc\r\n',
    'b\nc',
    'caf\u00e9',
    'b\r',
    'b\n\n',
    'b\r\n\r\n',
  ];
  const bytes = [...values.map((value) => Buffer.from(value)), Buffer.from('caf\u00e9\r\n', 'latin1')];
  const others = Array.from(objectOf({}), ({ name, value }) => [name, value] as const);
  await fixture.putSoif(
    bytes.map((value, i) => SoifObject.of('FILE', `http://x/${i}`, [['Name', value], ...others])),
  );
  const found = async (query: string) =>
    (await fixture.search(query, { wantLines: false })).map(({ oid }) => oid).sort((a, b) => a - b);
  const texts = ['b', '10', 'caf\u00e9', 'a', 'zz', '9.5'];
  for (const text of texts) {
    const [less, equal, greater] = [
      await found(`name less-than "${text}"`),
      await found(`name exact "${text}"`),
      await found(`name greater-than "${text}"`),
    ];
    t.same(
      [...less, ...equal, ...greater].sort((a, b) => a - b),
      Array.from({ length: bytes.length }, (_, i) => i + 1),
      `each value is less than, equal to or greater than ${text}`,
    );
  }
  t.same(await found('name exact b'), [1, 2, 3]);
  t.same(await found('name greater-than b'), [6, 7, 8, 9, 10, 11, 12]);
});

t.test('BRK-4.8 a URL that a tag and a word for content match is one line', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  await fixture.put({ url: 'http://h/name', Body: 'x' });
  const [hit] = await fixture.search('url greater-than a and name', { contentOnly: true, wantLines: true });
  t.same(hit?.lines, [{ attribute: 'url', text: '@FILE { http://h/name', first: true }]);
});

t.test('BRK-4.8 a term is negated below an odd number of not and right sides of except', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  await fixture.put({ One: 'aa', Two: 'bb', Three: 'cc' });
  const lines = async (query: string) =>
    (await fixture.search(query))[0]?.lines.map(({ attribute }) => attribute).join(' ');
  t.equal(await lines('aa except (zz except bb)'), 'One Two');
  t.equal(await lines('not (not aa)'), 'One');
  t.equal(await lines('not (zz except cc)'), 'Three');
  t.equal(await lines('not (zz or not bb)'), 'Two');
  t.equal(await lines('not zz'), '');
});

t.test('a hit in the title has a higher score', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  await fixture.put(
    { Title: 'Neural Networks\nand their garbage collection\n', Keywords: 'neural\nnetwork\n' },
    { title: 'A network of human-computer interfaces', Description: 'It costs US$ 100' },
  );
  const hits = await fixture.search('network', { ignoreCase: true, matchWord: true });
  t.same(pluck(hits, 'oid'), [2, 1]);
  t.ok((hits[0]?.score ?? 0) > (hits[1]?.score ?? 0));
});

t.test('BRK-2.19, 4.18 a query over the limits is refused at the first hit', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  await fixture.put({ Title: 'apple' });
  for (const query of [
    'title regexp "(unclosed"',
    'title regexp "(a{100}b{100}){6}"',
    '"   "',
    `"${'a'.repeat(300)}"`,
    Array.from({ length: 600 }, () => 'a').join(' or '),
  ]) {
    const error = await fixture.search(query).then(
      () => undefined,
      (error: unknown) => error,
    );
    t.ok(error instanceof PeerError && error.status === 111, query.slice(0, 40));
    t.match(String(error), /ERROR: embedded does not support /);
  }
});

t.test('BRK-2.23 spelling errors in a pattern cause a warning', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  await fixture.put({ Title: 'garbage' });
  const { outcome } = await fixture.searchAll('"garb.ge"', { errors: 1 });
  t.equal(outcome.warnings.length, 1);
});
