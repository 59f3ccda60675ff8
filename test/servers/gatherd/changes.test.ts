// SET changes: deletions and refreshes in their own sections. Rules: GATHERD-4.4 and 4.9. Times are in seconds.
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { GatherdClient } from '../../../clients/gatherd/index.js';
import { GatherdServer } from '../../../servers/gatherd/index.js';
import { createLoggerOn } from '../../../servers/host/index.js';
import { GathererStore } from '../../../storage/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { exchange } from './helpers.js';

/** The attributes that identify the Gatherer of an object. */
const GATHERER = { 'Gatherer-Name': 'G', 'Gatherer-Host': 'h', 'Gatherer-Version': '1' };

/** Returns an object in the layout of SOIF-2.2. */
function soif(url: string, attributes: Readonly<Record<string, string>>): string {
  const lines = Object.entries(attributes).map(([name, value]) => `${name}{${value.length}}:\t${value}\n`);
  return `@FILE { ${url}\n${lines.join('')}}\n`;
}

const object = (url: string, updateTime: number, body: string) =>
  soif(url, { ...GATHERER, 'Update-Time': String(updateTime), MD5: 'm'.repeat(32), Body: body });

/**
 * Serves four objects of time 100, of which one has changed, one was refreshed and one was deleted since;
 * returns the port.
 */
async function serveChanges(t: Test): Promise<number> {
  const directory = await temporaryDirectory(t);
  await using store = await GathererStore.open(join(directory, 'working'));
  const put = (url: string, updateTime: number, body: string, contentTime = updateTime) =>
    store
      .batch()
      .putSummary({
        url,
        updateTime,
        timeToLive: 10_000,
        contentTime,
        soif: Buffer.from(object(url, updateTime, body)),
      })
      .commit();
  for (const name of ['kept', 'changed', 'refreshed', 'deleted'])
    await put(`http://${name}.test/`, 100, name);
  await put('http://changed.test/', 200, 'changed again');
  await put('http://refreshed.test/', 200, 'refreshed', 100);
  await store.batch().deleteSummary('http://deleted.test/', 100, { deletedAt: 210 }).commit();
  await store.publish(join(directory, 'generations'));
  const server = await GatherdServer.listen({
    generationsDirectory: join(directory, 'generations'),
    host: '127.0.0.1',
    port: 0,
    hostname: 'gatherer.example.org',
    log: createLoggerOn({ write() {} }, { program: 'gatherd' }),
    lingerMs: 200,
  });
  t.teardown(() => server.close({ graceMs: 0 }));
  return server.address.port;
}

const DELETED = soif('http://deleted.test/', { ...GATHERER, 'Update-Time': '210' });
const REFRESHED = soif('http://refreshed.test/', { ...GATHERER, 'Update-Time': '200', MD5: 'm'.repeat(32) });
const CHANGED = object('http://changed.test/', 200, 'changed again');
const SECTIONS = `@DELETE {\n${DELETED}}\n@REFRESH {\n${REFRESHED}}\n@UPDATE {\n${CHANGED}}\n`;

t.test('GATHERD-4.4, 4.9, 6.11: after SET changes, deletions and refreshes have own sections', async (t) => {
  const port = await serveChanges(t);
  const received = await exchange(t, port, 'SET changes\nSEND-UPDATE 150\nQUIT\n');
  const expected = `000 - HELLO 1.8 gatherer.example.org\n500 - Changes enabled\n400 - Sending all objects since 150\n${SECTIONS}499 - Sent 3 objects\n999 - Bye\n`;
  t.equal(received, expected);
});

t.test('GATHERD-4.4: without SET changes two sections are empty and every object is whole', async (t) => {
  const port = await serveChanges(t);
  const received = await exchange(t, port, 'SEND-UPDATE 150\nQUIT\n');
  const stream = `@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n${CHANGED}${object('http://refreshed.test/', 200, 'refreshed')}}\n`;
  t.ok(received.includes(`\n${stream}499 - Sent 2 objects\n`));
});

t.test('GATHERD-4.9: since 0 nothing is deleted or refreshed; the boundary is included', async (t) => {
  const port = await serveChanges(t);
  const whole = await exchange(t, port, 'SET changes\nSEND-UPDATE 0\nQUIT\n');
  t.match(whole, /@DELETE \{\n\}\n@REFRESH \{\n\}\n@UPDATE \{\n@FILE/);
  t.match(whole, /\n499 - Sent 3 objects\n/);
  const boundary = await exchange(t, port, 'SET changes\nSEND-UPDATE 210\nQUIT\n');
  t.ok(boundary.includes(`@DELETE {\n${DELETED}}\n@REFRESH {\n}\n@UPDATE {\n}\n499 - Sent 1 objects\n`));
  const later = await exchange(t, port, 'SET changes\nSEND-UPDATE 211\nQUIT\n');
  t.ok(later.includes('@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n}\n499 - Sent 0 objects\n'));
  const same = await exchange(t, port, 'SET changes\nSEND-UPDATE 100\nQUIT\n');
  t.match(same, /@REFRESH \{\n\}\n/, 'since the time of the content: it may be missing');
});

t.test('GATHERD-6.3, 6.11: compressed sections are one gzip member', async (t) => {
  const port = await serveChanges(t);
  const received = Buffer.from(
    await exchange(t, port, 'SET changes\nSET compression\nSEND-UPDATE 150\nQUIT\n'),
    'latin1',
  );
  const start = received.indexOf('since 150\n') + 'since 150\n'.length;
  const end = received.lastIndexOf('499 - Sent 3 objects\n');
  t.equal(gunzipSync(received.subarray(start, end)).toString('latin1'), SECTIONS);
});

t.test('GATHERD-4.4, 4.9: GatherdClient returns changes of three kinds', async (t) => {
  const port = await serveChanges(t);
  await using client = new GatherdClient({ host: '127.0.0.1', port });
  const changes: string[] = [];
  for await (const { kind, object } of client.changes({ since: 150 })) changes.push(`${kind} ${object.url}`);
  t.same(changes, [
    'delete http://deleted.test/',
    'refresh http://refreshed.test/',
    'update http://changed.test/',
  ]);
});
