// How often a failing index is rebuilt.
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { StorageError } from '../../../../protocols/errors.js';
import { IndexRepair } from '../../../../servers/broker/admin/index-repair.js';
import { INDEX_FAILURES } from '../../../../storage/indexers/index.js';

const HOUR_MS = 3_600_000;

function repairOn(clock: { now: number }) {
  const warnings: string[] = [];
  const rebuilds: number[] = [];
  const repair = new IndexRepair({
    log: { error: () => undefined, warn: (text: string) => void warnings.push(text) },
    jobs: {
      start: async (_name, work) => {
        await work();
        return { ok: true, text: '' };
      },
    },
    rebuild: async () => void rebuilds.push(clock.now),
    now: () => clock.now,
  });
  /** A failing query every ten seconds until a time. */
  const failUntil = async (end: number) => {
    for (; clock.now < end; clock.now += 10_000) {
      repair.report(new StorageError(`${INDEX_FAILURES[0]}: a test`));
      await turn();
    }
  };
  return { warnings, rebuilds, failUntil };
}

t.test('an index that no rebuild repairs is rebuilt ever less often, and the log says when', async (t) => {
  const clock = { now: 0 };
  const { warnings, rebuilds, failUntil } = repairOn(clock);
  await failUntil(24 * HOUR_MS);
  const minutes = rebuilds.map((at) => at / 60_000);
  t.same(minutes, [0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 1023]);
  const pauses = warnings.filter((text) => text.includes('at the earliest'));
  t.equal(pauses.length, rebuilds.length, 'one line a pause');
  t.match(pauses[1], /the next rebuild starts in 110 s at the earliest/);
});

t.test('a rebuild that helped makes the next one start at once', async (t) => {
  const clock = { now: 0 };
  const { rebuilds, failUntil } = repairOn(clock);
  await failUntil(150_000);
  t.same(rebuilds, [0, 60_000]);
  clock.now = HOUR_MS;
  await failUntil(HOUR_MS + 70_000);
  t.same(rebuilds.slice(2), [HOUR_MS, HOUR_MS + 60_000]);
});
