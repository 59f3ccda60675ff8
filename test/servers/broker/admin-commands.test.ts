// Administration of a Broker over its port: the commands of BRK-5, the event log, and #set.
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { ADMIN_COMMANDS, buildAdminCommand } from '../../../protocols/broker/index.js';
import { setBrokerVariable } from '../../../protocols/config/index.js';
import { executeAdmin, LOG_TYPES } from '../../../servers/broker/index.js';
import { gate } from '../../helpers/gate.js';
import {
  type BrokerFixture,
  brokerConfig,
  corpus,
  document,
  exchange,
  findUrls,
  NOW,
  openBroker,
  serveBroker,
  soif,
  startScripted,
  storeObject,
} from './helpers.js';

const VERSION = '200 - HARVEST Broker 1.0\n';
const GOPHER = 'http://www.example.org/gopher.html';
const WAIS = 'ftp://ftp.example.org/wais.txt';
const MOSAIC = 'http://www.example.org/mosaic.html';

/**
 * Serves a broker over the small corpus; `admin` sends a command and returns the reply without the version
 * line.
 */
async function openAdministered(t: Test, conf = '', options: Parameters<typeof openBroker>[1] = {}) {
  const fixture = await openBroker(t, { conf, ...options });
  for (const { text } of corpus()) await storeObject(fixture.broker, text);
  await fixture.broker.keeper.settle();
  const server = await serveBroker(t, fixture, { shutdown: () => undefined, adminPatienceMs: 60_000 });
  const { port } = server.address;
  const admin = async (command: string): Promise<string> =>
    (await exchange(port, `#ADMIN #Password "open sesame" ${command}\r\n`)).slice(VERSION.length);
  return { ...fixture, port, admin };
}

/** Returns the lines of `admin/LOG`. */
async function readEvents({
  broker,
  directory,
}: Pick<BrokerFixture, 'broker' | 'directory'>): Promise<string[]> {
  await broker.events.flush();
  return readFileSync(join(directory, 'admin', 'LOG'), 'utf8')
    .split('\n')
    .slice(0, -1);
}

/** The line after a deletion: the index follows the store without a command. */
const INDEX_FOLLOWS = '101 - The index is up to date; Index corpus is not needed\n';

t.test('BRK-5.1: every command has a title, and typed text becomes a command', (t) => {
  t.equal(
    ADMIN_COMMANDS.map(({ title }) => title).join(', '),
    'Add objects by file, Close log, Compress Registry, Delete expired objects, ' +
      'Delete older objects of duplicate URLs, Delete objects by oid, Delete objects by query, ' +
      'Disable log type, Enable log type, Flush log, Generate statistics, Index changes, Index corpus, ' +
      'Open log, Remove object by name, Restart server, Rotate log file, Set variable, Shutdown server, ' +
      'Start collection',
  );
  t.same(buildAdminCommand('#Collection', []), { kind: 'collection' });
  t.same(buildAdminCommand('rem-object-oid', ['17', '18 19']), {
    kind: 'rem-object-oid',
    oids: [17, 18, 19],
  });
  t.same(buildAdminCommand('add-object', ['a b.soif']), { kind: 'add-object', files: ['a', 'b.soif'] });
  t.same(buildAdminCommand('set', ['Home-Page', 'http://x/', 'y']), {
    kind: 'set',
    name: 'Home-Page',
    value: 'http://x/ y',
  });
  t.match(buildAdminCommand('rem-object-query', ['title', ':', '"a b"']), {
    query: { kind: 'select', attribute: 'title', value: 'a b' },
  });
  t.same(buildAdminCommand('open-log', []), { kind: 'open-log' });
  t.throws(() => buildAdminCommand('frobnicate', []), { code: 'ERR_USAGE' });
  t.throws(() => buildAdminCommand('collection', ['now']), { code: 'ERR_USAGE' });
  t.throws(() => buildAdminCommand('rem-object-oid', ['x']), { code: 'ERR_PROTOCOL', rule: 'BRK-5.5' });
  t.throws(() => buildAdminCommand('set', ['x']), { code: 'ERR_PROTOCOL', rule: 'BRK-5.1' });
  t.end();
});

