// Tests the conformance suite for bulk transfers: our own Broker and an independent one pass.
// `test/conformance` shows what it detects.
import t from 'tap';
import { type CaseResult, loadSuite } from '../../../clients/conformance/index.js';
import { FIXTURE } from '../../../protocols/fixture/index.js';
import { bulkFixtureReference, bulkReference } from './bulk-reference.js';
import { runCases } from './run-cases.js';
import { REFERENCE_ITEMS, simpleBulk } from './simple-bulk.js';

const { cases } = await loadSuite('bulk');
const isAboutFixture = ({ id }: { readonly id: string }) => id.startsWith('fixture/');
/** Whether a Broker decides the case in which nothing was deleted or refreshed. */
const isDecided = ({ id }: CaseResult) => !/^objects\/(?:delete|refresh)-identified$/.test(id);

/** The results that are not `pass`, or not `skip` for the cases about the fixture if it is not loaded. */
function unexpected(results: readonly CaseResult[], hasFixture = false): string[] {
  return results
    .filter((one) => one.verdict !== (isAboutFixture(one) && !hasFixture ? 'skip' : 'pass'))
    .map(({ id, verdict, message, received }) => `${id} ${verdict} ${message} ${received}`);
}

t.test('BT-1 to BT-22, BP-11 to BP-25: our own Broker passes every case', async (t) => {
  const results = await runCases('bulk', [`127.0.0.1:${await bulkReference(t)}`]);
  t.same(unexpected(results), []);
  t.equal(results.length, cases.length);
});

t.test('BT-16, BP-20: our own Broker sends the fixture byte for byte', async (t) => {
  const results = await runCases('bulk', [`127.0.0.1:${await bulkFixtureReference(t)}`]);
  t.same(unexpected(results.filter(isDecided), true), []);
});

t.test('BP-29: an independent Broker passes; cases about unknown features are skipped', async (t) => {
  const results = async (behavior: Parameters<typeof simpleBulk>[1], only: readonly string[] = []) => {
    const port = await simpleBulk(t, behavior);
    return await runCases('bulk', [`127.0.0.1:${port}`], only);
  };
  const first = await results({ knowsProposed: false });
  const skipped = first.filter(({ verdict, id }) => verdict === 'skip' && id.startsWith('proposed/'));
  t.same(
    skipped.map(({ id }) => id),
    cases.map(({ id }) => id).filter((id) => id.startsWith('proposed/')),
  );
  t.same(unexpected(first.filter(({ id }) => !id.startsWith('proposed/'))), []);
  t.same(unexpected(await results({})), []);
  t.same(
    unexpected(await results({ bytewise: true }, ['groups/*', 'proposed/order', 'proposed/compressed'])),
    [],
  );
  const known = await results({ items: FIXTURE });
  t.same(unexpected(known.filter(isDecided), true), []);
});

t.test('BT-6: a word of bookkeeping attributes is not used as a query', async (t) => {
  const items = REFERENCE_ITEMS.map((item, at) => ({
    ...item,
    attributes: item.attributes.map(([name, value]) => {
      const words = ['gatherer river', 'gatherer page', 'river', 'castles'];
      return [name, name === 'Title' ? (words[at] ?? value) : value] as const;
    }),
  }));
  const results = async (searches: 'everything' | 'nothing') =>
    await runCases('bulk', [`127.0.0.1:${await simpleBulk(t, { items, searches })}`], ['query/*']);
  t.same(unexpected(await results('everything')), []);
  const failed = (await results('nothing')).filter(({ verdict }) => verdict === 'fail');
  t.same(
    failed.map(({ id }) => id),
    ['query/matches', 'query/case', 'query/nothing'],
    'a Broker that ignores the query sends objects without the word',
  );
});

t.test('BRK-1.4: a gatherd instead of a Broker and wrong arguments reject', async (t) => {
  const suite = await loadSuite('bulk');
  const port = await simpleBulk(t, { greeting: '000 - HELLO 1.8 gatherer.example.org\n' });
  await t.rejects(suite.prepare([`127.0.0.1:${port}`], {}), { code: 'ERR_CONNECTION', message: /gatherd/ });
  await t.rejects(suite.prepare([], {}), { code: 'ERR_USAGE' });
});
