// A Broker collects from gatherd: requests by type, resumption, changes, expiry, and the index that follows the
// store.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import type { CollectionPoint } from '../../../../protocols/config/index.js';
import { nextRun } from '../../../../servers/broker/admin/timetable.js';
import type { CollectEvent } from '../../../../servers/broker/index.js';
import { collectChannel, pointKey } from '../../../../servers/broker/index.js';
import { GatherdServer } from '../../../../servers/gatherd/index.js';
import { GathererStore } from '../../../../storage/index.js';
import { gate } from '../../../helpers/gate.js';
import {
  corpus,
  document,
  findUrls,
  type GathererDocument,
  NOW,
  openBroker,
  ScriptedGatherd,
  soif,
  startScripted,
  storeObject,
  type Teardown,
} from '../helpers.js';

/** Opens a broker with one collection point: a gatherd that sends the small corpus. */
async function collecting(t: Teardown, type: CollectionPoint['type'] = 0) {
  const server = await startScripted(t);
  return { server, ...(await openBroker(t, { points: [server.point(type)] })) };
}

/** The newest Update-Time of the corpus. */
const LAST = NOW - 9997;

t.test('GATHERD-13.4: the type determines the request', async (t) => {
  for (const [type, first, second] of [
    [0, ['SEND-UPDATE 0'], ['SEND-UPDATE 0']],
    [1, ['SEND-UPDATE 0'], [`SEND-UPDATE ${LAST}`]],
    [2, ['SET compression', 'SEND-UPDATE 0'], ['SET compression', 'SEND-UPDATE 0']],
    [3, ['SET compression', 'SEND-UPDATE 0'], ['SET compression', `SEND-UPDATE ${LAST}`]],
  ] as const) {
    const server = await startScripted(t);
    const { broker } = await openBroker(t, { points: [server.point(type)] });
    const commands = () => server.commands.splice(0).filter((line) => /^SEND|compression|QUIT/.test(line));

    const report = await broker.collections.run();
    t.match(report.totals, { added: 3, duplicates: 0, rejected: 0 }, `type ${type} adds all objects`);
    t.same(commands(), [...first, 'QUIT'], `type ${type}, first collection`);
    t.equal(report.points[0]?.complete, true);

    const again = await broker.collections.run();
    t.same(commands(), [...second, 'QUIT'], `type ${type}, second collection`);
    t.match(again.totals, { added: 0, updated: 0 }, 'a repeated object is a duplicate');
    t.equal(again.totals.duplicates, again.received);
    t.equal(broker.store.count, 3);
    t.equal(broker.keeper.lag, 0);
  }
});

t.test('GATHERD-13.6: an incomplete transfer does not change <last>; what arrived is kept', async (t) => {
  const server = await startScripted(t);
  const point = server.point(1);
  const limits = { maxFailures: 2, retryPauseMs: 1 };
  const { broker, log } = await openBroker(t, { points: [point], limits });
  server.breakAfter = 800;
  server.onUpdate = () => {
    if (server.commands.filter((line) => line.startsWith('SEND-UPDATE')).length > 1) server.breakAfter = 50;
  };
  const report = await broker.collections.run();
  server.onUpdate = undefined;
  t.equal(report.points[0]?.complete, false);
  t.type(report.points[0]?.error, 'string');
  t.ok(broker.store.count > 0 && broker.store.count < 3, `${broker.store.count} of 3 objects`);
  t.ok(
    (await findUrls(broker, 'gopher')).includes('http://www.example.org/gopher.html'),
    'the objects that arrived are indexed',
  );
  t.equal((await broker.store.points.get(pointKey(point)))?.last ?? 0, 0);
  t.ok(log.some((line) => /ERROR: .*incomplete/.test(line)));

  server.breakAfter = undefined;
  const again = await broker.collections.run();
  t.equal(again.points[0]?.since, 0);
  t.equal(broker.store.count, 3);
  t.equal((await broker.store.points.get(pointKey(point)))?.last, LAST);
});