t.test('BRK-5.1: objects are deleted by oid, by name, by query', async (t) => {
  const fixture = await openAdministered(t);
  const { admin, broker } = fixture;
  t.equal(
    await admin('#rem-object-oid "3 99 3"'),
    `101 - Deleted 1 objects\n${INDEX_FOLLOWS}`,
    'BRK-5.5: a list of oids; unknown and repeated ones do not count',
  );
  t.same(await findUrls(broker, 'Mosaic'), [], 'BRK-5.6: the index is up to date');
  t.equal(broker.store.count, 2);
  t.equal(
    await admin('#rem-object-path "objects/1/OBJ1"'),
    `101 - Deleted 1 objects\n${INDEX_FOLLOWS}`,
    'BRK-4.10: an object path names an object',
  );
  t.equal(await admin('#rem-object-path "objects/7/OBJ2"'), '111 - ERROR: there is no object of that name\n');
  t.equal(await admin('#rem-object-path OBJ1'), '111 - ERROR: there is no object of that name\n');
  t.equal(
    await admin(`#rem-object-path "${WAIS}"`),
    `101 - Deleted 1 objects\n${INDEX_FOLLOWS}`,
    'a URL names an object',
  );
  t.equal(broker.store.count, 0);

  for (const { text } of corpus()) await storeObject(broker, text);
  t.equal(
    await admin('#rem-object-query gopher and not WAIS'),
    `101 - Deleted 1 objects\n${INDEX_FOLLOWS}`,
    'changes that were not indexed yet are found too',
  );
  t.same(await findUrls(broker, '#allb'), [WAIS, MOSAIC].sort());
  t.equal(await admin('#rem-object-query #allb'), `101 - Deleted 2 objects\n${INDEX_FOLLOWS}`);
  t.equal(broker.store.count, 0);
  t.same(
    (await readEvents(fixture)).filter((line) => line.includes(' Delete: ')),
    [MOSAIC, GOPHER, WAIS, GOPHER, WAIS, MOSAIC].map((url) => `20260101 00:00:00 Delete: ${url}`),
    'BRK-5.7, REG-53: each deletion is logged',
  );
});

t.test('BRK-5.1: #rem-object-query deletes more than Max-Results', async (t) => {
  const { admin, broker } = await openAdministered(t, 'Max-Results 5\n');
  for (let i = 0; i < 600; i++)
    await storeObject(broker, document(`http://many.example/${i}`, { Title: 'gopherhole' }));
  t.equal(await admin('#rem-object-query gopherhole'), `101 - Deleted 600 objects\n${INDEX_FOLLOWS}`);
  t.equal(broker.store.count, 3);
});

t.test('BRK-5.1: #rem-dups keeps the newest object of each URL', async (t) => {
  const { admin, broker } = await openAdministered(t);
  await storeObject(broker, document(MOSAIC, { Title: 'older' }, NOW - 20_000, 'Second'));
  await storeObject(broker, document(MOSAIC, { Title: 'newest' }, NOW - 10, 'Third'));
  await storeObject(broker, document(WAIS, { Title: 'as old' }, NOW - 9998, 'Second'));
  t.equal(broker.store.count, 6);
  t.equal(await admin('#rem-dups'), `101 - Deleted 3 objects\n${INDEX_FOLLOWS}`);
  t.same(
    (await broker.store.byUrl(MOSAIC)).map((entry) => entry.gathererName),
    ['Third'],
  );
  t.equal((await broker.store.byUrl(WAIS)).length, 1, 'of two objects with the same time one is kept');
  t.equal((await broker.store.byUrl(GOPHER)).length, 1);
  t.equal(await admin('#rem-dups'), `101 - Deleted 0 objects\n${INDEX_FOLLOWS}`);
});

