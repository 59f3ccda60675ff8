// Brokers whose engines are Debian's Glimpse and Swish-e pass the conformance suite for Brokers, with the fixture.
// Prints TAP. Needs glimpse and swish-e; the runner installs them.
import { spawnSync } from 'node:child_process';
import t from 'tap';
import { runBrokerCases } from '../clients/conformance/broker-reference.js';
import { fixtureBroker } from '../clients/conformance/fixture-reference.js';

const skip = (program: string) =>
  spawnSync(program, ['-V']).error === undefined ? false : `${program} is not installed`;

t.test('BRK-8.5: a Broker with Glimpse passes each case', { skip: skip('glimpseindex') }, async (t) => {
  const results = await runBrokerCases(t, await fixtureBroker(t, 'Indexer-Type Glimpse'));
  for (const { id, verdict, message } of results) t.equal(verdict, 'pass', `${id}: ${message ?? 'passed'}`);
});

t.test('BRK-2.19: a Broker with Swish lacks parts of words only', { skip: skip('swish-e') }, async (t) => {
  const results = await runBrokerCases(t, await fixtureBroker(t, 'Indexer-Type Swish'));
  const failed = results.filter(({ verdict }) => verdict === 'fail');
  t.same(failed.map(({ id, level }) => `${level} ${id}`).sort(), [
    'SHOULD fixture/parts',
    'SHOULD fixture/url-parts',
    'SHOULD flags/parts',
  ]);
  for (const { id, verdict, message } of results.filter((result) => result.verdict === 'skip'))
    t.match(message, /swish does not support/, `${id} ${verdict}`);
});