t.test('GATHERD-13.7: a broken transfer is resumed and delivers each object once', async (t) => {
  const server = await startScripted(t);
  const { broker, log } = await openBroker(t, { points: [server.point(1)], limits: { retryPauseMs: 1 } });
  server.breakAfter = 800;
  server.onUpdate = () => {
    if (server.commands.filter((line) => line.startsWith('SEND-UPDATE')).length > 1)
      server.breakAfter = undefined;
  };
  const report = await broker.collections.run();
  t.match(report.points[0], { complete: true, connections: 2, received: 3, added: 3, duplicates: 0 });
  t.equal(broker.store.count, 3);
  t.ok(log.some((line) => line.includes('the transfer is resumed in 1 ms')));
});

t.test('BRK-7.14: an object that has expired is not added, and deletes its predecessor', async (t) => {
  const { server, broker } = await collecting(t);
  await broker.collections.run();
  const expired = (url: string) =>
    document(url, { Title: 'gone' }, NOW - 100).replace('{7}:\t2419200', '{2}:\t50');
  server.documents = [
    ...server.documents.slice(1),
    { updateTime: NOW - 100, text: expired('http://www.example.org/gopher.html') },
    { updateTime: NOW - 100, text: expired('http://www.example.org/never.html') },
  ];
  for (const deleted of [1, 0]) {
    const sequence = broker.store.lastSequence;
    const report = await broker.collections.run();
    t.match(report.totals, { added: 0, updated: 0, deleted, rejected: 0 });
    t.equal(report.points[0]?.expired, 2);
    t.equal(report.expired, 0, 'the cleaning finds no expired object');
    t.equal(broker.store.lastSequence - sequence, deleted, 'only the deletion is written');
  }
  t.equal(broker.store.count, 2);
});

t.test('GATHERD-13.6: an object of the far future is stored but does not become <last>', async (t) => {
  const server = await startScripted(t);
  server.documents.push({
    updateTime: 4_000_000_000,
    text: document('http://x.example/', {}, 4_000_000_000),
  });
  const { broker } = await openBroker(t, { points: [server.point(3)] });
  await broker.collections.run();
  t.equal(broker.store.count, 4);
  t.equal((await broker.store.points.get(pointKey(server.point(3))))?.last, LAST);
});

t.test('BRK-7.12: a point that fails is logged, and the collection goes on with the next', async (t) => {
  const closed = await ScriptedGatherd.listen();
  const deadPoint = closed.point(0);
  await closed.close();
  const server = await startScripted(t);
  const bulk: CollectionPoint = { ...deadPoint, type: 4 };
  const limits = { maxFailures: 1 };
  const { broker, log } = await openBroker(t, { points: [deadPoint, bulk, server.point(0)], limits });
  const report = await broker.collections.run();
  t.same(
    report.points.map((point) => point.complete),
    [false, false, true],
  );
  t.equal(broker.store.count, 3);
  t.equal(log.filter((line) => line.includes(`127.0.0.1:${deadPoint.port}: incomplete`)).length, 2);
});