t.test('BRK-5.1: #add-object reads plain and gzip files, counts objects, skips faulty ones', async (t) => {
  const fixture = await openAdministered(t);
  const { admin, broker, directory } = fixture;
  await writeFile(join(directory, 'one.soif'), document('http://one.example/', { Title: 'handmade' }));
  const bad = soif('http://bad.example/', { Title: 'no gatherer' });
  await writeFile(
    join(directory, 'two.soif.gz'),
    gzipSync(`${bad}${document('http://two.example/', { Title: 'handmade' })}`),
  );
  t.match(
    await admin('#add-object "one.soif two.soif.gz"'),
    /^101 - Objects: 2 added, 0 updated, 0 unchanged, 1 rejected; 0 faults in the files\n101 - update of http:\/\/bad\.example\/: no readable Gatherer-Name/,
  );
  t.same(await findUrls(broker, 'handmade'), ['http://one.example/', 'http://two.example/']);
  t.ok((await readEvents(fixture)).includes('20260101 00:00:00 Update: http://one.example/'));
  t.match(await admin('#add-object missing.soif'), /^111 - ERROR: .*missing\.soif: no such file\n$/);

  await writeFile(join(directory, 'shadow'), '@FILE { http://x.example/\nTitle{zz}:\ttopsecret\n}\n');
  const reply = await admin('#add-object shadow');
  t.equal(reply, '111 - ERROR: shadow: no SOIF objects in it (breaks SOIF-4.4 at byte 32)\n');
  t.notMatch(reply, /topsecret/, 'the reply does not quote a file that is not SOIF');
  await writeFile(join(directory, 'empty'), '');
  for (const file of ['/etc/passwd', 'empty'])
    t.equal(await admin(`#add-object "${file}"`), `111 - ERROR: ${file}: no SOIF objects in it\n`);
  t.equal(
    await admin('#add-object "/etc/passwd empty"'),
    '111 - ERROR: /etc/passwd: no SOIF objects in it; empty: no SOIF objects in it\n',
  );
  t.equal(
    await admin('#add-object "one.soif /etc/passwd"'),
    '101 - Objects: 0 added, 0 updated, 1 unchanged, 0 rejected; 1 faults in the files\n101 - /etc/passwd: no SOIF objects in it\n',
    'a file without objects does not stop the others',
  );
});

t.test('BT-16, SOIF-3.2: #add-object leaves out values of no bytes', async (t) => {
  const { admin, directory, port } = await openAdministered(t);
  const text = document('http://empty.example/', { Keywords: '', Title: 'handmade' });
  const large = document('http://large.example/', { Keywords: '', Body: 'x'.repeat(1_100_000) });
  await writeFile(join(directory, 'empty.soif'), text + large);
  t.match(await admin('#add-object empty.soif'), /^101 - Objects: 2 added/);
  const reply = await exchange(port, '#BULK #SINCE 0 #END #ALLB\n');
  t.ok(reply.includes((text + large).replaceAll('Keywords{0}:\t\n', '')));
});

t.test('BRK-5.1, 5.7, REG-52: log types are switched; logs are closed, opened and rotated', async (t) => {
  const fixture = await openAdministered(t, 'Log-Types Query nonsense\n');
  const { admin, broker, directory, log, port } = fixture;
  t.ok(log.some((line) => line.includes('Log-Types: nonsense is not a type of event')));
  t.equal(
    await admin('#add-log query-return'),
    '101 - Log types switched on: Query-Return\n101 - Log types now: Query, Query-Return\n',
  );
  await exchange(port, '#USER #END Mosaic\n');
  t.match(await readEvents(fixture), [
    `20260101 00:00:00 Query-Return: 127.0.0.1: ${MOSAIC}`,
    /^20260101 00:00:00 Query: 127\.0\.0\.1: #USER #END Mosaic: 1 objects, 2 lines, \d+ ms$/,
  ]);
  t.equal(
    await admin('#rem-log Query-Return'),
    '101 - Log types switched off: Query-Return\n101 - Log types now: Query\n',
  );
  t.match(
    await admin('#add-log Nonsense'),
    /^111 - ERROR: Nonsense is not a log type; there are Update, .* and All\n$/,
  );
  t.equal(broker.events.types.length, 1);

  t.match(
    await admin('#rotate-log'),
    /^101 - Log rotated: the old one is \S*\/admin\/LOG\.20260101\n$/,
    'REG-54: the rotated log is named by its date',
  );
  t.equal((await readEvents(fixture)).length, 0);
  t.match(readFileSync(join(directory, 'admin', 'LOG.20260101'), 'utf8'), /Query: 127\.0\.0\.1/);
  t.match(await admin('#rotate-log'), /\/admin\/LOG\.20260101\.1\n$/);

  t.equal(await admin('#close-log'), '101 - Log closed; events are dropped until a log is opened\n');
  t.equal(await admin('#close-log'), '101 - The log is closed already\n');
  await exchange(port, '#USER #END gopher\n');
  t.equal(await admin('#rotate-log'), '111 - ERROR: the log is closed\n');
  t.match(await admin('#open-log'), /^101 - Log opened: \S*\/admin\/LOG\n$/);
  t.same(await readEvents(fixture), [], 'nothing was logged while the log was closed');
  t.match(await admin('#open-log logs/second'), /^101 - Log opened: \S*\/logs\/second\n$/);
  await exchange(port, '#USER #END gopher\n');
  t.equal(await admin('#flush-log'), '101 - Log flushed\n');
  t.match(readFileSync(join(directory, 'logs', 'second'), 'utf8'), / Query: .*gopher/);
  t.match(await admin('#open-log admin/LOG'), /^101 - Log opened/, 'an empty file can become a log again');

  t.equal(
    await admin('#add-log ALL'),
    `101 - Log types switched on: ${LOG_TYPES.join(', ')}\n101 - Log types now: ${LOG_TYPES.join(', ')}\n`,
  );
});

