// Checkpoints (CRAWL-17.2, 17.3): taken while a crawl runs, verified, restored several times.
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parseGathererConf } from '../../../protocols/config/index.js';
import { decodeSoif } from '../../../protocols/soif/index.js';
import {
  Checkpoints,
  type CheckpointsOptions,
  listCheckpoints,
  readCheckpointInfo,
  restoreCheckpoint,
  verifyCheckpoint,
} from '../../../servers/crawler/checkpoint.js';
import { takeComponents } from '../../../servers/crawler/component-state.js';
import type { CheckpointInfo, CrawlSnapshot, HostReport } from '../../../servers/crawler/control.js';
import type { CrawlControl } from '../../../servers/crawler/controller.js';
import { ManualClock } from '../../../servers/crawler/frontier/conformance/index.js';
import { type Candidate, DIRECTIVE, Frontier, type Prepared } from '../../../servers/crawler/index.js';
import { OfflineCrawl } from '../../../servers/crawler/offline-crawl.js';
import { type CrawlOrderInput, crawlOrderSchema } from '../../../servers/crawler/order/order.js';
import { Gatherer } from '../../../servers/gatherer/index.js';
import { GathererStore } from '../../../storage/index.js';
import { byTier } from '../../helpers/seed.js';
import { page, Site } from '../../helpers/site.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

const never = new AbortController().signal;
const PAGES = 60;

/** Returns a site of pages that link to each other. */
function pages(): Record<string, string> {
  const all: Record<string, string> = {};
  for (let i = 0; i < PAGES; i++)
    all[`/p${i}.html`] = page(
      `Page ${i}`,
      [1, 5, 17].map((step) => `/p${(i + step) % PAGES}.html`),
    );
  return all;
}

interface CrawlResult {
  readonly snapshot: CrawlSnapshot;
  readonly servers: readonly HostReport[];
  readonly resumed: boolean;
  readonly end: string;
}

/** Runs the crawl once; `onUri` is called with the number of each finished URI, from 1 on. */
async function crawl(
  directory: string,
  site: Site,
  input: CrawlOrderInput,
  onUri: (count: number, control: CrawlControl) => void = () => undefined,
): Promise<CrawlResult> {
  const text = `Gatherer-Name: Test\nAccess-Delay: 0\n<RootNodes>\n${site.url}/p0.html URL=500\n</RootNodes>\n`;
  let control: CrawlControl | undefined;
  let count = 0;
  await using gatherer = await Gatherer.open({
    directory,
    config: parseGathererConf(text, 'test.cf', {}).config,
    order: crawlOrderSchema.parse({
      logs: false,
      ...input,
      settings: { delayFactor: 0, minDelayMs: 1, maxDelayMs: 1 },
    }),
    essenceWorkers: 0,
    onControl: (running) => {
      control = running;
    },
    processors: {
      'post-process': [
        {
          name: 'counter',
          process: () => {
            if (control !== undefined) onUri(++count, control);
            return 'proceed';
          },
        },
      ],
    },
  });
  const { end, resumed } = await gatherer.run(never);
  if (control === undefined) throw new Error('there was no control');
  return { snapshot: control.snapshot(), servers: control.servers.report(), end, resumed };
}

/** Returns the attributes of all objects by URL, without the times. */
async function objectsOf(directory: string): Promise<Record<string, readonly string[]>> {
  await using store = await GathererStore.open(join(directory, 'working'));
  const objects: Record<string, readonly string[]> = {};
  for await (const summaries of store.summaries.iterate())
    for (const { url, soif } of summaries)
      objects[url] = decodeSoif(soif)
        .attributes.filter(({ name }) => !/-time$/i.test(name))
        .map(({ name, value }) => `${name}: ${Buffer.from(value).toString()}`);
  return objects;
}

/** Returns the contents of all files below a directory, by path. */
function filesOf(directory: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true }))
    if (entry.isFile())
      files[join(entry.parentPath, entry.name)] = readFileSync(join(entry.parentPath, entry.name), 'latin1');
  return files;
}

