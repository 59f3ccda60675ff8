import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import {
  ADMIN_COMMANDS,
  buildAdminCommand,
  DEFAULT_FLAGS,
  parseQuery,
} from '../../../protocols/broker/index.js';
import { setBrokerVariable } from '../../../protocols/config/index.js';
import { decodeSoif } from '../../../protocols/soif/index.js';
import { type Broker, executeAdmin, LOG_TYPES } from '../../../servers/broker/index.js';
import type { BrokerStore } from '../../../storage/index.js';
import {
  ask,
  brokerConfig,
  corpus,
  document,
  NOW,
  type Scene,
  ScriptedGatherd,
  scene,
  serve,
  soif,
} from './scene.js';

const VERSION = '200 - HARVEST Broker 1.0\n';
const GOPHER = 'http://www.example.org/gopher.html';
const WAIS = 'ftp://ftp.example.org/wais.txt';
const MOSAIC = 'http://www.example.org/mosaic.html';

async function put(store: BrokerStore, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  await store.apply([{ kind: 'update', object: decodeSoif(bytes), bytes }]);
}

/** A broker with the small corpus, its port, and a way to send commands to it. */
async function administered(t: Test, conf = '', options: Parameters<typeof scene>[1] = {}) {
  const made = await scene(t, { conf, ...options });
  for (const { text } of corpus()) await put(made.broker.store, text);
  await made.broker.reindexChanges();
  const server = await serve(t, made, { shutdown: () => undefined, adminPatienceMs: 60_000 });
  const { port } = server.address;
  const admin = async (command: string): Promise<string> =>
    (await ask(port, `#ADMIN #Password "open sesame" ${command}\r\n`)).slice(VERSION.length);
  return { ...made, port, admin };
}

/** What `admin/LOG` holds. */
function eventsOf({ broker, directory }: Pick<Scene, 'broker' | 'directory'>): string[] {
  broker.events.flush();
  return readFileSync(join(directory, 'admin', 'LOG'), 'utf8')
    .split('\n')
    .slice(0, -1);
}

async function urlsOf(broker: Broker, query: string): Promise<string[]> {
  const pages = broker.search(parseQuery(query), { ...DEFAULT_FLAGS, opaque: true });
  const urls: string[] = [];
  for await (const page of pages ?? [])
    for (const item of page) if (item.kind === 'match') urls.push(item.url);
  return urls.sort();
}

const FOLLOWED = '101 - The index is up to date; Index corpus is not needed\n';

