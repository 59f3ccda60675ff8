// gatherd over TCP: transfers byte for byte, INFO, access, timeouts, slow clients, stopping. Rules: gatherd.md
// (GATHERD).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { GatherdClient } from '../../../clients/gatherd/index.js';
import { StorageError } from '../../../protocols/errors.js';
import { gate } from '../../helpers/gate.js';
import {
  entry,
  exchange,
  generatedSource,
  RawClient,
  soif,
  startGatherd,
  updateStream,
  waitForDisconnects,
  waitForLog,
} from './helpers.js';

const A = entry('http://a.example/', 100, 'first');
const B = entry('http://b.example/', 200, 'second\n499 - Sent 7 objects\n');
const C = entry('http://c.example/', 200, 'third');
const ALL = updateStream(A.soif + B.soif + C.soif);
const GREETING = '000 - HELLO 1.8 gatherer.example.org\n';

t.test('GATHERD-7.1: an uncompressed full copy, byte for byte', async (t) => {
  const { port, log } = await startGatherd(t, [C, A, B]);
  t.equal(
    await exchange(t, port, 'HELLO client.example.org\nSEND-UPDATE 0\nQUIT\n'),
    `${GREETING}100 - HELLO client.example.org\n400 - Sending all objects since 0\n${ALL}499 - Sent 3 objects\n999 - Bye\n`,
    'GATHERD-4.6: objects are ordered by Update-Time, then by URL',
  );
  await waitForLog(log, /end of session/);
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
    'GATHERD-12.2: each command and its result is logged',
  );
});

t.test('GATHERD-4.3, 4.5: objects at the boundary are included; nothing new: empty sections', async (t) => {
  const { port } = await startGatherd(t, [A, B, C]);
  const since = async (time: number) => {
    const reply = await exchange(t, port, `SEND-UPDATE ${time}\nQUIT\n`);
    return /objects since \d+\n([\s\S]*)499 - Sent (\d) objects\n999 - Bye\n$/.exec(reply)?.slice(1);
  };
  t.same(await since(100), [ALL, '3']);
  t.same(await since(101), [updateStream(B.soif + C.soif), '2']);
  t.same(await since(200), [updateStream(B.soif + C.soif), '2']);
  t.same(await since(201), [updateStream(''), '0']);
});

t.test('GATHERD-3.4, 3.6, 3.8, 5: SEND-OBJECT and INFO', async (t) => {
  const identity = { name: 'Ant Gatherer', host: 'ants.example.org', port: 8500, version: '0.1' };
  const { port } = await startGatherd(t, [A, B, C], { identity });
  t.equal(
    await exchange(
      t,
      port,
      'SET compression\nSEND-OBJECT http://b.example/\nSEND-OBJECT http://x.example/\nQUIT\n',
    ),
    `${GREETING}500 - Compression enabled\n300 - Sending object http://b.example/\n${B.soif}399 - Sent object\n399 - No such object http://x.example/\n999 - Bye\n`,
  );
  const info = await exchange(t, port, 'INFO\nQUIT\n');
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
    'Attributes{17}:\tBody\nUpdate-Time\n\n',
  ]) {
    t.ok(description.includes(attribute), attribute);
  }
  t.match(description, /\nUpdate-Time\{10\}:\t\d{10}\n/);
});

