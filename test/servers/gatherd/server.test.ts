import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { GatherdClient } from '../../../clients/gatherd/index.js';
import { StorageError } from '../../../protocols/errors.js';
import { Caller, call, drained, entry, logged, madeUpSource, scene, soif, wrapped } from './support.js';

const A = entry('http://a.example/', 100, 'first');
const B = entry('http://b.example/', 200, 'second\n499 - Sent 7 objects\n');
const C = entry('http://c.example/', 200, 'third');
const ALL = wrapped(A.soif + B.soif + C.soif);
const GREETING = '000 - HELLO 1.8 gatherer.example.org\n';

t.test('GATHERD-7.1 an uncompressed full copy, byte for byte', async (t) => {
  const { port, log } = await scene(t, [C, A, B]);
  t.equal(
    await call(t, port, 'HELLO client.example.org\nSEND-UPDATE 0\nQUIT\n'),
    `${GREETING}100 - HELLO client.example.org\n400 - Sending all objects since 0\n${ALL}499 - Sent 3 objects\n999 - Bye\n`,
    'GATHERD-4.6 in the order of Update-Time, then URL',
  );
  await logged(log, /end of session/);
  const lines = log.map((line) => line.replace(/^gatherd: \d{6} \d\d:\d\d:\d\d: /, '').trimEnd());
  t.same(
    lines.filter((line) => line.startsWith('127.0.0.1: ')),
    [
      '127.0.0.1: connection: allowed',
      '127.0.0.1: HELLO client.example.org',
      '127.0.0.1: SEND-UPDATE 0',
      `127.0.0.1: sent 3 objects, ${ALL.length} bytes`,
      '127.0.0.1: QUIT',
      `127.0.0.1: end of session, 3 objects, ${GREETING.length + 31 + 34 + ALL.length + 21 + 10} bytes sent`,
    ],
    'GATHERD-12.2',
  );
});

t.test('GATHERD-4.3 the boundary is included; 4.5 without new objects the sections are empty', async (t) => {
  const { port } = await scene(t, [A, B, C]);
  const since = async (time: number) => {
    const answer = await call(t, port, `SEND-UPDATE ${time}\nQUIT\n`);
    return /objects since \d+\n([\s\S]*)499 - Sent (\d) objects\n999 - Bye\n$/.exec(answer)?.slice(1);
  };
  t.same(await since(100), [ALL, '3']);
  t.same(await since(101), [wrapped(B.soif + C.soif), '2']);
  t.same(await since(200), [wrapped(B.soif + C.soif), '2']);
  t.same(await since(201), [wrapped(''), '0']);
});

t.test('GATHERD-3.4, 3.6, 3.8, 5 objects and INFO', async (t) => {
  const identity = { name: 'Ant Gatherer', host: 'ants.example.org', port: 8500, version: '0.1' };
  const { port } = await scene(t, [A, B, C], { identity });
  t.equal(
    await call(
      t,
      port,
      'SET compression\nSEND-OBJECT http://b.example/\nSEND-OBJECT http://x.example/\nQUIT\n',
    ),
    `${GREETING}500 - Compression enabled\n300 - Sending object http://b.example/\n${B.soif}399 - Sent object\n399 - No such object http://x.example/\n999 - Bye\n`,
  );
  const info = await call(t, port, 'INFO\nQUIT\n');
  const description = info.slice(GREETING.length, info.indexOf('600 - End of INFO\n999 - Bye\n'));
  t.match(description, /^@GATHERER \{ -\n[\s\S]*\n\}\n$/);
  for (const attribute of [
    'Gatherer-Name{12}:\tAnt Gatherer\n',
    'Gatherer-Host{16}:\tants.example.org\n',
    'Gatherer-Port{4}:\t8500\n',
    'Gatherer-Version{3}:\t0.1\n',
    'Refresh-Rate{6}:\t604800\n',
    'Time-to-Live{7}:\t2419200\n',
    'Last-Modification-Time{3}:\t200\n',
    'Number-Of-Objects{1}:\t3\n',
    'Oldest-Update-Time{3}:\t100\n',
    'Newest-Update-Time{3}:\t200\n',
    'Attributes{16}:\tBody\nUpdate-Time\n',
  ]) {
    t.ok(description.includes(attribute), attribute);
  }
  t.match(description, /\nUpdate-Time\{10\}:\t\d{10}\n/);
});

