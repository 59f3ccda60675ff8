// The console of one process shows all that share a crawl.
import t from 'tap';
import type { CrawlSnapshot } from '../../../servers/crawler/control.js';
import { type FiguresSource, SharedFigures } from '../../../servers/gatherer/run/shared-figures.js';
import { GathererStore } from '../../../storage/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { FakeCrawl } from '../crawler/fake-control.js';

const ALL = new Set(['a', 'b']);

function source(partitions: number, changes: Partial<CrawlSnapshot>, processes = ALL): FiguresSource {
  const crawl = new FakeCrawl();
  crawl.snapshotChanges = changes;
  return { snapshot: () => crawl.snapshot(), partitions, processes };
}

t.test('figures are those of all processes, as they were stored last', async (t) => {
  await using store = await GathererStore.open(await temporaryDirectory(t));
  const [a, b] = [new SharedFigures(store, 'a'), new SharedFigures(store, 'b')];
  const ofA = source(100, { succeeded: 10, bytes: 7, deepestQueue: 3, memoryBytes: 1, elapsed: 5 });
  const ofB = source(156, { succeeded: 32, bytes: 1, deepestQueue: 9, memoryBytes: 2, elapsed: 8 });
  t.match(a.all(ofA), { succeeded: 10, processes: [{ name: 'a' }] }, 'none is known yet');
  await a.renew(ofA);
  await b.renew(ofB);
  await a.renew(ofA);
  const shown = a.all(ofA);
  t.match(shown, { succeeded: 42, bytes: 8, deepestQueue: 9, memoryBytes: 1, elapsed: 8 });
  t.match(shown.processes, [
    { name: 'a', partitions: 100, succeeded: 10 },
    { name: 'b', partitions: 156, succeeded: 32 },
  ]);
  t.equal(shown.processes?.length, 2);
  const { queues } = ofA.snapshot();
  t.equal(shown.queues.snoozed, 2 * queues.snoozed);
});

t.test('a process that is gone is shown no more, and its row is deleted', async (t) => {
  await using store = await GathererStore.open(await temporaryDirectory(t));
  const [a, b] = [new SharedFigures(store, 'a'), new SharedFigures(store, 'b')];
  await b.renew(source(156, {}));
  const alone = source(256, {}, new Set(['a']));
  await a.renew(alone);
  t.same(
    a.all(alone).processes?.map(({ name }) => name),
    ['a'],
  );
  await a.renew(source(256, {}));
  t.equal(a.all(alone).processes?.length, 1, 'nor when its name comes back without figures');
});