t.test('BRK-5.1: #open-log writes only to logs below Broker-Directory', async (t) => {
  const { admin, directory } = await openAdministered(t);
  const outside = t.testdir({ file: '' });
  await mkdir(join(directory, 'admin'), { recursive: true });
  await writeFile(join(directory, 'admin', 'broker.conf'), 'Broker-Port 8501\n');
  await symlink(outside, join(directory, 'outside-directory'));
  await symlink(join(outside, 'file'), join(directory, 'outside-file'));
  for (const name of [
    '../outside.log',
    `${outside}/y`,
    'admin/../../z',
    'outside-directory/log',
    'outside-directory/new/log',
    '.',
    'store',
    'outside-file',
    'admin/broker.conf',
  ])
    t.match(await admin(`#open-log "${name}"`), /^111 - ERROR: /, `${name} is refused`);
  t.same(await readdir(outside), ['file']);
  t.equal(readFileSync(join(directory, 'admin', 'broker.conf'), 'utf8'), 'Broker-Port 8501\n');
  t.equal(existsSync(join(directory, '..', 'outside.log')), false);
});

t.test('BRK-5.1, 5.3: #set lasts until the broker ends; fixed variables are refused', async (t) => {
  const { admin, broker, port, log, open } = await openAdministered(t);
  t.equal(await admin('#set max-results 1'), '101 - Max-Results is set until the broker ends\n');
  const countObjects = (reply: string) =>
    reply.split('\n').filter((line) => line === '130 - object end').length;
  t.equal(countObjects(await exchange(port, '#USER #END #allb\n')), 1);
  t.equal(
    await admin('#set Max-Results 0'),
    '111 - ERROR: Max-Results: must be a whole number from 1 to 2147483647\n',
  );
  t.equal(await admin('#set No-Such 1'), '111 - ERROR: there is no such variable\n');
  t.match(
    await admin('#set Broker-Port 99'),
    /^111 - ERROR: Broker-Port cannot be set while the broker runs/,
  );
  t.equal(broker.config.maxResults, 1);

  t.equal(await admin('#set Opaque-Mode show'), '101 - Opaque-Mode is set until the broker ends\n');
  t.notMatch(await exchange(port, '#USER #END Mosaic\n'), /^122/m);
  t.equal(await admin('#set HTTP-Port 80'), '101 - HTTP-Port is set until the broker ends\n');
  t.match(
    await exchange(port, '#USER #END Mosaic\n'),
    /^125 - http:\/\/www\.example\.org\/Harvest\/.*\n126 - http:\/\/www\.example\.org\/Harvest\/brokers\/example\/$/m,
    'a derived home page follows its variables',
  );
  t.equal(await admin('#set Log-Types "Admin"'), '101 - Log-Types is set until the broker ends\n');
  t.same(broker.events.types, ['Admin']);

  t.equal(
    await admin('#set Admin-Password "new one"'),
    '101 - Admin-Password is set until the broker ends\n',
  );
  t.equal(await admin('#flush-log'), '111 - ERROR: Invalid password\n');
  t.notMatch(log.join(''), /new one|sesame/);
  await broker.close();
  t.equal((await open()).config.maxResults, 1000, 'BRK-5.3: the next run has the configured value');

  const config = brokerConfig('/b', 'Home-Page http://home.example/\n');
  t.equal(setBrokerVariable(config, 'HTTP-Port', '81').config.homePage, 'http://home.example/');
  t.equal(setBrokerVariable(config, 'Collection-File', 'c').config.collectionFile, '/b/c');
  t.equal(setBrokerVariable(config, 'HTTP-Host', '').config.httpHost, 'broker.example.org');
});

