// The orders and limits of a crawl that several processes share, by a store that they share.
import t, { type Test } from 'tap';
import type { CrawlCommand } from '../../../servers/crawler/controller.js';
import { ManualClock } from '../../../servers/crawler/frontier/conformance/index.js';
import { SharedControl, type SharedControlOptions } from '../../../servers/gatherer/run/shared-control.js';
import { GathererStore, type MetaChange } from '../../../storage/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

const NO_LIMITS = { maxBytes: 0, maxDocuments: 0, maxSeconds: 0 };

class Setting {
  readonly clock = new ManualClock();
  /** Whether the store refuses changes. */
  fails = false;

  private constructor(readonly store: GathererStore) {}

  static async open(t: Test): Promise<Setting> {
    const store = await GathererStore.open(await temporaryDirectory(t));
    t.teardown(() => store.close());
    return new Setting(store);
  }

  /** A process, and the orders that it has got from others. */
  async join(changes: Partial<SharedControlOptions> = {}) {
    const { clock } = this;
    const store = new Proxy(this.store, {
      get: (target, name) => {
        if (name === 'changeMeta')
          return async (change: (meta: MetaChange) => Promise<unknown>) => {
            if (this.fails) throw new Error('no connection');
            return target.changeMeta((meta) => change({ ...meta, time: async () => clock.now() }));
          };
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const control = await SharedControl.open({ store, limits: NO_LIMITS, tickMs: 3000, clock, ...changes });
    const told: CrawlCommand[] = [];
    control.attach({ follow: (order) => told.push(order) });
    return { control, told };
  }
}

const BEGIN = { begin: { paused: false } };
const PAUSE: CrawlCommand = { kind: 'pause' };
const RESUME: CrawlCommand = { kind: 'resume' };
const stopped = (
  reason: 'time limit' | 'document limit' | 'data limit' | 'ended by operator',
): CrawlCommand => ({
  kind: 'stop',
  reason,
});

t.test('what one process is told all do, and one that joins later finds the crawl paused', async (t) => {
  const setting = await Setting.open(t);
  const one = await setting.join(BEGIN);
  const two = await setting.join();
  one.control.order(PAUSE);
  await one.control.look();
  await two.control.look();
  await two.control.look();
  t.same([one.told, two.told], [[], [PAUSE]], 'once, and not where it was ordered');
  const late = await setting.join();
  t.same(late.told, [PAUSE]);
  late.control.order(RESUME);
  await late.control.look();
  await Promise.all([one.control.look(), two.control.look()]);
  t.same([one.told, two.told], [[RESUME], [PAUSE, RESUME]]);
  two.control.order(stopped('ended by operator'));
  await two.control.look();
  await one.control.look();
  t.same(one.told.at(-1), stopped('ended by operator'));
  const next = await setting.join();
  await next.control.look();
  t.same(next.told, [], 'one that joins after a stop continues the crawl');
});

t.test('a crawl that begins paused is paused for all', async (t) => {
  const setting = await Setting.open(t);
  const one = await setting.join({ begin: { paused: true } });
  const two = await setting.join();
  t.same([one.told, two.told], [[PAUSE], [PAUSE]]);
});

t.test('an order that could not be stored is stored by a later look', async (t) => {
  const setting = await Setting.open(t);
  const one = await setting.join(BEGIN);
  const two = await setting.join();
  setting.fails = true;
  one.control.order(PAUSE);
  await one.control.look();
  await two.control.look();
  t.same([one.told, two.told], [[], []], 'nor is it taken back where it was ordered');
  setting.fails = false;
  await one.control.look();
  await two.control.look();
  t.same(two.told, [PAUSE]);
});

t.test('limits count what all partitions have finished since the last stop', async (t) => {
  const setting = await Setting.open(t);
  const finish = (partition: number, succeeded: number, bytes: number): Promise<void> =>
    setting.store
      .partition(partition, { name: 'crawl', epoch: 1 })
      .batch()
      .putFrontierState({ nextOrdinal: 1, nextSequence: 1, succeeded, failed: 0, disregarded: 0, bytes })
      .commit();
  const limits = { ...NO_LIMITS, maxDocuments: 10, maxBytes: 1000 };
  const one = await setting.join({ ...BEGIN, limits });
  const two = await setting.join({ limits });
  await finish(3, 5, 100);
  await finish(200, 4, 100);
  await one.control.look();
  t.same(one.told, []);
  await finish(200, 5, 100);
  await one.control.look();
  await two.control.look();
  t.same([one.told, two.told], [[stopped('document limit')], [stopped('document limit')]]);
  const next = await setting.join({ limits });
  await finish(3, 14, 999);
  await next.control.look();
  t.same(next.told, []);
  await finish(3, 14, 1100);
  await next.control.look();
  t.same(next.told, [stopped('data limit')]);
});

t.test('the time of a crawl passes while a process takes part and it is not paused', async (t) => {
  const setting = await Setting.open(t);
  const { clock } = setting;
  const limits = { ...NO_LIMITS, maxSeconds: 10 };
  const one = await setting.join({ ...BEGIN, limits });
  const two = await setting.join({ limits });
  const pass = async (milliseconds: number): Promise<void> => {
    clock.advance(milliseconds);
    await one.control.tick();
    await two.control.tick();
  };
  await pass(0);
  await pass(3000);
  await pass(3000);
  t.equal(one.control.elapsed, 6);
  await pass(3_600_000);
  t.equal(two.control.elapsed, 6, 'no process took part');
  two.control.order(PAUSE);
  await two.control.look();
  await pass(3000);
  two.control.order(RESUME);
  await two.control.look();
  await one.control.look();
  t.same(one.told, [RESUME], 'the pause and its end in one look are its end');
  await pass(3000);
  t.same(two.told, []);
  await pass(1000);
  await two.control.look();
  t.same([one.told.at(-1), two.told.at(-1)], [stopped('time limit'), stopped('time limit')]);
});