t.test('GATHERD-8.3: a daemon without a configured identity uses that of the newest object', async (t) => {
  const gathered = (url: string, time: number, name: string) => ({
    url,
    updateTime: time,
    soif: `@FILE { ${url}\nGatherer-Name{3}:\t${name}\nGatherer-Host{5}:\tg.org\nGatherer-Version{3}:\t0.7\nUpdate-Time{3}:\t${time}\n}\n`,
  });
  const old = gathered('http://a.example/', 100, 'Old');
  const { port } = await startGatherd(t, [old, gathered('http://b.example/', 200, 'New')]);
  const info = await exchange(t, port, 'INFO\nQUIT\n');
  t.match(info, 'Gatherer-Name{3}:\tNew\nGatherer-Host{5}:\tg.org\n');
  t.match(info, 'Gatherer-Version{3}:\t0.7\n');

  const empty = await exchange(t, (await startGatherd(t, [])).port, 'INFO\nQUIT\n');
  t.match(empty, 'Last-Modification-Time{1}:\t0\n', 'SOIF-6.2: without objects the time is 0');
  t.match(empty, 'Number-Of-Objects{1}:\t0\n');
  t.match(empty, 'Gatherer-Name{20}:\tgatherer.example.org\nGatherer-Host{20}:\tgatherer.example.org\n');
});

t.test('GATHERD-6.3: one LF after the member, for clients that say so or by an option only', async (t) => {
  const gap = (reply: string) => {
    const [, member = ''] = /400 - [^\n]*\n([\s\S]*)499 - Sent/.exec(reply) ?? [];
    const bytes = Buffer.from(member, 'latin1');
    // The last four bytes of a member are the length of its data.
    const at = bytes.lastIndexOf(Buffer.from(Uint32Array.of(updateStream(A.soif + B.soif).length).buffer));
    t.equal(gunzipSync(bytes.subarray(0, at + 4)).toString('latin1'), updateStream(A.soif + B.soif));
    return bytes.subarray(at + 4).toString('latin1');
  };
  const compressed = 'SET compression\nSEND-UPDATE 0\nQUIT\n';
  const plain = await startGatherd(t, [A, B]);
  t.equal(gap(await exchange(t, plain.port, compressed)), '');
  t.equal(gap(await exchange(t, plain.port, `SET line-end\n${compressed}`)), '\n');
  const clear = await exchange(t, plain.port, 'SET line-end\nSEND-UPDATE 0\nQUIT\n');
  t.ok(clear.includes('}\n499 - Sent 2 objects\n'), 'data in clear stays as it is');
  const option = await startGatherd(t, [A, B], { lineEndAfterMember: true });
  t.equal(gap(await exchange(t, option.port, compressed)), '\n');
});

t.test('GATHERD-6.2, 6.3: a compressed transfer is one gzip member, then the end line', async (t) => {
  const { port } = await startGatherd(t, [A, B, C]);
  const reply = await exchange(t, port, 'SET compression\nSEND-UPDATE 0\nQUIT\n');
  const start = `${GREETING}500 - Compression enabled\n400 - Sending all objects since 0\n`;
  const end = '499 - Sent 3 objects\n999 - Bye\n';
  t.ok(reply.startsWith(start));
  t.ok(reply.endsWith(end));
  const member = Buffer.from(reply.slice(start.length, -end.length), 'latin1');
  t.equal(gunzipSync(member).toString('latin1'), ALL, 'exactly one gzip member');

  // The sample client (GATHERD-7.2): everything up to a line that begins 499 goes to `gzip -d`.
  const gzip = spawn('gzip', ['-dc'], { stdio: ['pipe', 'pipe', 'pipe'] });
  gzip.stdin.on('error', () => {});
  gzip.stdin.end(Buffer.from(reply.slice(start.length), 'latin1'));
  const output: Buffer[] = [];
  gzip.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  const [status] = await once(gzip, 'close');
  t.equal(Buffer.concat(output).toString('latin1'), ALL);
  t.equal(status, 2, 'GATHERD-6.7: gzip warns about trailing garbage and ignores it');
});

t.test('GATHERD-7.3: the ROADS client sends no HELLO, ends lines with CR LF, and closes early', async (t) => {
  const { port, server } = await startGatherd(t, [A, B, C]);
  for (let round = 0; round < 5; round++) {
    const client = new RawClient(t, port);
    await client.until(/^000 - HELLO .*\n/);
    client.send('SEND-UPDATE 0\r\n');
    t.ok((await client.until(/^499 - Sent 3/m)).includes(ALL));
    client.send('QUIT\r\n');
    client.socket.destroy();
    await client.closed;
  }
  t.equal(await exchange(t, port, 'QUIT\r\n'), `${GREETING}999 - Bye\n`);
  await waitForDisconnects(server);
});

