// URL-Max and Host-Max of a crawl that several processes share.
import t, { type Test } from 'tap';
import { RootLimits, readProgress } from '../../../servers/gatherer/scope/root-limits.js';
import { SharedAdmission } from '../../../servers/gatherer/scope/shared-admission.js';
import { GathererStore, type MetaChange } from '../../../storage/index.js';
import { Random } from '../../helpers/random.js';
import { SEED } from '../../helpers/seed.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

const ADDRESSES = { addressesOf: () => [], identity: (hostname: string) => hostname };
const ROOT = {
  ...{ url: 'http://root.test/', urlMax: 40, hostMax: 5, delay: 0, depth: 0 },
  ...{ access: ['http'] as const, search: 'breadth' as const },
};

type Root = ConstructorParameters<typeof RootLimits>[0]['root'];

async function openStore(t: Test): Promise<GathererStore> {
  const store = await GathererStore.open(await temporaryDirectory(t));
  t.teardown(() => store.close());
  return store;
}

async function openProcess(
  store: Pick<GathererStore, 'changeMeta' | 'meta'>,
  changes: Partial<Root> = {},
): Promise<RootLimits> {
  const rules = { root: { ...ROOT, ...changes } as Root, urlFilter: undefined, hostFilter: undefined };
  const limits = new RootLimits(rules, ADDRESSES, await readProgress(store.meta, 0));
  limits.share(new SharedAdmission(store), 0);
  return limits;
}

const admit = async (limits: RootLimits, href: string): Promise<boolean> => {
  const url = new URL(href);
  const refusalNow = () => limits.refusal(url, 1) ?? limits.hostRefusal(url, 1);
  return (await limits.admit(url, refusalNow)) === undefined;
};

t.test('three processes admit as many URLs and hosts as one would', async (t) => {
  const store = await openStore(t);
  const random = new Random(SEED);
  const processes = [await openProcess(store), await openProcess(store), await openProcess(store)];
  const admitted: string[] = [];
  const asked = Array.from({ length: 600 }, async (_, i) => {
    const url = `http://host${random.below(12)}.test/${i}`;
    if (await admit(processes[random.below(3)]!, url)) admitted.push(url);
  });
  await Promise.all(asked);
  t.equal(admitted.length, 40);
  const hosts = new Set(admitted.map((url) => new URL(url).hostname));
  t.ok(hosts.size <= 5, [...hosts].join(' '));
  const late = await openProcess(store);
  t.match(late, { urls: 40, hosts: hosts.size }, 'one that joins knows what is counted');
  t.equal(await admit(late, `http://${[...hosts][0]}/more`), false);
});

t.test('a host that one process has counted is open to the others', async (t) => {
  const store = await openStore(t);
  const [one, two] = [await openProcess(store, { hostMax: 1 }), await openProcess(store, { hostMax: 1 })];
  t.equal(await admit(one, 'http://a.test/1'), true);
  t.equal(await admit(two, 'http://b.test/1'), false);
  t.equal(await admit(two, 'http://a.test/2'), true);
  t.match(await readProgress(store.meta, 0), { urls: 2, hosts: ['a.test'] });
});

t.test('a change that is repeated counts no less than what is admitted, and each host once', async (t) => {
  for (const wasWritten of [true, false]) {
    const store = await openStore(t);
    let isFirst = true;
    const flaky: Pick<GathererStore, 'changeMeta' | 'meta'> = {
      meta: store.meta,
      changeMeta: async <T>(change: (meta: MetaChange) => Promise<T>): Promise<T> => {
        if (!isFirst) return store.changeMeta(change);
        isFirst = false;
        if (wasWritten) await store.changeMeta(change);
        else await store.changeMeta((meta) => change({ ...meta, put: () => undefined }));
        return store.changeMeta(change);
      },
    };
    const limits = await openProcess(flaky, { hostMax: 2 });
    t.same(await Promise.all(['http://a.test/1', 'http://a.test/2'].map((url) => admit(limits, url))), [
      true,
      true,
    ]);
    t.equal(await admit(limits, 'http://b.test/'), true);
    const stored = await readProgress(store.meta, 0);
    t.same(stored?.hosts, ['a.test', 'b.test']);
    t.equal(stored?.urls, wasWritten ? 5 : 3);
  }
});

t.test('a search in depth counts visits over all processes', async (t) => {
  const store = await openStore(t);
  const changes = { search: 'depth' as const, urlMax: 3 };
  const processes = [await openProcess(store, changes), await openProcess(store, changes)];
  const visits = Array.from({ length: 8 }, (_, i) =>
    processes[i % 2]!.countVisit(`http://a.test/${i}`, false),
  );
  t.equal((await Promise.all(visits)).filter(Boolean).length, 3);
  t.equal(await processes[0]!.countVisit('http://a.test/0', true), true, 'a repetition is counted already');
});

t.test('a failed change refuses nothing and counts nothing', async (t) => {
  const store = await openStore(t);
  let fails = true;
  const limits = await openProcess({
    meta: store.meta,
    changeMeta: async (change) => {
      if (fails) throw new Error('no connection');
      return store.changeMeta(change);
    },
  });
  await t.rejects(admit(limits, 'http://a.test/1'), /no connection/);
  fails = false;
  t.equal(await admit(limits, 'http://a.test/1'), true);
  t.match(await readProgress(store.meta, 0), { urls: 1, hosts: ['a.test'] });
});
