// Tests the conformance suite for Brokers: our own and an independent one pass. `test/conformance` shows what
// it detects.
import t from 'tap';
import { loadSuite } from '../../../clients/conformance/index.js';
import { BROKER_FLAGS, REQUEST_FLAGS } from '../../../protocols/broker/index.js';
import { sourcesOf, textOf } from '../../architecture/sources.js';
import { PAGES, referenceBroker, runBrokerCases } from './broker-reference.js';
import { collectedFixtureBroker, fixtureBroker } from './fixture-reference.js';
import { simpleBroker } from './simple-broker.js';

const { cases } = await loadSuite('broker');

const isFixture = ({ id }: { readonly id: string }) => id.startsWith('fixture/');

t.test('our own Broker with the fixture passes every conformance case, and no case is skipped', async (t) => {
  const results = await runBrokerCases(t, await fixtureBroker(t));
  for (const { id, verdict, message } of results) t.equal(verdict, 'pass', `${id}: ${message ?? 'passed'}`);
  t.equal(results.length, cases.length);
});

t.test(
  'GATHERD-13.10: our own Broker that has collected the fixture passes, but for times that it replaces',
  async (t) => {
    const results = await runBrokerCases(t, await collectedFixtureBroker(t), ['fixture/*']);
    const aboutTimes = ['fixture/less-than-times', 'fixture/since', 'fixture/times'];
    for (const { id, verdict, message } of results)
      t.equal(verdict, aboutTimes.includes(id) ? 'skip' : 'pass', `${id}: ${message ?? 'passed'}`);
    t.equal(results.length, cases.filter(isFixture).length);
  },
);

t.test('our own Broker with other objects passes; the cases about the fixture are skipped', async (t) => {
  const results = await runBrokerCases(t, await referenceBroker(t), ['fixture/*', 'query/*', 'admin/*']);
  t.equal(results.filter(isFixture).length, cases.filter(isFixture).length);
  for (const result of results) {
    const { id, verdict, message } = result;
    t.equal(verdict, isFixture(result) ? 'skip' : 'pass', `${id}: ${message ?? 'passed'}`);
    if (isFixture(result)) t.match(message, /does not have the objects of the fixture/, id);
  }
});

t.test('BRK-2.19: an independent Broker passes; what it lacks is skipped', async (t) => {
  const results = (await runBrokerCases(t, await simpleBroker(t, PAGES))).filter(
    (result) => !isFixture(result),
  );
  t.same(
    results.filter(({ verdict }) => verdict !== 'pass').map(({ id, verdict }) => `${id} ${verdict}`),
    ['flags/errors skip'],
  );
});

t.test('BRK-1.4: a gatherd instead of a Broker and wrong arguments reject', async (t) => {
  const suite = await loadSuite('broker');
  const port = await simpleBroker(t, [], '000 - HELLO 1.8 gatherer.example.org\n');
  await t.rejects(suite.prepare([`127.0.0.1:${port}`], {}), { code: 'ERR_CONNECTION', message: /gatherd/ });
  await t.rejects(suite.prepare([], {}), { code: 'ERR_USAGE' });
  await t.rejects(suite.prepare(['localhost', '--what'], {}), { code: 'ERR_USAGE' });
  await t.rejects(suite.prepare(['localhost', '--password-file'], {}), { code: 'ERR_USAGE' });
  const missing = ['localhost', '--password-file=/nonexistent/file'];
  await t.rejects(suite.prepare(missing, {}), { code: 'ERR_CONFIG' });
});

t.test('BRK-3: each flag of a query has a case', (t) => {
  const cases = sourcesOf('clients/conformance/broker').map(textOf).join('\n');
  for (const name of [...REQUEST_FLAGS, 'opaque'] as const) {
    const { keyword } = BROKER_FLAGS[name];
    t.ok(cases.includes(keyword), keyword);
  }
  t.end();
});
