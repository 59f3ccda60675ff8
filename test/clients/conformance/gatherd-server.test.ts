import t from 'tap';
import { loadSuite } from '../../../clients/conformance/index.js';
import { BROKEN_SERVERS } from './broken-servers.js';
import { ENTRIES, judgeServer, referenceServer } from './reference.js';
import { SOUND, simpleGatherd } from './simple-gatherd.js';

/** Many connections or many transfers: run where the defect shows there, and with the sound servers. */
const COSTLY = new Set(['endurance/sessions', 'endurance/does-not-read']);
const { cases } = await loadSuite('gatherd');

// A run of the suite waits more than it works.
t.jobs = 4;

t.test('our own gatherd passes every case, and none is skipped', async (t) => {
  const results = await judgeServer(await referenceServer(t));
  for (const { id, verdict, message } of results) t.equal(verdict, 'pass', `${id}: ${message ?? 'passed'}`);
  t.equal(results.length, cases.length);
});

t.test(
  'an independent gatherd passes too; only cases about features that it lacks are skipped',
  async (t) => {
    const results = await judgeServer(await simpleGatherd(t, { ...SOUND, entries: ENTRIES }));
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

for (const { defect, habits, fails } of BROKEN_SERVERS) {
  t.test(`a gatherd with one defect fails only the cases about it: ${defect}`, async (t) => {
    const port = await simpleGatherd(t, { ...SOUND, entries: ENTRIES, ...habits });
    const only = cases.map(({ id }) => id).filter((id) => !COSTLY.has(id) || fails.includes(id));
    const failed = (await judgeServer(port, { only })).filter(({ verdict }) => verdict === 'fail');
    const explained = failed.map(({ id, message }) => `${id}: ${message}`);
    t.same(failed.map(({ id }) => id).sort(), [...fails].sort(), explained.join('; '));
  });
}
