// A gatherd over the objects of a program, without a store on disk.
import t, { type Test } from 'tap';
import { GatherdClient } from '../../../clients/gatherd/index.js';
import { UsageError } from '../../../protocols/errors.js';
import { encodeFixtureObject, FIXTURE } from '../../../protocols/fixture/index.js';
import { decodeSoif, SoifObject } from '../../../protocols/soif/index.js';
import { GatherdServer, MemoryDatabase } from '../../../servers/gatherd/index.js';
import { createLoggerOn } from '../../../servers/host/index.js';
import { runGatherdCases } from '../../clients/conformance/gatherd-reference.js';

const log = createLoggerOn({ write() {} }, { program: 'gatherd' });

/** Serves the database; returns the port. */
async function serve(t: Test, source: MemoryDatabase): Promise<number> {
  const host = '127.0.0.1';
  const server = await GatherdServer.listen({
    source,
    host,
    port: 0,
    hostname: 'h.test',
    log,
    lingerMs: 200,
  });
  t.teardown(() => server.close({ graceMs: 0 }));
  return server.address.port;
}

/** What a client receives: kind and URL of each change, in order. */
async function changesSince(port: number, since: number): Promise<string[]> {
  await using client = new GatherdClient({ host: '127.0.0.1', port });
  const received: string[] = [];
  for await (const { kind, object } of client.changes({ since, sections: true }))
    received.push(`${kind} ${object.url}`);
  return received;
}

t.test('passes every case of the suite that its data decides', async (t) => {
  const objects = FIXTURE.map((object) => decodeSoif(Buffer.from(encodeFixtureObject(object))));
  const port = await serve(t, new MemoryDatabase({ name: 'fixture' }, objects));
  for (const { id, verdict, message } of await runGatherdCases(port)) {
    const isLacking = id === 'changes/refreshed' || id === 'changes/deleted';
    t.equal(verdict, isLacking ? 'skip' : 'pass', `${id}: ${message ?? 'passed'}`);
  }
});

t.test('GATHERD-4.3, 4.9, 12.4: the next command sees what was put and deleted', async (t) => {
  let now = 1000;
  const source = new MemoryDatabase({ name: 'books', host: 'h.test', now: () => now });
  const port = await serve(t, source);
  t.same(await changesSince(port, 0), [], 'empty at first');
  for (const name of ['b', 'a']) source.put(SoifObject.of('FILE', `http://${name}/`, [['Title', name]]));
  t.same(
    await changesSince(port, 0),
    ['update http://a/', 'update http://b/'],
    'in the order of GATHERD-4.6',
  );
  now = 2000;
  source.put(SoifObject.of('FILE', 'http://b/', [['Title', 'again']]));
  t.equal(source.delete('http://a/'), true);
  t.equal(source.delete('http://a/'), false);
  t.equal(source.size, 1);
  t.same(await changesSince(port, 1500), ['delete http://a/', 'update http://b/']);
  source.put(SoifObject.of('FILE', 'http://a/', []));
  t.same(
    await changesSince(port, 1500),
    ['update http://a/', 'update http://b/'],
    'put again is not deleted',
  );
});

t.test('SOIF-6.5: an object gets what a Broker requires, and keeps what it has', async (t) => {
  const source = new MemoryDatabase({ name: 'books', host: 'h.test', version: '7', now: () => 1000 });
  const own = [
    ['Gatherer-Name', 'theirs'],
    ['Gatherer-Host', 'there'],
    ['Gatherer-Version', '1'],
    ['Update-Time', '5'],
  ] as const;
  source.put(SoifObject.of('FILE', 'http://own/', own));
  source.put(SoifObject.of('FILE', 'http://bare/', [['Update-Time', 'soon']]));
  const port = await serve(t, source);
  await using client = new GatherdClient({ host: '127.0.0.1', port });
  const found = new Map<string, readonly (string | undefined)[]>();
  for await (const { object } of client.changes({ since: 0 }))
    found.set(
      object.url,
      own.map(([name]) => object.text(name)),
    );
  t.same(
    [...found],
    [
      ['http://own/', ['theirs', 'there', '1', '5']],
      ['http://bare/', ['books', 'h.test', '7', '1000']],
    ],
  );
});

t.test('a gatherd without a database is refused with a sentence', async (t) => {
  await t.rejects(GatherdServer.listen({ host: '127.0.0.1', port: 0, log }), UsageError);
});
