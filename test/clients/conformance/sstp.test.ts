// Tests the conformance suite for References Servers: correct servers pass. `test/conformance` shows what it
// detects.
import t from 'tap';
import { loadSuite } from '../../../clients/conformance/index.js';
import { serveFixture } from '../../servers/refererd/helpers.js';
import { runCases } from './run-cases.js';
import { simpleRefererd } from './simple-refererd.js';

const suite = await loadSuite('sstp');
const ids = suite.cases.map(({ id }) => id);
t.test('a correct References Server passes every case, and no case is skipped', async (t) => {
  const results = await runCases('sstp', [`127.0.0.1:${await simpleRefererd(t)}`]);
  for (const { id, verdict, message } of results) t.equal(verdict, 'pass', `${id}: ${message ?? 'passed'}`);
  t.equal(results.length, ids.length);
});

t.test('C-01: our own References Server passes every case', async (t) => {
  const { port } = (await serveFixture(t)).address;
  const results = await runCases('sstp', [`127.0.0.1:${port}`]);
  for (const { id, verdict, message } of results) t.equal(verdict, 'pass', `${id}: ${message ?? 'passed'}`);
  t.equal(results.length, ids.length);
});

t.test('R-26, R-27: a server that answers a total of 0 instead of 404 passes too', async (t) => {
  const port = await simpleRefererd(t, { links: (correct) => correct ?? [] });
  for (const { id, verdict, message } of await runCases('sstp', [`127.0.0.1:${port}`]))
    t.equal(verdict, id === 'fixture/total-of-404' ? 'skip' : 'pass', `${id}: ${message ?? ''}`);
});

t.test('C-01: the cases on the fixture are skipped if the server does not serve it', async (t) => {
  const port = await simpleRefererd(t, { links: () => undefined, describes: false });
  const results = await runCases('sstp', [`127.0.0.1:${port}`], ['fixture/*']);
  for (const { id, verdict } of results) t.equal(verdict, id === 'fixture/f-21' ? 'pass' : 'skip', id);
});

t.test('wrong arguments and an absent server reject', async (t) => {
  await t.rejects(suite.prepare([], {}), { code: 'ERR_USAGE' });
  await t.rejects(suite.prepare(['localhost', '1', '2'], {}), { code: 'ERR_USAGE' });
  await t.rejects(suite.prepare(['127.0.0.1:1'], {}), { code: 'ERR_CONNECTION' });
});
