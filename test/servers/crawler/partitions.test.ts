// The partitions of a shared crawl: each passes the suite of a frontier, beside others in the same store.
import { join } from 'node:path';
import t from 'tap';
import { frontierConformance, ManualClock } from '../../../servers/crawler/frontier/conformance/index.js';
import { type Candidate, DIRECTIVE } from '../../../servers/crawler/frontier/contract.js';
import { Frontier, type FrontierOptions } from '../../../servers/crawler/frontier/frontier.js';
import { Inbox } from '../../../servers/crawler/frontier/inbox.js';
import { PartitionedFrontier } from '../../../servers/crawler/frontier/partitioned-frontier.js';
import { GathererStore, partitionOf } from '../../../storage/index.js';
import { LeaseKeeper } from '../../../storage/leases/lease-keeper.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { queuedUri } from '../../storage/helpers.js';

const LEASE = { name: 'crawl 00007', epoch: 1 };
const OTHER = { name: 'crawl 00008', epoch: 1 };

const candidate = (url: string): Candidate => ({
  url,
  via: '',
  pathFromSeed: '',
  root: 0,
  depth: 0,
  isLeaf: false,
  forceFetch: false,
  sourceTag: '',
});

const prepare: FrontierOptions['prepare'] = ({ url }) => ({
  classKey: new URL(url).host,
  seenKey: url,
  directive: DIRECTIVE.normal,
  cost: 1,
  precedence: 1,
  budgets: { replenish: 100, totalBudget: -1 },
});

t.test('a partition passes the conformance suite beside another one', async (t) => {
  frontierConformance({
    // Those that take long are those of the frontier, whose code is the same.
    test: (name, run) => (/hundreds of queues|random history/.test(name) ? undefined : t.test(name, run)),
    histories: 1,
    async open(directory, { smallMemory, ...setup }) {
      const store = await GathererStore.open(join(directory, 'working'));
      const other = store.partition(8, OTHER).batch();
      const uri = queuedUri('http://other.test/');
      await other.enqueue({ classKey: 'other.test', directive: 1, precedence: 1, ordinal: 1, uri }).commit();
      const part = store.partition(7, LEASE);
      const seen = await part.openSeenFilter();
      const memory = smallMemory ? { restingQueues: 2, windowEntries: 8 } : {};
      const frontier = await Frontier.open({ store: part, seen, ...setup, ...memory });
      return {
        frontier,
        batch: () => part.batch(),
        async [Symbol.asyncDispose]() {
          frontier.close();
          await frontier.settled();
          await seen.close();
          await store.close();
        },
      };
    },
  });
});

t.test('a queue that is taken over rests for a delay, whatever was stored', async (t) => {
  await using store = await GathererStore.open(await temporaryDirectory(t));
  const part = store.partition(7, LEASE);
  const clock = new ManualClock();
  const open = async (restMs: number): Promise<Frontier> =>
    Frontier.open({ store: part, seen: await part.openSeenFilter(), prepare, clock, restMs });
  const first = await open(0);
  await first.schedule(['http://a.test/1', 'http://a.test/2'].map(candidate));
  t.equal((await first.take())?.uri.url, 'http://a.test/1', 'in process when its process is killed');
  const later = await open(5000);
  t.equal(await later.take(), undefined);
  clock.advance(4999);
  t.equal(await later.take(), undefined);
  clock.advance(1);
  t.equal((await later.take())?.uri.url, 'http://a.test/1');
  t.equal(await later.take(), undefined, 'one at a time');
  for (const frontier of [first, later]) frontier.close();
  await later.settled();
});

t.test('a URI that is sent waits in the inbox of its partition until it is taken', async (t) => {
  const directory = await temporaryDirectory(t);
  const store = await GathererStore.open(directory);
  const [one, two] = [new Inbox(store), new Inbox(store)];
  const batch = store.batch();
  one.send(3, candidate('http://user:secret@a.test/'), batch);
  two.send(3, candidate('http://b.test/'), batch);
  one.send(4, candidate('http://c.test/'), batch);
  await batch.commit();
  t.same([...(await one.filled(new Set([2, 3])))], [3]);
  const entries = await two.read(3);
  t.same(entries.map(({ candidate: { url } }) => url).sort(), [
    'http://b.test/',
    'http://user:secret@a.test/',
  ]);
  await store.batch().deleteInbox(entries[0]!.place).deleteInbox(entries[1]!.place).commit();
  t.same(await one.read(3), []);
  t.equal(await store.isCrawled(8), false, 'one is on its way');
  await store.clearFrontier();
  t.equal(await store.isCrawled(8), true);
  await store.close();
});

t.test('URIs of other processes are taken when what admits them is there', async (t) => {
  const shared = { owner: 'one', leaseMs: 60_000 };
  await using store = await GathererStore.open(await temporaryDirectory(t), { shared });
  await using keeper = new LeaseKeeper(store.leases!);
  const asked: string[] = [];
  let isReady = false;
  const frontier = await PartitionedFrontier.open({
    ...{ store, keeper, prepare, owner: 'one', partitions: 4, balanceMs: 1000, clock: new ManualClock() },
    mayTake: () => isReady,
    admitFor:
      ({ url }) =>
      async () =>
        asked.push(url) > 1,
  });
  await frontier.schedule([candidate('http://a.test/1')]);
  t.same([asked, frontier.counts.queued], [[], 0]);
  isReady = true;
  await frontier.schedule([candidate('http://a.test/2')]);
  t.same(
    [asked, frontier.counts.queued],
    [['http://a.test/1', 'http://a.test/2'], 1],
    'the first is refused',
  );
  await frontier.leave();
});

t.test('all queues of a host are in one partition', (t) => {
  for (const key of ['site.test', 'site.test#8080', 'site.test+2', 'site.test#443+1'])
    t.equal(partitionOf(key, 256), partitionOf('site.test', 256), key);
  const used = new Set(Array.from({ length: 5000 }, (_, i) => partitionOf(`site${i}.test`, 256)));
  t.equal(used.size, 256);
  t.end();
});