for (const seen of byTier(['disk-merge'] as const, ['level', 'memory-set', 'disk-merge'] as const)) {
  t.test(`CRAWL-17.3 a checkpoint of a running crawl is restored, seen filter ${seen}`, async (t) => {
    await using site = await Site.start(pages());
    const undisturbed = await temporaryDirectory(t);
    const { snapshot: whole } = await crawl(undisturbed, site, { seen });
    const directory = await temporaryDirectory(t);
    const taken: Promise<CheckpointInfo>[] = [];
    const first = await crawl(directory, site, { seen }, (count, control) => {
      if (count === 20 || count === 40) taken.push(control.checkpoint());
    });
    const [one, two] = await Promise.all(taken);
    t.equal(first.end, 'finished', 'the crawl continues after its checkpoints');
    const checkpoints = join(directory, 'crawl', 'checkpoints');
    t.same(await listCheckpoints(checkpoints), [one?.name, two?.name]);
    t.ok(
      one !== undefined && one.succeeded >= 19 && one.succeeded < PAGES,
      'the first checkpoint was taken in the middle of the crawl',
    );
    t.same(await readCheckpointInfo(checkpoints, one?.name ?? ''), one);

    const before = filesOf(join(checkpoints, one?.name ?? ''));
    for (const round of seen === 'level' ? ['first', 'second'] : ['first']) {
      const restored = await restoreCheckpoint(directory, checkpoints, one?.name ?? '');
      t.equal(restored.checkpoint.succeeded, one?.succeeded);
      t.ok(
        restored.former.every((path) => existsSync(path)) && restored.former.length > 0,
        'the replaced files are kept',
      );
      {
        await using offline = await OfflineCrawl.open(directory);
        const { queued, succeeded, bytes, run, seenFilter } = (await offline?.snapshot()) ?? {};
        t.same(
          { queued, succeeded, bytes },
          { queued: one?.queued, succeeded: one?.succeeded, bytes: one?.bytes },
        );
        t.equal(run, 'interrupted');
        t.equal(seenFilter?.kind, seen);
      }
      site.requests.length = 0;
      const again = await crawl(directory, site, { seen });
      t.ok(again.resumed, `${round} restoration: the run continues`);
      t.equal(site.paths.length, PAGES - (one?.succeeded ?? 0), 'only unfinished pages are requested');
      t.same(await objectsOf(directory), await objectsOf(undisturbed), 'as in an undisturbed crawl');
      const { succeeded, failed, disregarded, bytes, discovered, queued } = again.snapshot;
      t.same(
        { succeeded, failed, disregarded, bytes, discovered, queued },
        {
          succeeded: whole.succeeded,
          failed: whole.failed,
          disregarded: whole.disregarded,
          bytes: whole.bytes,
          discovered: whole.discovered,
          queued: 0,
        },
        'CRAWL-17.2.2 the counts are those of an undisturbed crawl',
      );
      t.equal(again.servers[0]?.successes, PAGES, 'the counts of the server include both runs');
      t.ok(again.snapshot.elapsed > 0);
    }
    t.same(filesOf(join(checkpoints, one?.name ?? '')), before, 'CRAWL-17.3.2 the checkpoint is unchanged');
    await verifyCheckpoint(join(checkpoints, one?.name ?? ''));
  });
}

t.test('CRAWL-17.3.1 a stopped crawl stores its statistics for the next run', async (t) => {
  await using site = await Site.start(pages());
  const directory = await temporaryDirectory(t);
  const first = await crawl(directory, site, {}, (count, control) => {
    if (count === 20) control.stop();
  });
  t.equal(first.end, 'ended by operator');
  t.ok(first.snapshot.succeeded < PAGES);
  const second = await crawl(directory, site, {});
  t.equal(second.snapshot.succeeded, PAGES);
  t.equal(second.servers[0]?.successes, PAGES);
  t.equal(await takeComponents(join(directory, 'crawl')), undefined, 'the next run consumed the statistics');
});

