// Tests the conformance suite for bulk transfers: our own Broker and an independent one pass, and each defect fails the
// cases about it.
import t from 'tap';
import { type CaseResult, loadSuite, type RunOptions, runSuite } from '../../../clients/conformance/index.js';
import { BROKEN_BULK } from './broken-bulk.js';
import { bulkReference } from './bulk-reference.js';
import { type BulkBehavior, CORRECT_BULK, simpleBulk } from './simple-bulk.js';

const { cases } = await loadSuite('bulk');

// A run of the suite mostly waits.
t.jobs = 4;

async function runCases(port: number, options: RunOptions = {}): Promise<CaseResult[]> {
  const { timeoutMs = 3000 } = options;
  const suite = await loadSuite('bulk');
  await using prepared = await suite.prepare([`127.0.0.1:${port}`], { timeoutMs });
  const results: CaseResult[] = [];
  for await (const result of runSuite(prepared, { ...options, timeoutMs })) results.push(result);
  return results;
}

t.test('BT-1 to BT-22, BP-11 to BP-25: our own Broker passes every case', async (t) => {
  const results = await runCases(await bulkReference(t));
  for (const { id, verdict, message, received } of results)
    t.equal(verdict, 'pass', `${id}: ${message ?? 'passed'} ${received ?? ''}`);
  t.equal(results.length, cases.length);
});

t.test('BP-29: an independent Broker passes; cases about unknown features are skipped', async (t) => {
  const verdicts = async (behavior: Partial<BulkBehavior>, only: readonly string[] = []) => {
    const port = await simpleBulk(t, { ...CORRECT_BULK, ...behavior });
    return (await runCases(port, { timeoutMs: 2500, only }))
      .filter(({ verdict }) => verdict !== 'pass')
      .map(({ id, verdict, message, received }) => `${id} ${verdict} ${message} ${received}`);
  };
  const skipped = await verdicts({ knowsProposed: false });
  t.equal(skipped.length, 7, skipped.join('\n'));
  for (const one of skipped) t.match(one, /^proposed\/\S+ skip/);
  t.same(await verdicts({}), []);
  t.same(await verdicts({ bytewise: true }, ['groups/*', 'proposed/order', 'proposed/compressed']), []);
});

for (const { defect, behavior, fails, only = [] } of BROKEN_BULK) {
  t.test(`a Broker with one defect in bulk transfers fails only the cases about it: ${defect}`, async (t) => {
    const results = await runCases(await simpleBulk(t, { ...CORRECT_BULK, ...behavior }), {
      timeoutMs: 2500,
      only,
    });
    const failed = results.filter(({ verdict }) => verdict === 'fail');
    const explained = failed.map(({ id, message, received }) => `${id}: ${message} ${received}`);
    t.same(failed.map(({ id }) => id).sort(), [...fails].sort(), explained.join('; ').slice(0, 2000));
  });
}

t.test('BRK-1.4: a gatherd instead of a Broker and wrong arguments reject', async (t) => {
  const suite = await loadSuite('bulk');
  const port = await simpleBulk(t, { ...CORRECT_BULK, greeting: '000 - HELLO 1.8 gatherer.example.org\n' });
  await t.rejects(suite.prepare([`127.0.0.1:${port}`], {}), { code: 'ERR_CONNECTION', message: /gatherd/ });
  await t.rejects(suite.prepare([], {}), { code: 'ERR_USAGE' });
});