t.test('GATHERD-8.4 a daemon without a configured identity uses that of the newest object', async (t) => {
  const gathered = (url: string, time: number, name: string) => ({
    url,
    updateTime: time,
    soif: `@FILE { ${url}\nGatherer-Name{3}:\t${name}\nGatherer-Host{5}:\tg.org\nGatherer-Version{3}:\t0.7\nUpdate-Time{3}:\t${time}\n}\n`,
  });
  const old = gathered('http://a.example/', 100, 'Old');
  const { port } = await scene(t, [old, gathered('http://b.example/', 200, 'New')]);
  const info = await call(t, port, 'INFO\nQUIT\n');
  t.match(info, 'Gatherer-Name{3}:\tNew\nGatherer-Host{5}:\tg.org\n');
  t.match(info, 'Gatherer-Version{3}:\t0.7\n');

  const empty = await call(t, (await scene(t, [])).port, 'INFO\nQUIT\n');
  t.match(empty, 'Last-Modification-Time{1}:\t0\n', 'SOIF-6.2');
  t.match(empty, 'Number-Of-Objects{1}:\t0\n');
});

t.test('GATHERD-6.2, 6.3 one gzip member, directly followed by the end line', async (t) => {
  const { port } = await scene(t, [A, B, C]);
  const answer = await call(t, port, 'SET compression\nSEND-UPDATE 0\nQUIT\n');
  const start = `${GREETING}500 - Compression enabled\n400 - Sending all objects since 0\n`;
  const end = '499 - Sent 3 objects\n999 - Bye\n';
  t.ok(answer.startsWith(start));
  t.ok(answer.endsWith(end));
  const member = Buffer.from(answer.slice(start.length, -end.length), 'latin1');
  t.equal(
    gunzipSync(member).toString('latin1'),
    ALL,
    'nothing else in it: a stranger after it would fail here',
  );

  // The sample client (GATHERD-7.2): everything up to a line that begins 499 goes to `gzip -d`.
  const gzip = spawn('gzip', ['-dc'], { stdio: ['pipe', 'pipe', 'pipe'] });
  gzip.stdin.on('error', () => {});
  gzip.stdin.end(Buffer.from(answer.slice(start.length), 'latin1'));
  const output: Buffer[] = [];
  gzip.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  const [status] = await once(gzip, 'close');
  t.equal(Buffer.concat(output).toString('latin1'), ALL);
  t.equal(status, 2, 'GATHERD-6.7 trailing garbage ignored');
});

t.test('GATHERD-7.3 the ROADS client: no HELLO, CR LF, early close', async (t) => {
  const { port, server } = await scene(t, [A, B, C]);
  for (let round = 0; round < 5; round++) {
    const caller = new Caller(t, port);
    await caller.until(/^000 - HELLO .*\n/);
    caller.send('SEND-UPDATE 0\r\n');
    t.ok((await caller.until(/^499 - Sent 3/m)).includes(ALL));
    caller.send('QUIT\r\n');
    caller.socket.destroy();
    await caller.closed;
  }
  t.equal(await call(t, port, 'QUIT\r\n'), `${GREETING}999 - Bye\n`);
  await drained(server);
});

t.test('a client that closes its sending side gets its answer', async (t) => {
  const { port } = await scene(t, [A]);
  const caller = new Caller(t, port);
  caller.socket.end('SEND-UPDATE 0\n');
  await caller.closed;
  t.match(caller.heard, `${wrapped(A.soif)}499 - Sent 1 objects\n`);
});