t.test('a client that closes its sending side receives the reply', async (t) => {
  const { port } = await startGatherd(t, [A]);
  const client = new RawClient(t, port);
  client.socket.end('SEND-UPDATE 0\n');
  await client.closed;
  t.match(client.received, `${updateStream(A.soif)}499 - Sent 1 objects\n`);
});

t.test('GATHERD-12.4: a hundred concurrent clients receive complete copies', async (t) => {
  const entries = Array.from({ length: 300 }, (_, i) =>
    entry(`http://${i}.example/`, 1000 + i, `${i} `.repeat(200)),
  );
  const { port, server } = await startGatherd(t, entries);
  const expected = updateStream(entries.map(({ soif }) => soif).join(''));
  const clients = await Promise.all(
    Array.from({ length: 100 }, () =>
      new GatherdClient({ host: '127.0.0.1', port, clientName: 'c' }).connect(),
    ),
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
  await waitForDisconnects(server);
});

t.test('GATHERD-10.5, 12.4: no generation, no objects; a transfer keeps its generation', async (t) => {
  const big = Array.from({ length: 400 }, (_, i) =>
    entry(`http://${i}.example/`, 500 + i, 'old '.repeat(8000)),
  );
  const { port, database } = await startGatherd(t);
  t.match(
    await exchange(t, port, 'SEND-UPDATE 0\nINFO\nQUIT\n'),
    `${updateStream('')}499 - Sent 0 objects\n@GATHERER { -\n`,
  );
  await database.publish(big);
  const client = new RawClient(t, port);
  await client.until(/^000/);
  client.send('SEND-UPDATE 0\nSEND-UPDATE 1000\nQUIT\n');
  await client.until(/old old/);
  client.socket.pause();
  await database.publish([entry('http://0.example/', 1000, 'new')]);
  t.match(
    await exchange(t, port, 'SEND-UPDATE 1000\nQUIT\n'),
    /Body\{3\}:\tnew\n[\s\S]*499 - Sent 1 objects/,
  );
  client.socket.resume();
  await client.closed;
  const [first, second] = client.received.split('499 - Sent 400 objects\n');
  t.equal(first?.includes('new'), false, 'the running transfer sends its own generation');
  t.match(second, updateStream(soif('http://0.example/', 1000, 'new')), 'then the new generation');
});

t.test('GATHERD-12.3: a client that sends no complete command in time is disconnected', async (t) => {
  const { port, log } = await startGatherd(t, [A], { idleTimeoutMs: 150 });
  const silent = new RawClient(t, port);
  const dripping = new RawClient(t, port);
  const blank = new RawClient(t, port);
  const tooLong = new RawClient(t, port);
  const drip = setInterval(() => {
    dripping.send('x');
    blank.send(' \r\n');
    tooLong.send(`${'x'.repeat(8193)}\n`);
  }, 20);
  await Promise.all([silent, dripping, blank, tooLong].map(({ closed }) => closed));
  clearInterval(drip);
  t.equal(blank.received, GREETING, 'an ignored line completes no command');
  t.match(tooLong.received, `${GREETING}900 - Bad argument: line too long\n`, 'one that is too long neither');
  t.equal(silent.received, GREETING);
  t.equal(dripping.received, GREETING);
  await waitForLog(log, /no command in time/);
});

t.test('GATHERD-3.4: input that the server does not read does not destroy the answer to QUIT', async (t) => {
  const { port } = await startGatherd(t, [A]);
  const client = new RawClient(t, port);
  const errors: unknown[] = [];
  client.socket.on('error', (error) => errors.push(error));
  client.socket.write(Buffer.concat([Buffer.from('QUIT\n'), Buffer.alloc(512 * 1024, 'x')]));
  await client.closed;
  t.equal(client.received, `${GREETING}999 - Bye\n`);
  t.same(errors, [], 'no reset');
});

t.test('GATHERD-2.4: an endless line is refused and the connection closed', async (t) => {
  const { port, server } = await startGatherd(t, [A]);
  const client = new RawClient(t, port);
  client.socket.write(Buffer.alloc(4 << 20, 'x'));
  await client.closed;
  t.match(client.received, `${GREETING}900 - Bad argument: line too long\n`);
  await waitForDisconnects(server);
});

t.test('a client that does not read is disconnected; until then the export waits', async (t) => {
  for (const compression of ['', 'SET compression\n']) {
    let generatedBytes = 0;
    const source = generatedSource(async function* () {
      const { randomBytes } = await import('node:crypto');
      for (;;) {
        // Random, because other data would compress to almost nothing.
        const body = randomBytes(48 * 1024).toString('base64');
        const bytes = Buffer.from(soif('http://a.example/', 1, body));
        generatedBytes += bytes.length;
        yield { bytes, objects: 1, updateTime: 1 };
      }
    });
    const { port, server, log } = await startGatherd(t, [], { source, drainTimeoutMs: 200 });
    const client = new RawClient(t, port);
    client.socket.pause();
    client.send(`${compression}SEND-UPDATE 0\n`);
    await waitForLog(log, /accepted no data for 200 ms/);
    t.ok(generatedBytes < 32 << 20, `the export stopped after ${generatedBytes} bytes`);
    await waitForDisconnects(server);
    t.equal(source.users.count, 1, 'the transfer has released its generation');
    await server.close();
    t.equal(source.users.count, 0);
  }
});

t.test('each of two thousand pipelined commands gets its reply', async (t) => {
  const { port } = await startGatherd(t, [A]);
  const commands = 2000;
  const client = new RawClient(t, port);
  client.send(`${'HELP\n'.repeat(commands)}QUIT\n`);
  await client.closed;
  t.equal(client.received.split('200 - QUIT').length - 1, commands);
});

t.test('GATHERD-3.11: after a database failure the connection closes without an end line', async (t) => {
  for (const compression of [false, true]) {
    const source = generatedSource(async function* () {
      yield { bytes: Buffer.from(A.soif), objects: 1, updateTime: 100 };
      throw new StorageError('table damaged');
    });
    const { port, log, server } = await startGatherd(t, [], { source });
    const client = await new GatherdClient({ host: '127.0.0.1', port }).connect();
    const readAll = async () => {
      for await (const _ of client.changes({ since: 0, compression }));
    };
    await t.rejects(readAll(), { code: 'ERR_CONNECTION' });
    t.match(log.join(''), /ERROR: 127\.0\.0\.1: transfer aborted \(table damaged\)/);
    await waitForDisconnects(server);
    t.equal(source.users.count, 1);
  }
});

t.test('stopping: idle sessions end immediately, a transfer may finish', async (t) => {
  const sending = gate();
  const source = generatedSource(async function* () {
    yield { bytes: Buffer.from(A.soif), objects: 1, updateTime: 100 };
    await sending.opened;
    yield { bytes: Buffer.from(C.soif), objects: 1, updateTime: 200 };
  });
  const { port, server } = await startGatherd(t, [], { source });
  const idle = new RawClient(t, port);
  await idle.until(/^000/);
  const busy = new RawClient(t, port);
  busy.send('SEND-UPDATE 0\n');
  await busy.until(/first/);
  const closed = server.close({ graceMs: 10_000 });
  await idle.closed;
  sending.open();
  await closed;
  await busy.closed;
  t.match(busy.received, `${updateStream(A.soif + C.soif)}499 - Sent 2 objects\n`);
});