t.test('BRK-5.4: a long command replies at once, runs in the background, and logs its result', async (t) => {
  const gatherd = await startScripted(t);
  const fixture = await openAdministered(t, 'Log-Types Collection Admin Admin-Return\n', {
    points: [gatherd.point(0)],
  });
  const { admin, broker, log } = fixture;
  const sending = gate();
  gatherd.gate = sending.opened;
  t.equal(await admin('#collection'), '101 - Collection started\n');
  t.equal(await admin('#collection'), '101 - Collection is running already\n');
  t.match(await admin('#do-stats'), /^101 - Running: Collection$/m);
  sending.open();
  await broker.jobs.settled();
  t.ok(
    log.some((line) =>
      /Collection: 3 objects received, 0 expired, 0 of 1 points incomplete \(\d+ ms\)/.test(line),
    ),
  );
  t.ok(
    (await readEvents(fixture)).some((line) => / Admin-Return: Collection: 3 objects received/.test(line)),
  );

  t.equal(await admin('#full-index'), '101 - Index corpus started\n');
  await broker.jobs.settled();
  t.ok(log.some((line) => line.includes('Index corpus: 3 objects indexed')));
  t.same(await findUrls(broker, 'Mosaic'), [MOSAIC]);

  await storeObject(broker, document('http://new.example/', { Title: 'Mosaic' }));
  t.equal(await admin('#incremental-index'), '101 - Index changes started\n');
  await broker.jobs.settled();
  t.ok(log.some((line) => line.includes('Index changes: 1 changes indexed')));
  t.same(await findUrls(broker, 'Mosaic'), ['http://new.example/', MOSAIC]);
});

t.test('BRK-5.4: a deletion that outlasts the reply timeout continues in the background', async (t) => {
  const { broker } = await openAdministered(t);
  const released = gate();
  const { remove } = broker.store;
  broker.store.remove = async (oids) => {
    await released.opened;
    return remove.call(broker.store, oids);
  };
  const items: unknown[] = [];
  for await (const item of executeAdmin(broker, { kind: 'rem-object-oid', oids: [1] }, { patienceMs: 1 }))
    items.push(item);
  t.same(items, [{ kind: 'message', text: 'Delete objects by oid started; the log will have the outcome' }]);
  t.equal(broker.store.count, 3);
  released.open();
  await broker.jobs.settled();
  t.equal(broker.store.count, 2);
});

t.test('BRK-5.1, REG-31: #restart reads the configuration again, forgets #set, and reindexes', async (t) => {
  let conf = 'Max-Results 7\n';
  const fixture = await openBroker(t, { conf });
  const broker = await (async () => {
    await fixture.broker.close();
    return fixture.open({ reread: async () => brokerConfig(fixture.directory, conf) });
  })();
  await storeObject(broker, corpus()[2]?.text ?? '');
  broker.settings.set('Glimpse-MaxLife', '33');
  conf = 'Max-Results 8\nBroker-Port 9\n';
  const items: unknown[] = [];
  for await (const item of executeAdmin(broker, { kind: 'restart' })) items.push(item);
  t.same(items, [{ kind: 'message', text: 'Restart started' }]);
  await broker.jobs.settled();
  t.match(broker.config, { maxResults: 8, glimpseMaxLife: 900, brokerPort: 8501 });
  t.same(await findUrls(broker, 'Mosaic'), [MOSAIC]);
  t.ok(fixture.log.some((line) => line.includes('effective at the next start: Broker-Port')));
});

t.test('BRK-5.1, REG-27: the Registry is compressed by command, and after enough deletions', async (t) => {
  const { admin, broker } = await openAdministered(
    t,
    'Compress-Percent 50\nLog-Types Compressing-Registry\n',
  );
  t.equal(await admin('#compress-registry'), '101 - Compressed the Registry: 0 deleted records removed\n');
  for (let i = 0; i < 120; i++)
    await storeObject(broker, document(`http://many.example/${i}`, { Title: 'many' }));
  const oids: number[] = [];
  for await (const page of broker.store.all({ after: 3 })) oids.push(...page.map(({ oid }) => oid));
  await broker.maintenance.remove(oids.slice(0, 99));
  t.equal(broker.maintenance.compressible, false, '99 deleted records are fewer than 100');
  await broker.maintenance.remove(oids.slice(99, 101));
  t.equal(broker.maintenance.compressible, true, '101 of 123 records are more than half');
  await broker.collections.run();
  t.equal(broker.maintenance.deletedRecords, 0, 'the collection ends with a compression');
  t.equal(broker.store.count, 22);
  t.equal((await findUrls(broker, 'many')).length, 19);
});
