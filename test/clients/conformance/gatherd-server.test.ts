// Tests the conformance suite for gatherd: our own and an independent one pass. `test/conformance` shows what
// it detects.
import t from 'tap';
import { loadSuite } from '../../../clients/conformance/index.js';
import { fixtureGatherd } from './fixture-reference.js';
import { referenceServer, runGatherdCases } from './gatherd-reference.js';
import { simpleGatherd } from './simple-gatherd.js';

const { cases } = await loadSuite('gatherd');

t.test('our own gatherd passes every case, and skips only those about the fixture', async (t) => {
  const results = await runGatherdCases(await referenceServer(t));
  for (const { id, verdict, message } of results) {
    t.equal(verdict, id.startsWith('fixture/') ? 'skip' : 'pass', `${id}: ${message ?? 'passed'}`);
  }
  t.equal(results.length, cases.length);
});

t.test('our own gatherd with the fixture passes every case that its data decides', async (t) => {
  const results = await runGatherdCases(await fixtureGatherd(t));
  for (const { id, verdict, message } of results) {
    const isLacking = id === 'changes/refreshed' || id === 'changes/deleted';
    t.equal(verdict, isLacking ? 'skip' : 'pass', `${id}: ${message ?? 'passed'}`);
  }
});

t.test('an independent gatherd passes; what it lacks is skipped', async (t) => {
  const results = await runGatherdCases(await simpleGatherd(t));
  const failed = results.filter(({ verdict }) => verdict === 'fail');
  t.same(
    failed.map(({ id, message }) => ({ id, message })),
    [],
  );
  const skipped = results.filter(({ verdict }) => verdict === 'skip').map(({ id }) => id);
  t.same(
    skipped.filter((id) => !/^(?:changes|sequence|fixture)\//.test(id)),
    [],
  );
  t.ok(skipped.length > 0);
});