/** Opens the components whose state a checkpoint contains: a store, its seen filter and a frontier. */
async function openComponents(directory: string, clock: ManualClock) {
  const store = await GathererStore.open(join(directory, 'working'));
  const seen = await store.openSeenFilter();
  const prepare = ({ url }: { url: string }): Prepared => ({
    classKey: new URL(url).hostname,
    seenKey: url,
    directive: DIRECTIVE.normal,
    cost: 1,
    precedence: 1,
    budgets: { replenish: 3000, totalBudget: -1 },
  });
  const frontier = await Frontier.open({ store, seen, prepare, clock, targetReadyBacklog: 2 });
  return { store, seen, frontier };
}

t.test('CRAWL-17.2.2 a restored frontier has the ordinal, counts and queues', async (t) => {
  const directory = await temporaryDirectory(t);
  const clock = new ManualClock(Date.now());
  const { store, seen, frontier } = await openComponents(directory, clock);
  const common = {
    via: '',
    pathFromSeed: '',
    root: 0,
    depth: 0,
    isLeaf: false,
    forceFetch: false,
    sourceTag: '',
  };
  const candidates = (host: string, count: number): Candidate[] =>
    Array.from({ length: count }, (_, i) => ({ ...common, url: `http://${host}/${i}` }));
  const finish = async (outcome: 'success' | 'failed' | 'disregarded' | 'retire', delayMs = 0) => {
    const entry = await frontier.next(never);
    if (entry === undefined) throw new Error('nothing is ready');
    await frontier.finished(entry, { outcome, delayMs, reason: 'politeness', bytes: 10 }, store.batch());
    return entry.classKey;
  };
  await frontier.schedule(candidates('snoozed', 5));
  t.equal(await finish('success', 60_000), 'snoozed');
  await frontier.schedule(candidates('retired', 4));
  t.equal(await finish('retire'), 'retired');
  await frontier.schedule(candidates('failed', 1));
  t.equal(await finish('failed'), 'failed');
  await frontier.schedule(candidates('disregarded', 1));
  t.equal(await finish('disregarded'), 'disregarded');
  await frontier.schedule(candidates('at-work', 3));
  const inProcess = await frontier.next(never);
  t.equal(inProcess?.classKey, 'at-work');
  for (const host of ['ready-1', 'ready-2', 'inactive-1', 'inactive-2'])
    await frontier.schedule(candidates(host, 2));
  t.match(frontier.figures.queues, { snoozed: 1, retired: 1, 'in-process': 1, ready: 2, inactive: 2 });

  const checkpoints = await Checkpoints.open(join(directory, 'crawl', 'checkpoints'), {
    store,
    kept: 3,
    atRest: (work) => frontier.atRest(work),
    components: () => ({ frontier: frontier.counts }),
    rotate: async () => undefined,
  });
  const { queued, succeeded, failed, disregarded, bytes, discovered } = frontier.counts;
  const { name } = await checkpoints.take();
  if (inProcess !== undefined)
    await frontier.finished(inProcess, { outcome: 'success', delayMs: 0 }, store.batch());
  await frontier.settled();
  frontier.close();
  await seen.close();
  await store.close();

  await restoreCheckpoint(directory, checkpoints.directory, name);
  const restored = await openComponents(directory, clock);
  t.match(restored.frontier.counts, { queued, succeeded, failed, disregarded, bytes, discovered });
  t.match(
    restored.frontier.figures.queues,
    { snoozed: 1, retired: 1, 'in-process': 0, ready: 3, inactive: 2 },
    'the queue that a worker held is ready again',
  );
  const reports = await restored.frontier.reports();
  t.same(
    reports.map(({ classKey, count, reason }) => [classKey, count, reason]),
    [
      ['at-work', 3, undefined],
      ['inactive-1', 2, 'backlog'],
      ['inactive-2', 2, 'backlog'],
      ['ready-1', 2, undefined],
      ['ready-2', 2, undefined],
      ['retired', 4, 'politeness'],
      ['snoozed', 4, 'politeness'],
    ],
  );
  t.equal(reports.find(({ classKey }) => classKey === 'snoozed')?.wakeTime, clock.now() + 60_000);
  // 5 + 4 + 1 + 1 + 3 + 8 URIs were queued before.
  await restored.frontier.schedule(candidates('new', 1));
  t.equal((await restored.store.queues.head('new'))?.ordinal, 23, 'the ordinals continue');
  await restored.frontier.settled();
  restored.frontier.close();
  await restored.seen.close();
  await restored.store.close();
});

