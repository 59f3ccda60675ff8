// Tests the conformance suite for Brokers: our own and an independent one pass, and each defect fails the cases about
// it.
import t from 'tap';
import { loadSuite } from '../../../clients/conformance/index.js';
import { BROKEN_BROKERS } from './broken-brokers.js';
import { PAGES, referenceBroker, runBrokerCases } from './broker-reference.js';
import { CORRECT_BROKER, simpleBroker } from './simple-broker.js';

/** Slow cases, which wait or send byte by byte: run only with the defects that they detect, and with correct Brokers. */
const SLOW = /^(?:message\/(?:too-long|bytewise)|endurance\/.*)$/;
const { cases } = await loadSuite('broker');

// A run of the suite mostly waits.
t.jobs = 4;

t.test('our own Broker passes every conformance case, and no case is skipped', async (t) => {
  const results = await runBrokerCases(t, await referenceBroker(t));
  for (const { id, verdict, message } of results) t.equal(verdict, 'pass', `${id}: ${message ?? 'passed'}`);
  t.equal(results.length, cases.length);
});

t.test(
  'BRK-2.19: an independent Broker passes too; cases about features that it does not support are skipped',
  async (t) => {
    const results = await runBrokerCases(t, await simpleBroker(t, PAGES, CORRECT_BROKER));
    t.same(
      results.filter(({ verdict }) => verdict !== 'pass').map(({ id, verdict }) => `${id} ${verdict}`),
      ['flags/errors skip'],
    );
  },
);

for (const { defect, behavior, fails } of BROKEN_BROKERS) {
  t.test(`a Broker with one defect fails only the cases about it: ${defect}`, async (t) => {
    const port = await simpleBroker(t, PAGES, { ...CORRECT_BROKER, ...behavior });
    const only = cases.map(({ id }) => id).filter((id) => !SLOW.test(id) || fails.includes(id));
    const results = await runBrokerCases(t, port, { timeoutMs: 2500, only });
    const failed = results.filter(({ verdict }) => verdict === 'fail');
    const explained = failed.map(({ id, message }) => `${id}: ${message}`);
    t.same(failed.map(({ id }) => id).sort(), [...fails].sort(), explained.join('; ').slice(0, 2000));
  });
}

t.test('BRK-1.4: a gatherd instead of a Broker and wrong arguments reject', async (t) => {
  const suite = await loadSuite('broker');
  const gatherd = { ...CORRECT_BROKER, greeting: '000 - HELLO 1.8 gatherer.example.org\n' };
  const port = await simpleBroker(t, [], gatherd);
  await t.rejects(suite.prepare([`127.0.0.1:${port}`], {}), { code: 'ERR_CONNECTION', message: /gatherd/ });
  await t.rejects(suite.prepare([], {}), { code: 'ERR_USAGE' });
  await t.rejects(suite.prepare(['localhost', '--what'], {}), { code: 'ERR_USAGE' });
  await t.rejects(suite.prepare(['localhost', '--password-file'], {}), { code: 'ERR_USAGE' });
  const missing = ['localhost', '--password-file=/nonexistent/file'];
  await t.rejects(suite.prepare(missing, {}), { code: 'ERR_CONFIG' });
});