t.test('GATHERD-12.4 a hundred concurrent clients', async (t) => {
  const entries = Array.from({ length: 300 }, (_, i) =>
    entry(`http://${i}.example/`, 1000 + i, `${i} `.repeat(200)),
  );
  const { port, server } = await scene(t, entries);
  const expected = wrapped(entries.map((one) => one.soif).join(''));
  const clients = await Promise.all(
    Array.from({ length: 100 }, () => GatherdClient.connect({ host: '127.0.0.1', port, clientName: 'c' })),
  );
  t.equal(server.connections, 100);
  const copies = await Promise.all(
    clients.map(async (client, i) => {
      const parts: Uint8Array[] = [];
      for await (const part of client.stream({ since: 0, compression: i % 2 === 0 }))
        parts.push(Buffer.from(part));
      await client.quit();
      return Buffer.concat(parts).toString('latin1');
    }),
  );
  t.equal(copies.filter((copy) => copy === expected).length, 100);
  await drained(server);
});

t.test(
  'GATHERD-10.5, 12.4 nothing published yet, then generations; a transfer keeps its generation',
  async (t) => {
    const big = Array.from({ length: 400 }, (_, i) =>
      entry(`http://${i}.example/`, 500 + i, 'old '.repeat(8000)),
    );
    const { port, database } = await scene(t);
    t.match(
      await call(t, port, 'SEND-UPDATE 0\nINFO\nQUIT\n'),
      `${wrapped('')}499 - Sent 0 objects\n@GATHERER { -\n`,
    );
    await database.publish(big);
    const caller = new Caller(t, port);
    await caller.until(/^000/);
    caller.send('SEND-UPDATE 0\nSEND-UPDATE 1000\nQUIT\n');
    await caller.until(/old old/);
    caller.socket.pause();
    await database.publish([entry('http://0.example/', 1000, 'new')]);
    t.match(await call(t, port, 'SEND-UPDATE 1000\nQUIT\n'), /Body\{3\}:\tnew\n[\s\S]*499 - Sent 1 objects/);
    caller.socket.resume();
    await caller.closed;
    const [first, second] = caller.heard.split('499 - Sent 400 objects\n');
    t.equal(first?.includes('new'), false, 'the transfer under way saw one moment');
    t.match(
      second,
      wrapped(soif('http://0.example/', 1000, 'new')),
      'the next command sees the new database',
    );
  },
);

t.test('GATHERD-9, 3.10 gatherd.cf is read when a connection arrives', async (t) => {
  const accessFile = join(t.testdir(), 'gatherd.cf');
  const lookup = {
    reverse: async () => ['client.cs.example.edu'],
    forward: async (name: string) => (name === 'client.cs.example.edu' ? ['127.0.0.1'] : []),
  };
  const { port, log } = await scene(t, [A], { accessFile, lookup });
  const allowed = async (conf: string) => {
    await writeFile(accessFile, conf);
    const answer = await call(t, port, 'QUIT\n');
    if (answer !== '999 - Access denied\n') t.equal(answer, `${GREETING}999 - Bye\n`);
    return answer.startsWith('000');
  };
  t.equal(await call(t, port, 'QUIT\n'), `${GREETING}999 - Bye\n`, 'GATHERD-9.2 no file, everybody');
  t.equal(await allowed('Allow cs.example.edu\nDeny all\n'), true, 'GATHERD-9.3 below a domain');
  t.equal(
    await allowed('Allow xcs.example.edu s.example.edu\nDeny all\n'),
    false,
    'GATHERD-9.3 whole labels',
  );
  t.equal(await allowed('Deny 127.0.0.1\n'), false, 'GATHERD-9.5 literal address');
  t.equal(await allowed('Allow 127.0.0.1\nDeny all\n'), true, 'GATHERD-9.4 first match');
  t.equal(await allowed('# all\nFrobnicate x\nDeny other.example\n'), true, 'GATHERD-9.4, 9.6');
  t.match(log.join(''), /gatherd\.cf:2: .*Frobnicate/i);
  t.match(log.join(''), /127\.0\.0\.1: connection from client\.cs\.example\.edu: denied/);
});

t.test('a gatherd.cf that cannot be read admits no peer', async (t) => {
  const { port, log } = await scene(t, [A], { accessFile: t.testdir() });
  t.equal(await call(t, port, 'QUIT\n'), '999 - Access denied\n');
  t.match(log.join(''), /ERROR: .*cannot be used/);
});