/** Opens a store with one row; returns the directory and the options of its checkpoints. */
async function storeWithRow(t: Test, options: Partial<CheckpointsOptions> = {}) {
  const directory = await temporaryDirectory(t);
  const store = await GathererStore.open(join(directory, 'working'));
  await store.batch().putMeta('some', 'row').commit();
  const checkpointsDirectory = join(directory, 'crawl', 'checkpoints');
  const checkpointsOptions: CheckpointsOptions = {
    store,
    kept: 2,
    atRest: (work) => work(),
    components: () => ({ frontier: { queued: 0, succeeded: 0, bytes: 0 } }),
    rotate: async () => undefined,
    ...options,
  };
  t.teardown(() => store.close());
  return { directory, store, checkpointsDirectory, checkpointsOptions };
}

t.test('CRAWL-17.3.2 the error of a damaged checkpoint names the problem', async (t) => {
  const { checkpointsDirectory, checkpointsOptions } = await storeWithRow(t);
  const checkpoints = await Checkpoints.open(checkpointsDirectory, checkpointsOptions);
  const { directory } = await checkpoints.take();
  const copy = `${directory}-copy`;
  const problem = async (damage: (directory: string) => void): Promise<string> => {
    rmSync(copy, { recursive: true, force: true });
    cpSync(directory, copy, { recursive: true });
    damage(copy);
    const before = filesOf(copy);
    const error: unknown = await verifyCheckpoint(copy).catch((thrown: unknown) => thrown);
    t.same(filesOf(copy), before, 'a verification does not change the checkpoint');
    return error instanceof Error ? error.message.replace(copy, 'CP') : 'nothing';
  };
  const manifest = readdirSync(join(directory, 'store')).find((name) => name.startsWith('MANIFEST')) ?? '';
  t.equal(await problem(() => undefined), 'nothing');
  t.equal(await problem((directory) => rmSync(join(directory, 'valid'))), 'CP/valid is missing');
  t.equal(
    await problem((directory) => rmSync(join(directory, 'manifest.json'))),
    'CP/manifest.json is missing',
  );
  t.equal(
    await problem((directory) => truncateSync(join(directory, 'manifest.json'), 20)),
    'CP/manifest.json is damaged',
  );
  t.equal(
    await problem((directory) => rmSync(join(directory, 'store', 'CURRENT'))),
    'CP/store/CURRENT is missing',
  );
  t.match(
    await problem((directory) => appendFileSync(join(directory, 'store', manifest), 'x')),
    /CP\/store\/MANIFEST-\d+ has \d+ bytes instead of \d+/,
  );
  t.equal(
    await problem((directory) =>
      writeFileSync(join(directory, 'store', 'CURRENT'), `${manifest.replace(/\d/g, '9')}\n`),
    ),
    'CP/store/CURRENT was changed',
  );
  t.equal(
    await problem((directory) => writeFileSync(join(directory, 'store', '999999.log'), 'x')),
    'CP/store/999999.log does not belong to this checkpoint',
  );
  t.equal(
    await problem((directory) => truncateSync(join(directory, 'components.json'), 1)),
    'CP/components.json has 1 bytes instead of 49',
  );
  t.same(
    await listCheckpoints(checkpointsDirectory),
    [(await listCheckpoints(checkpointsDirectory)).at(-1)],
    'the name of the copy is not that of a checkpoint',
  );
});

