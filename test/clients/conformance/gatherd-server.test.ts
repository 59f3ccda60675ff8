// Tests the conformance suite for gatherd: our own and an independent one pass, and each defect fails the cases about
// it.
import t from 'tap';
import { loadSuite } from '../../../clients/conformance/index.js';
import { BROKEN_SERVERS } from './broken-servers.js';
import { ENTRIES, referenceServer, runGatherdCases } from './gatherd-reference.js';
import { CORRECT, simpleGatherd } from './simple-gatherd.js';

/** Slow cases, with many connections or transfers: run only with the defects that they detect, and with correct servers. */
const SLOW = new Set(['endurance/sessions', 'endurance/does-not-read']);
const { cases } = await loadSuite('gatherd');

// A run of the suite mostly waits.
t.jobs = 4;

t.test('our own gatherd passes every case, and no case is skipped', async (t) => {
  const results = await runGatherdCases(await referenceServer(t));
  for (const { id, verdict, message } of results) t.equal(verdict, 'pass', `${id}: ${message ?? 'passed'}`);
  t.equal(results.length, cases.length);
});

t.test(
  'an independent gatherd passes too; only cases about features that it lacks are skipped',
  async (t) => {
    const results = await runGatherdCases(await simpleGatherd(t, { ...CORRECT, entries: ENTRIES }));
    const failed = results.filter(({ verdict }) => verdict === 'fail');
    t.same(
      failed.map(({ id, message }) => ({ id, message })),
      [],
    );
    const skipped = results.filter(({ verdict }) => verdict === 'skip').map(({ id }) => id);
    t.same(
      skipped.filter((id) => !id.startsWith('changes/')),
      [],
    );
    t.ok(skipped.length > 0);
  },
);

for (const { defect, behavior, fails } of BROKEN_SERVERS) {
  t.test(`a gatherd with one defect fails only the cases about it: ${defect}`, async (t) => {
    const port = await simpleGatherd(t, { ...CORRECT, entries: ENTRIES, ...behavior });
    const only = cases.map(({ id }) => id).filter((id) => !SLOW.has(id) || fails.includes(id));
    const failed = (await runGatherdCases(port, { only })).filter(({ verdict }) => verdict === 'fail');
    const explained = failed.map(({ id, message }) => `${id}: ${message}`);
    t.same(failed.map(({ id }) => id).sort(), [...fails].sort(), explained.join('; '));
  });
}