t.test('GATHERD-12.3 a client that sends no complete command in time is disconnected', async (t) => {
  const { port, log } = await scene(t, [A], { idleTimeoutMs: 150 });
  const silent = new Caller(t, port);
  const dripping = new Caller(t, port);
  const drip = setInterval(() => dripping.send('x'), 20);
  await Promise.all([silent.closed, dripping.closed]);
  clearInterval(drip);
  t.equal(silent.heard, GREETING);
  t.equal(dripping.heard, GREETING);
  await logged(log, /no command in time/);
});

t.test('GATHERD-2.4 an endless line is refused and the connection closed', async (t) => {
  const { port, server } = await scene(t, [A]);
  const caller = new Caller(t, port);
  caller.socket.write(Buffer.alloc(4 << 20, 'x'));
  await caller.closed;
  t.match(caller.heard, `${GREETING}900 - Bad argument: line too long\n`);
  await drained(server);
});

t.test('a client that does not read costs one buffer, plain and compressed, and is dropped', async (t) => {
  for (const compression of ['', 'SET compression\n']) {
    let made = 0;
    const source = madeUpSource(async function* () {
      const { randomBytes } = await import('node:crypto');
      for (;;) {
        // Random, because other data would compress to almost nothing.
        const body = randomBytes(48 * 1024).toString('base64');
        const bytes = Buffer.from(soif('http://a.example/', 1, body));
        made += bytes.length;
        yield { bytes, objects: 1, updateTime: 1 };
      }
    });
    const { port, server, log } = await scene(t, [], { source, drainTimeoutMs: 200 });
    const caller = new Caller(t, port);
    caller.socket.pause();
    caller.send(`${compression}SEND-UPDATE 0\n`);
    await logged(log, /accepted no data for 200 ms/);
    t.ok(made < 32 << 20, `${made} bytes were made before it stopped`);
    await drained(server);
    t.equal(source.users.count, 1, 'the transfer let go of its generation');
    await server.close();
    t.equal(source.users.count, 0);
  }
});

t.test('a flood of short commands is answered in pieces', async (t) => {
  const { port } = await scene(t, [A]);
  const commands = 2000;
  const caller = new Caller(t, port);
  caller.send(`${'HELP\n'.repeat(commands)}QUIT\n`);
  await caller.closed;
  t.equal(caller.heard.split('200 - QUIT').length - 1, commands);
});

t.test('GATHERD-3.11 a database failure during a transfer closes without an end line', async (t) => {
  for (const compression of [false, true]) {
    const source = madeUpSource(async function* () {
      yield { bytes: Buffer.from(A.soif), objects: 1, updateTime: 100 };
      throw new StorageError('table damaged');
    });
    const { port, log, server } = await scene(t, [], { source });
    const client = await GatherdClient.connect({ host: '127.0.0.1', port });
    const all = async () => {
      for await (const _ of client.changes({ since: 0, compression }));
    };
    await t.rejects(all(), { code: 'ERR_CONNECTION' });
    t.match(log.join(''), /ERROR: 127\.0\.0\.1: transfer aborted \(table damaged\)/);
    await drained(server);
    t.equal(source.users.count, 1);
  }
});

t.test('stopping: idle sessions end immediately, a transfer may finish', async (t) => {
  let go: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const source = madeUpSource(async function* () {
    yield { bytes: Buffer.from(A.soif), objects: 1, updateTime: 100 };
    await gate;
    yield { bytes: Buffer.from(C.soif), objects: 1, updateTime: 200 };
  });
  const { port, server } = await scene(t, [], { source });
  const idle = new Caller(t, port);
  await idle.until(/^000/);
  const busy = new Caller(t, port);
  busy.send('SEND-UPDATE 0\n');
  await busy.until(/first/);
  const closed = server.close({ graceMs: 10_000 });
  await idle.closed;
  go();
  await closed;
  await busy.closed;
  t.match(busy.heard, `${wrapped(A.soif + C.soif)}499 - Sent 2 objects\n`);
});