t.test('CRAWL-17.3 old checkpoints and the leftover files of a killed process are removed', async (t) => {
  const { checkpointsDirectory, checkpointsOptions } = await storeWithRow(t);
  const first = await Checkpoints.open(checkpointsDirectory, checkpointsOptions);
  const names: string[] = [];
  for (let i = 0; i < 3; i++) names.push((await first.take()).name);
  t.same(
    names.map((name) => name.slice(0, 7)),
    ['cp00001', 'cp00002', 'cp00003'],
  );
  t.same(readdirSync(checkpointsDirectory).sort(), names.slice(1), 'the last two checkpoints are kept');
  mkdirSync(join(checkpointsDirectory, 'cp00004-20260101000000.tmp', 'store'), { recursive: true });
  mkdirSync(join(checkpointsDirectory, 'cp00003-20260101000000.probe-abcdef'));
  mkdirSync(join(checkpointsDirectory, 'mine'));
  mkdirSync(join(checkpointsDirectory, 'cp100000-20270101000000'));
  const second = await Checkpoints.open(checkpointsDirectory, checkpointsOptions);
  t.equal(second.newest, 'cp100000-20270101000000', 'the number decides, not the order of the names');
  rmSync(join(checkpointsDirectory, 'cp100000-20270101000000'), { recursive: true });
  t.same(readdirSync(checkpointsDirectory).sort(), [...names.slice(1), 'mine']);
  t.match((await second.take()).name, /^cp100001-/);
});

t.test('CRAWL-17.3 a failure in a checkpoint leaves the crawl and other checkpoints intact', async (t) => {
  const faults = { components: false, rotate: false };
  const { store, checkpointsDirectory, checkpointsOptions } = await storeWithRow(t, {
    components: () => {
      if (faults.components) throw new Error('no room');
      return { frontier: { queued: 0, succeeded: 0, bytes: 0 } };
    },
    rotate: async () => {
      if (faults.rotate) throw new Error('no room');
    },
  });
  const checkpoints = await Checkpoints.open(checkpointsDirectory, checkpointsOptions);
  const intact = await checkpoints.take();
  faults.components = true;
  await t.rejects(checkpoints.take(), { message: /^checkpoint cp00002-\d+: no room$/ });
  t.same(readdirSync(checkpointsDirectory), [intact.name], 'the failed checkpoint leaves no files');
  t.equal(checkpoints.newest, intact.name);
  await store.batch().putMeta('another', 'row').commit();
  faults.components = false;
  faults.rotate = true;
  await t.rejects(checkpoints.take(), {
    message: /^checkpoint cp00003-\d+ is taken, but the logs are not rotated: no room$/,
  });
  t.match(checkpoints.newest, /^cp00003-/, 'the checkpoint is valid nevertheless');
  await verifyCheckpoint(join(checkpointsDirectory, checkpoints.newest));
  faults.rotate = false;
  const concurrent = await Promise.all([checkpoints.take(), checkpoints.take()]);
  t.same(
    concurrent.map(({ name }) => name.slice(0, 7)),
    ['cp00004', 'cp00005'],
    'concurrent requests take one checkpoint after the other',
  );
  rmSync(checkpointsDirectory, { recursive: true });
  writeFileSync(checkpointsDirectory, 'in the way');
  await t.rejects(checkpoints.take(), { message: /EEXIST|ENOTDIR/ });
  t.equal(await store.meta.get('another'), 'row', 'the store is open again');
});

t.test('CRAWL-17.2.2 a store that is open is not replaced', async (t) => {
  const { directory, store, checkpointsDirectory, checkpointsOptions } = await storeWithRow(t);
  const checkpoints = await Checkpoints.open(checkpointsDirectory, checkpointsOptions);
  const { name } = await checkpoints.take();
  await t.rejects(restoreCheckpoint(directory, checkpointsDirectory, name), { message: /in use/ });
  await t.rejects(restoreCheckpoint(directory, checkpointsDirectory, 'cp00009-20260101000000'), {
    message: /has no checkpoint/,
  });
  t.equal(await store.meta.get('some'), 'row');
});