t.test('BRK-5.1 every command has a title, and typed text becomes a command', (t) => {
  t.same(
    ADMIN_COMMANDS.map(({ title }) => title),
    [
      'Add objects by file',
      'Close log',
      'Compress Registry',
      'Delete expired objects',
      'Delete older objects of duplicate URLs',
      'Delete objects by oid',
      'Delete objects by query',
      'Disable log type',
      'Enable log type',
      'Flush log',
      'Generate statistics',
      'Index changes',
      'Index corpus',
      'Open log',
      'Remove object by name',
      'Restart server',
      'Rotate log file',
      'Set variable',
      'Shutdown server',
      'Start collection',
    ],
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

t.test('BRK-5.1 deleting by oid, by name, by query', async (t) => {
  const made = await administered(t);
  const { admin, broker } = made;
  t.equal(await admin('#rem-object-oid "3 99 3"'), `101 - Deleted 1 objects\n${FOLLOWED}`, 'BRK-5.5 a list');
  t.same(await urlsOf(broker, 'Mosaic'), [], 'BRK-5.6 the index is up to date');
  t.equal(broker.count, 2);
  t.equal(
    await admin('#rem-object-path "objects/0/OBJ1"'),
    `101 - Deleted 1 objects\n${FOLLOWED}`,
    'the path of BRK-4.10',
  );
  t.equal(await admin('#rem-object-path "objects/7/OBJ2"'), '111 - ERROR: there is no object of that name\n');
  t.equal(await admin('#rem-object-path OBJ1'), '111 - ERROR: there is no object of that name\n');
  t.equal(await admin(`#rem-object-path "${WAIS}"`), `101 - Deleted 1 objects\n${FOLLOWED}`, 'a URL');
  t.equal(broker.count, 0);

  for (const { text } of corpus()) await put(broker.store, text);
  t.equal(
    await admin('#rem-object-query gopher and not WAIS'),
    `101 - Deleted 1 objects\n${FOLLOWED}`,
    'what the index did not yet hold is found too',
  );
  t.same(await urlsOf(broker, '#allb'), [WAIS, MOSAIC].sort());
  t.equal(await admin('#rem-object-query #allb'), `101 - Deleted 2 objects\n${FOLLOWED}`);
  t.equal(broker.count, 0);
  t.same(
    eventsOf(made).filter((line) => line.includes(' Delete: ')),
    [MOSAIC, GOPHER, WAIS, GOPHER, WAIS, MOSAIC].map((url) => `20260101 00:00:00 Delete: ${url}`),
    'BRK-5.7, REG-53 each is logged',
  );
});

t.test('BRK-5.1 #rem-object-query deletes more than Max-Results', async (t) => {
  const { admin, broker } = await administered(t, 'Max-Results 5\n');
  for (let i = 0; i < 600; i++)
    await put(broker.store, document(`http://many.example/${i}`, { Title: 'gopherhole' }));
  t.equal(await admin('#rem-object-query gopherhole'), `101 - Deleted 600 objects\n${FOLLOWED}`);
  t.equal(broker.count, 3);
});

t.test('BRK-5.1 #rem-dups: of one URL the newest object stays', async (t) => {
  const { admin, broker } = await administered(t);
  await put(broker.store, document(MOSAIC, { Title: 'older' }, NOW - 20_000, 'Second'));
  await put(broker.store, document(MOSAIC, { Title: 'newest' }, NOW - 10, 'Third'));
  await put(broker.store, document(WAIS, { Title: 'as old' }, NOW - 9998, 'Second'));
  t.equal(broker.count, 6);
  t.equal(await admin('#rem-dups'), `101 - Deleted 3 objects\n${FOLLOWED}`);
  t.same(
    (await broker.store.byUrl(MOSAIC)).map((entry) => entry.gathererName),
    ['Third'],
  );
  t.equal((await broker.store.byUrl(WAIS)).length, 1, 'of two that are as old, one');
  t.equal((await broker.store.byUrl(GOPHER)).length, 1);
  t.equal(await admin('#rem-dups'), `101 - Deleted 0 objects\n${FOLLOWED}`);
});

t.test(
  'BRK-5.1 #add-object: plain and gzip files, counted; a faulty object does not stop the rest',
  async (t) => {
    const made = await administered(t);
    const { admin, broker, directory } = made;
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
    t.same(await urlsOf(broker, 'handmade'), ['http://one.example/', 'http://two.example/']);
    t.ok(eventsOf(made).includes('20260101 00:00:00 Update: http://one.example/'));
    t.match(await admin('#add-object missing.soif'), /^111 - ERROR: .*missing\.soif: no such file\n$/);

    await writeFile(join(directory, 'shadow'), '@FILE { http://x.example/\nTitle{zz}:\ttopsecret\n}\n');
    const told = await admin('#add-object shadow');
    t.match(told, /0 rejected; 2 faults in the files\n101 - shadow: breaks SOIF-\d/);
    t.notMatch(told, /topsecret/, 'a file that is no SOIF is not shown');
  },
);

t.test('BRK-5.1, 5.7 log types, closing, opening, rotating', async (t) => {
  const made = await administered(t, 'Log-Types Query nonsense\n');
  const { admin, broker, directory, log, port } = made;
  t.ok(log.some((line) => line.includes('Log-Types: nonsense is not a type of event')));
  t.equal(
    await admin('#add-log query-return'),
    '101 - Log types switched on: Query-Return\n101 - Log types now: Query, Query-Return\n',
  );
  await ask(port, '#USER #END Mosaic\n');
  t.match(eventsOf(made), [
    `20260101 00:00:00 Query-Return: 127.0.0.1: ${MOSAIC}`,
    /^20260101 00:00:00 Query: 127\.0\.0\.1: #USER #END Mosaic: 1 objects, 1 lines, \d+ ms$/,
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
    'REG-54',
  );
  t.equal(eventsOf(made).length, 0);
  t.match(readFileSync(join(directory, 'admin', 'LOG.20260101'), 'utf8'), /Query: 127\.0\.0\.1/);
  t.match(await admin('#rotate-log'), /\/admin\/LOG\.20260101\.1\n$/);

  t.equal(await admin('#close-log'), '101 - Log closed; events are dropped until a log is opened\n');
  t.equal(await admin('#close-log'), '101 - The log is closed already\n');
  await ask(port, '#USER #END gopher\n');
  t.equal(await admin('#rotate-log'), '111 - ERROR: the log is closed\n');
  t.match(await admin('#open-log'), /^101 - Log opened: \S*\/admin\/LOG\n$/);
  t.same(eventsOf(made), [], 'while it was closed nothing was logged');
  t.match(await admin('#open-log logs/second'), /^101 - Log opened: \S*\/logs\/second\n$/);
  await ask(port, '#USER #END gopher\n');
  t.equal(await admin('#flush-log'), '101 - Log flushed\n');
  t.match(readFileSync(join(directory, 'logs', 'second'), 'utf8'), / Query: .*gopher/);
  t.match(await admin('#open-log admin/LOG'), /^101 - Log opened/, 'an empty file may become a log again');

  t.equal(
    await admin('#add-log ALL'),
    `101 - Log types switched on: ${LOG_TYPES.join(', ')}\n101 - Log types now: ${LOG_TYPES.join(', ')}\n`,
  );
});

t.test('BRK-5.1 #open-log writes only into logs below Broker-Directory', async (t) => {
  const { admin, directory } = await administered(t);
  const outside = t.testdir({ file: '' });
  await mkdir(join(directory, 'admin'), { recursive: true });
  await writeFile(join(directory, 'admin', 'broker.conf'), 'Broker-Port 8501\n');
  await symlink(outside, join(directory, 'way-out'));
  await symlink(join(outside, 'file'), join(directory, 'link'));
  for (const name of [
    '../outside.log',
    `${outside}/y`,
    'admin/../../z',
    'way-out/log',
    'way-out/new/log',
    '.',
    'store',
    'link',
    'admin/broker.conf',
  ])
    t.match(await admin(`#open-log "${name}"`), /^111 - ERROR: /, name);
  t.same(await readdir(outside), ['file']);
  t.equal(readFileSync(join(directory, 'admin', 'broker.conf'), 'utf8'), 'Broker-Port 8501\n');
  t.equal(existsSync(join(directory, '..', 'outside.log')), false);
});

t.test('BRK-5.1, 5.3 #set lasts for this run; variables that are in use are refused', async (t) => {
  const { admin, broker, port, log, open } = await administered(t);
  t.equal(await admin('#set max-results 1'), '101 - Max-Results is set until the broker ends\n');
  const objects = (reply: string) => reply.split('\n').filter((line) => line === '130 - object end').length;
  t.equal(objects(await ask(port, '#USER #END #allb\n')), 1);
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
  t.notMatch(await ask(port, '#USER #END Mosaic\n'), /^122/m);
  t.equal(await admin('#set HTTP-Port 80'), '101 - HTTP-Port is set until the broker ends\n');
  t.match(
    await ask(port, '#USER #END Mosaic\n'),
    /^125 - http:\/\/www\.example\.org\/Harvest\/.*\n126 - http:\/\/www\.example\.org\/Harvest\/brokers\/example\/$/m,
    'a home page that is derived follows',
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
  t.equal((await open()).config.maxResults, 1000, 'BRK-5.3');

  const config = brokerConfig('/b', 'Home-Page http://home.example/\n');
  t.equal(setBrokerVariable(config, 'HTTP-Port', '81').config.homePage, 'http://home.example/');
  t.equal(setBrokerVariable(config, 'Collection-File', 'c').config.collectionFile, '/b/c');
  t.equal(setBrokerVariable(config, 'HTTP-Host', '').config.httpHost, 'broker.example.org');
});

t.test('BRK-5.4 a long command replies at once, continues in the background, and is logged', async (t) => {
  const gatherd = await ScriptedGatherd.listen();
  t.teardown(() => gatherd.close());
  gatherd.documents = corpus();
  const made = await administered(t, 'Log-Types Collection Admin Admin-Return\n', {
    points: [gatherd.point(0)],
  });
  const { admin, broker, log } = made;
  let open = () => {};
  gatherd.gate = new Promise((resolve) => {
    open = resolve;
  });
  t.equal(await admin('#collection'), '101 - Collection started\n');
  t.equal(await admin('#collection'), '101 - Collection is running already\n');
  t.match(await admin('#do-stats'), /^101 - Running: Collection$/m);
  open();
  await broker.jobs.settled();
  t.ok(
    log.some((line) =>
      /Collection: 3 objects received, 0 expired, 0 of 1 points incomplete \(\d+ ms\)/.test(line),
    ),
  );
  t.ok(eventsOf(made).some((line) => / Admin-Return: Collection: 3 objects received/.test(line)));

  t.equal(await admin('#full-index'), '101 - Index corpus started\n');
  await broker.jobs.settled();
  t.ok(log.some((line) => line.includes('Index corpus: 3 objects indexed')));
  t.same(await urlsOf(broker, 'Mosaic'), [MOSAIC]);

  await put(broker.store, document('http://new.example/', { Title: 'Mosaic' }));
  t.equal(await admin('#incremental-index'), '101 - Index changes started\n');
  await broker.jobs.settled();
  t.ok(log.some((line) => line.includes('Index changes: 1 changes indexed')));
  t.same(await urlsOf(broker, 'Mosaic'), ['http://new.example/', MOSAIC]);
});

t.test('BRK-5.4 a deletion that takes longer than the reply may wait continues after it', async (t) => {
  const { broker } = await administered(t);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { remove } = broker.store;
  broker.store.remove = async (oids) => {
    await held;
    return remove.call(broker.store, oids);
  };
  const items: unknown[] = [];
  for await (const item of executeAdmin(broker, { kind: 'rem-object-oid', oids: [1] }, { patienceMs: 1 }))
    items.push(item);
  t.same(items, [{ kind: 'message', text: 'Delete objects by oid started; the log will have the outcome' }]);
  t.equal(broker.count, 3);
  release();
  await broker.jobs.settled();
  t.equal(broker.count, 2);
});

t.test('BRK-5.1, REG-31 #restart reads the configuration again, forgets #set and reindexes', async (t) => {
  let conf = 'Max-Results 7\n';
  const made = await scene(t, { conf });
  const broker = await (async () => {
    await made.broker.close();
    return made.open({ reread: async () => brokerConfig(made.directory, conf) });
  })();
  await put(broker.store, corpus()[2]?.text ?? '');
  broker.set('Glimpse-MaxLife', '33');
  conf = 'Max-Results 8\nBroker-Port 9\n';
  const items: unknown[] = [];
  for await (const item of executeAdmin(broker, { kind: 'restart' })) items.push(item);
  t.same(items, [{ kind: 'message', text: 'Restart started' }]);
  await broker.jobs.settled();
  t.match(broker.config, { maxResults: 8, glimpseMaxLife: 900, brokerPort: 8501 });
  t.same(await urlsOf(broker, 'Mosaic'), [MOSAIC]);
  t.ok(made.log.some((line) => line.includes('in force at the next start: Broker-Port')));
});

t.test('BRK-5.1, REG-27 compressing: by command, and when enough records are deleted', async (t) => {
  const { admin, broker } = await administered(t, 'Compress-Percent 50\nLog-Types Compressing-Registry\n');
  t.equal(await admin('#compress-registry'), '101 - Compressed the Registry: 0 deleted records removed\n');
  for (let i = 0; i < 120; i++)
    await put(broker.store, document(`http://many.example/${i}`, { Title: 'many' }));
  const oids: number[] = [];
  for await (const page of broker.store.all({ after: 3 })) oids.push(...page.map(({ oid }) => oid));
  await broker.maintenance.remove(oids.slice(0, 99));
  t.equal(broker.maintenance.compressible, false, 'fewer than 100');
  await broker.maintenance.remove(oids.slice(99, 101));
  t.equal(broker.maintenance.compressible, true, '101 of 123');
  await broker.collect();
  t.equal(broker.maintenance.deletedRecords, 0, 'the collection ended with a compression');
  t.equal(broker.count, 22);
  t.equal((await urlsOf(broker, 'many')).length, 19);
});