t.test('GATHERD-13.8: the log says that deleted objects were not known', async (t) => {
  const { server, broker, log } = await collecting(t);
  server.sections = `@DELETE {\n${soif('http://gone.example/1', {})}}\n@REFRESH {\n}\n@UPDATE {\n}\n`;
  const one = await broker.collections.run();
  t.match(one.totals, { deleted: 0, duplicates: 0, absent: 1, rejected: 0 });
  t.match(log.join('\n'), /: 1 deletion of an unknown object \(since 0\)/);
  const expired = document('http://old.example/', { Title: 'old' }, NOW - 3_000_000);
  server.sections = `@DELETE {\n${soif('http://gone.example/1', {})}${soif('http://gone.example/2', {})}}\n@REFRESH {\n}\n@UPDATE {\n${expired}}\n`;
  await broker.collections.run();
  t.match(
    log.join('\n'),
    /: 1 duplicates, 2 deletions of unknown objects, 1 already expired \(/,
    'an object that has expired on arrival is not such a deletion',
  );
});

t.test('GATHERD-13.8: updates, refreshes and deletions are applied and indexed', async (t) => {
  const { server, broker } = await collecting(t, 1);
  await broker.collections.run();
  const later = String(NOW - 500);
  const gatherer = {
    'Gatherer-Name': 'Example Gatherer',
    'Gatherer-Host': 'gatherer.example.org',
    'Gatherer-Version': '1.8',
  };
  server.sections = [
    '@DELETE {\n',
    soif('http://www.example.org/mosaic.html', gatherer),
    '}\n@REFRESH {\n',
    soif('ftp://ftp.example.org/wais.txt', { ...gatherer, 'Update-Time': later }),
    '}\n@UPDATE {\n',
    document('http://www.example.org/gopher.html', { Title: 'Veronica' }, NOW - 500),
    '}\n',
  ].join('');
  const { totals } = await broker.collections.run();
  t.match(totals, { added: 0, updated: 1, refreshed: 1, deleted: 1, rejected: 0 });
  t.same(await findUrls(broker, 'mosaic'), []);
  t.same(await findUrls(broker, 'veronica'), ['http://www.example.org/gopher.html']);
  const found = ['ftp://ftp.example.org/wais.txt', 'http://www.example.org/gopher.html'];
  t.same(await findUrls(broker, 'gopher'), found);
  const [refreshed] = await broker.store.byUrl('ftp://ftp.example.org/wais.txt');
  t.equal(refreshed?.updateTime, NOW - 500);
});

t.test('GATHERD-4.4, 5: an object that is refreshed but not stored is requested', async (t) => {
  const { server, broker } = await collecting(t, 1);
  const known = server.documents[0]!.text.split(/[ \n]/)[2]!;
  const refresh = (url: string): string => soif(url, { 'Update-Time': String(NOW - 400) });
  server.sections = `@REFRESH {\n${refresh(known)}${refresh('http://unknown.example/')}}\n`;
  const report = await broker.collections.run();
  t.match(report.totals, { added: 1, refreshed: 0, rejected: 1 });
  t.same(server.commands.slice(-3), [`SEND-OBJECT ${known}`, 'SEND-OBJECT http://unknown.example/', 'QUIT']);
  t.equal((await broker.store.byUrl(known)).length, 1);
  t.match(report.points[0]?.reasons, ['refresh of http://unknown.example/: the object is not known']);
});

t.test('BRK-7.9: objects without Gatherer attributes are rejected, malformed ones skipped', async (t) => {
  const server = await startScripted(t);
  server.sections = `@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n${soif('http://a.example/', { Title: 'no gatherer' })}@FILE { http://b.example/\nTitle{x}:\tbad size\n}\n${document('http://c.example/', { Title: 'good' })}}\n`;
  const { broker } = await openBroker(t, { points: [server.point(0)] });
  const report = await broker.collections.run();
  t.match(report.totals, { added: 1, rejected: 1 });
  t.ok((report.points[0]?.malformed ?? 0) > 0);
  t.ok(report.points[0]?.reasons.some((reason) => reason.includes('Gatherer-Name')));
  t.same(await findUrls(broker, 'good'), ['http://c.example/']);
});

t.test('BRK-7.13: queries run during a collection, and a second call joins it', async (t) => {
  const { server, broker } = await collecting(t);
  await broker.collections.run();
  const sending = gate();
  server.gate = sending.opened;
  const first = broker.collections.run();
  const second = broker.collections.run();
  t.equal(broker.collections.running, true);
  t.same(await findUrls(broker, 'mosaic'), ['http://www.example.org/mosaic.html']);
  sending.open();
  t.equal(await first, await second);
  t.equal(broker.collections.running, false);
  t.equal(server.commands.filter((line) => line.startsWith('SEND')).length, 2);
});

t.test('BRK-7.14: expired objects are deleted at the start and after each collection', async (t) => {
  const { broker, open } = await collecting(t);
  await broker.collections.run();
  await broker.close();
  const later = await open({ now: () => NOW + 3_000_000, points: [] });
  t.equal(later.store.count, 3, 'all at once, after a month without a Broker: the clock may be wrong');
  t.equal(await later.maintenance.clean(true), 3, 'the administrator says that it is right');
  t.equal(later.store.count, 0);
  t.same(await findUrls(later, 'gopher'), []);
  t.equal((await later.collections.run()).expired, 0);
});

t.test('BRK-6.3: mode new drops every object and requests everything', async (t) => {
  const { server, broker } = await collecting(t, 1);
  await broker.collections.run();
  server.documents = server.documents.slice(0, 1);
  await broker.start('new');
  await broker.collections.run();
  t.same(
    server.commands.filter((line) => line.startsWith('SEND')),
    ['SEND-UPDATE 0', 'SEND-UPDATE 0'],
  );
  t.equal(broker.store.count, 1);
  t.same(await findUrls(broker, 'gopher'), ['http://www.example.org/gopher.html']);
  await t.rejects(broker.start('nocol'), { code: 'ERR_STATE' });
});

t.test('DESIGN 4: the index catches up from its watermark, and is rebuilt if it is lost', async (t) => {
  const { broker, open, directory } = await collecting(t);
  await broker.collections.run();
  await broker.close();
  await rm(join(directory, 'index'), { recursive: true });
  const rebuilt = await open();
  t.equal(rebuilt.keeper.lag, 0);
  t.same(await findUrls(rebuilt, 'mosaic'), ['http://www.example.org/mosaic.html']);

  // Changes that reached the store but not the index, as after a crash between the two.
  const text = document('http://www.example.org/new.html', { Title: 'Mosaic two' });
  await storeObject(rebuilt, text);
  await rebuilt.close();
  const caughtUp = await open();
  t.equal(caughtUp.keeper.lag, 0);
  t.same(await findUrls(caughtUp, 'mosaic'), [
    'http://www.example.org/mosaic.html',
    'http://www.example.org/new.html',
  ]);

  // An index that is ahead of the store belongs to another store.
  await caughtUp.close();
  await rm(join(directory, 'store'), { recursive: true });
  const empty = await open();
  t.same(await findUrls(empty, 'mosaic'), []);
});

t.test('the collection reports its progress on a diagnostics channel', async (t) => {
  const { broker } = await collecting(t);
  const events: CollectEvent[] = [];
  const listener = (message: unknown) => events.push(message as CollectEvent);
  collectChannel.subscribe(listener);
  t.teardown(() => collectChannel.unsubscribe(listener));
  await broker.collections.run();
  t.same(
    events.map(({ event }) => event),
    ['start', 'point', 'end'],
  );
});

t.test('GATHERD-13.4: a Broker collects a published generation from our own gatherd', async (t) => {
  const directory = t.testdir();
  const store = await GathererStore.open(join(directory, 'working'));
  t.teardown(() => store.close());
  const publish = async (documents: readonly GathererDocument[]) => {
    const batch = store.batch();
    for (const { updateTime, text } of documents) {
      const url = /\{ (\S+)/.exec(text)?.[1] ?? '';
      batch.putSummary({ url, updateTime, timeToLive: 2_419_200, soif: Buffer.from(text) });
    }
    await batch.commit();
    await store.publish(join(directory, 'generations'));
  };
  await publish(corpus());
  for (const type of [1, 3] as const) {
    const { broker, log } = await openBroker(t);
    const server = await GatherdServer.listen({
      generationsDirectory: join(directory, 'generations'),
      host: '127.0.0.1',
      port: 0,
      log: broker.log,
    });
    t.teardown(() => server.close());
    await broker.close();
    const { broker: collecting } = await openBroker(t, {
      points: [{ host: '127.0.0.1', port: server.address.port, type, line: 1 }],
    });
    t.match((await collecting.collections.run()).totals, { added: 3, rejected: 0 }, `type ${type}`);
    const again = await collecting.collections.run();
    t.match(again, { received: 0, totals: { duplicates: 0 } }, 'GATHERD-6.13 nothing has changed');
    t.same(await findUrls(collecting, 'browser'), ['http://www.example.org/mosaic.html']);
    t.same(
      log.filter((line) => line.includes('ERROR')),
      [],
    );
  }
});

t.test('BRK-7.11: the next collection starts at its time of day, then at every interval', async (t) => {
  const unixTime = (text: string) => Date.parse(text) / 1000;
  const threeOClock = 3 * 3600;
  t.equal(nextRun(unixTime('2026-03-10T01:00:00'), threeOClock, 86_400), unixTime('2026-03-10T03:00:00'));
  t.equal(nextRun(unixTime('2026-03-10T03:00:00'), threeOClock, 86_400), unixTime('2026-03-11T03:00:00'));
  t.equal(nextRun(unixTime('2026-03-10T05:30:00'), threeOClock, 3600), unixTime('2026-03-10T06:00:00'));
  t.equal(nextRun(unixTime('2026-03-10T00:12:00'), threeOClock + 120, 3600), unixTime('2026-03-10T01:02:00'));
});
