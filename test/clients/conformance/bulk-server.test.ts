// Tests the conformance suite for bulk transfers: our own Broker and an independent one pass.
// `test/conformance` shows what it detects.
import t from 'tap';
import { loadSuite } from '../../../clients/conformance/index.js';
import { bulkReference } from './bulk-reference.js';
import { runCases } from './run-cases.js';
import { simpleBulk } from './simple-bulk.js';

const { cases } = await loadSuite('bulk');

t.test('BT-1 to BT-22, BP-11 to BP-25: our own Broker passes every case', async (t) => {
  const results = await runCases('bulk', [`127.0.0.1:${await bulkReference(t)}`]);
  for (const { id, verdict, message, received } of results)
    t.equal(verdict, 'pass', `${id}: ${message ?? 'passed'} ${received ?? ''}`);
  t.equal(results.length, cases.length);
});

t.test('BP-29: an independent Broker passes; cases about unknown features are skipped', async (t) => {
  const verdicts = async (behavior: Parameters<typeof simpleBulk>[1], only: readonly string[] = []) => {
    const port = await simpleBulk(t, behavior);
    return (await runCases('bulk', [`127.0.0.1:${port}`], only))
      .filter(({ verdict }) => verdict !== 'pass')
      .map(({ id, verdict, message, received }) => `${id} ${verdict} ${message} ${received}`);
  };
  const skipped = await verdicts({ knowsProposed: false });
  t.equal(skipped.length, 7, skipped.join('\n'));
  for (const one of skipped) t.match(one, /^proposed\/\S+ skip/);
  t.same(await verdicts({}), []);
  t.same(await verdicts({ bytewise: true }, ['groups/*', 'proposed/order', 'proposed/compressed']), []);
});

t.test('BRK-1.4: a gatherd instead of a Broker and wrong arguments reject', async (t) => {
  const suite = await loadSuite('bulk');
  const port = await simpleBulk(t, { greeting: '000 - HELLO 1.8 gatherer.example.org\n' });
  await t.rejects(suite.prepare([`127.0.0.1:${port}`], {}), { code: 'ERR_CONNECTION', message: /gatherd/ });
  await t.rejects(suite.prepare([], {}), { code: 'ERR_USAGE' });
});
