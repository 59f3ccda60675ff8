// Tests clients/gatherd with our server, and with servers that answer like historic, damaged or hostile ones.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { deflateRawSync, gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { GatherdClient, type GatherdClientOptions } from '../../../clients/gatherd/index.js';
import { UsageError } from '../../../protocols/errors.js';
import {
  entry,
  fakeServer,
  latin1,
  soif,
  startGatherd,
  updateStream,
} from '../../servers/gatherd/helpers.js';

const A = entry('http://a.example/', 100, 'first');
const B = entry('http://b.example/', 200, 'second\n499 - Sent 7 objects\n');
const STREAM = updateStream(A.soif + B.soif);
const INFO = '@GATHERER { -\nNumber-Of-Objects{1}:\t2\n}\n';

const connect = (port: number, options: Partial<GatherdClientOptions> = {}) =>
  new GatherdClient({ host: '127.0.0.1', port, clientName: 'client.example.org', ...options }).connect();

async function collect(client: GatherdClient, compression: boolean, since = 0): Promise<string[]> {
  const found: string[] = [];
  for await (const { kind, object, bytes } of client.changes({ since, compression })) {
    found.push(`${kind} ${object.url} ${bytes.length}`);
  }
  return found;
}
const BOTH = [`update http://a.example/ ${A.soif.length}`, `update http://b.example/ ${B.soif.length}`];

t.test('a session with our server: updates, an object, INFO, QUIT', async (t) => {
  const { port } = await startGatherd(t, [A, B]);
  const client = await connect(port);
  t.same(client.greeting, { version: '1.8', hostname: 'gatherer.example.org' });
  t.same(await collect(client, false), BOTH);
  t.same(await collect(client, true), BOTH, 'GATHERD-6.1: compression from now on');
  t.same(await collect(client, true, 101), BOTH.slice(1), 'GATHERD-4.8: several updates in a session');
  t.same(await collect(client, true, 201), []);
  let stream = '';
  for await (const bytes of client.stream({ since: 0 })) stream += latin1(bytes);
  t.equal(stream, STREAM);
  t.equal((await client.object('http://b.example/'))?.text('Body'), 'second\n499 - Sent 7 objects\n');
  t.equal(await client.object('http://x.example/'), undefined);
  t.equal((await client.info())?.number('Number-Of-Objects'), 2);
  t.equal((await client.info())?.number('Oldest-Update-Time'), 100);
  t.same(await collect(client, true), BOTH);
  await client.quit();
  await t.rejects(client.info(), { code: 'ERR_STATE' }, 'no request follows QUIT');
});

t.test('large objects arrive unchanged, in clear and compressed', async (t) => {
  const entries = Array.from({ length: 50 }, (_, i) =>
    entry(`http://${i}.example/`, 10 + i, `${i}!`.repeat(30_000)),
  );
  const { port } = await startGatherd(t, entries);
  await using client = await connect(port);
  for (const compression of [false, true]) {
    const urls: string[] = [];
    for await (const { object, bytes } of client.changes({ since: 0, compression })) {
      urls.push(object.url);
      if (latin1(bytes) !== entries[urls.length - 1]?.soif) t.fail(object.url);
    }
    t.same(
      urls,
      entries.map((one) => one.url),
    );
  }
});

interface Variant {
  /** Answer to `SET changes`; undefined for no answer. */
  readonly changes?: string;
  readonly compression?: string;
  readonly update?: (socket: Socket) => void;
  readonly info?: string;
}

/** A server that answers a session like our own, except for the variant. */
function serverWith(t: Test, { changes, compression, update, info }: Variant): Promise<number> {
  return fakeServer(t, async (line, socket) => {
    const answers: Record<string, string | undefined> = {
      HELLO: '100 - hello\n',
      'SET compression': compression ?? '500 - on\n',
      'SET changes': changes,
      INFO: info,
    };
    socket.write('000 - HELLO 1.5 old.example.org and more\n');
    for (let command = await line(); command !== undefined; command = await line()) {
      if (command.startsWith('SEND-UPDATE')) update?.(socket);
      else if (command === 'QUIT') return void socket.end('999 - bye\n');
      else socket.write(answers[command.startsWith('HELLO') ? 'HELLO' : command] ?? '', 'latin1');
    }
  });
}

const member = gzipSync(STREAM);
const send =
  (...parts: (string | Uint8Array)[]) =>
  (socket: Socket) => {
    socket.write(
      Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part))),
    );
  };

t.test('the answers of historic servers are read', async (t) => {
  const cases: readonly (readonly [name: string, variant: Variant])[] = [
    ['GATHERD-6.3: 499 directly after the trailer', { update: send('400 - x\n', member, '499 - x\n') }],
    [
      'GATHERD-6.5: closing instead of 499',
      {
        update: (socket) => {
          socket.end(Buffer.concat([Buffer.from('400 - x\n'), member]));
        },
      },
    ],
    [
      'GATHERD-6.9: no compression',
      { compression: '900 - no gzip\n', update: send(`400 - x\n${STREAM}499 - x\n`) },
    ],
    [
      'GATHERD-6.11: SET changes refused',
      { changes: '900 - what?\n', update: send('400 - x\n', member, '499 - x\n') },
    ],
    [
      'GATHERD-3.3: ends with 099',
      { compression: '900 - no\n', update: send(`400 - x\n${STREAM}099 - x\n`) },
    ],
    ['without wrappers', { compression: '900 - no\n', update: send(`400 - x\n${A.soif}${B.soif}499 - x\n`) }],
    [
      'GATHERD-6.6: two members, the first with a name',
      {
        update: send(
          '400 - x\n',
          Buffer.from('\x1f\x8b\x08\x08\0\0\0\0\0\x03All-Templates\0', 'latin1'),
          deflateRawSync(STREAM.slice(0, 60)),
          gzipSync(STREAM.slice(0, 60)).subarray(-8),
          gzipSync(STREAM.slice(60)),
          '499 - x\n',
        ),
      },
    ],
    [
      'one byte at a time',
      {
        update: (socket) => {
          for (const byte of Buffer.concat([Buffer.from('400 - x\n'), member, Buffer.from('499 - x\n')])) {
            socket.write(Uint8Array.of(byte));
          }
        },
      },
    ],
  ];
  for (const [name, variant] of cases) {
    const client = await connect(await serverWith(t, variant));
    t.equal(client.greeting.version, '1.5');
    t.same(await collect(client, true), BOTH, name);
    await client.quit();
    await client.close();
  }
});

t.test('GATHERD-3.6: INFO is read as two historic servers would send it', async (t) => {
  for (const info of [
    `${INFO}600 - end\n`,
    `600 - start\n${INFO}`,
    `600 - start\n${INFO}699 - end\n`,
    INFO,
  ]) {
    const client = await connect(
      await serverWith(t, { info, update: send('400 - x\n', member, '499 - x\n') }),
    );
    t.equal((await client.info())?.number('Number-Of-Objects'), 2);
    t.same(await collect(client, true), BOTH, 'late lines of INFO are ignored');
    t.equal((await client.info())?.number('Number-Of-Objects'), 2);
    await client.quit();
  }
  const without = await connect(await serverWith(t, { info: '900 - Unknown command: INFO\n' }));
  t.equal(await without.info(), undefined);
  await without.quit();
});

t.test('GATHERD-3.11, 6.5: incomplete transfers are errors after the valid objects', async (t) => {
  const end =
    (...parts: (string | Uint8Array)[]) =>
    (socket: Socket) => {
      send(...parts)(socket);
      socket.end();
    };
  const cases: readonly (readonly [name: string, variant: Variant, found: number])[] = [
    ['no end line', { compression: '900 - no\n', update: end(`400 - x\n${STREAM}`) }, 2],
    [
      'inside the second object',
      { compression: '900 - no\n', update: end('400 - x\n', STREAM.slice(0, -20)) },
      1,
    ],
    ['no data', { compression: '900 - no\n', update: end('400 - x\n') }, 0],
    ['inside the member', { update: end('400 - x\n', member.subarray(0, -30)) }, 0],
    ['inside the trailer', { update: end('400 - x\n', member.subarray(0, -3)) }, 2],
    ['killed', { update: (socket) => void socket.resetAndDestroy() }, 0],
  ];
  for (const [name, variant, expected] of cases) {
    const client = await connect(await serverWith(t, variant));
    let found = 0;
    const all = async () => {
      for await (const _ of client.changes({ since: 0 })) found += 1;
    };
    await t.rejects(all(), { code: 'ERR_CONNECTION' }, name);
    if (name !== 'inside the member') t.equal(found, expected, name);
  }
});

t.test('damaged or excessive compressed data ends the session', async (t) => {
  const wrong = Buffer.from(member);
  wrong[wrong.length - 6] = (wrong[wrong.length - 6] ?? 0) ^ 0xff;
  const bomb = gzipSync(Buffer.alloc(24 << 20));
  const cases: readonly (readonly [
    name: string,
    data: Uint8Array,
    options: Partial<GatherdClientOptions>,
  ])[] = [
    ['wrong checksum', wrong, {}],
    ['not deflate', Buffer.concat([member.subarray(0, 10), Buffer.alloc(100, 0xff)]), {}],
    ['not gzip', Buffer.from(STREAM), {}],
    ['ratio', bomb, { maxInflateRatio: 50 }],
    ['size', bomb, { maxInflatedBytes: 1 << 20 }],
  ];
  for (const [name, data, options] of cases) {
    const client = await connect(
      await serverWith(t, { update: send('400 - x\n', data, '499 - x\n') }),
      options,
    );
    await t.rejects(collect(client, true), { code: 'ERR_PROTOCOL', rule: 'GATHERD-6.5' }, name);
    await t.rejects(client.info(), { code: /ERR_CONNECTION|ERR_STATE/ }, 'the session is over');
  }
});

t.test('malformed objects are skipped and reported', async (t) => {
  const broken = '@FILE { http://bad.example/\nTitle{x}:\toops\n}\n';
  const stream = updateStream(A.soif + broken + B.soif);
  for (const variant of [
    { compression: '900 - no\n', update: send(`400 - x\n${stream}499 - x\n`) },
    { update: send('400 - x\n', gzipSync(stream), '499 - x\n') },
  ]) {
    const warnings: string[] = [];
    const client = await connect(await serverWith(t, variant), {
      onWarning: ({ rule }) => void warnings.push(rule),
    });
    const found = await collect(client, true);
    t.ok(
      BOTH.every((one) => found.includes(one)),
      found.join(),
    );
    t.ok(warnings.length > 0);
    t.match(warnings[0], /^SOIF-/);
    await client.quit();
  }
});

t.test('the section of an object is the kind of its change', async (t) => {
  const stream = `@DELETE {\n@FILE { http://d.example/\n}\n}\n@REFRESH {\n${soif('http://r.example/', 5, 'x')}}\n@UPDATE {\n${A.soif}}\n`;
  const client = await connect(
    await serverWith(t, { changes: '500 - on\n', update: send('400 - x\n', gzipSync(stream), '499 - x\n') }),
  );
  const kinds = (await collect(client, true)).map((one) => one.split(' ').slice(0, 2).join(' '));
  t.same(kinds, ['delete http://d.example/', 'refresh http://r.example/', 'update http://a.example/']);
  await client.quit();
});

t.test('connect rejects refusals, other servers, silence and endless greetings', async (t) => {
  const denied = await fakeServer(t, async (_, socket) => void socket.end('999 - Access denied\n'));
  await t.rejects(connect(denied), { code: 'ERR_PEER', status: 999 }, 'GATHERD-3.10');
  const broker = await fakeServer(t, async (_, socket) => void socket.write('200 - Harvest Broker 1.5\n'));
  await t.rejects(connect(broker), { code: 'ERR_PEER', status: 200 });
  const silent = await fakeServer(t, async () => {});
  await t.rejects(connect(silent, { timeoutMs: 50 }), { code: 'ERR_CONNECTION', message: /for 50 ms/ });
  const closing = await fakeServer(t, async (_, socket) => void socket.end());
  await t.rejects(connect(closing), { code: 'ERR_CONNECTION' });
  const endless = await fakeServer(t, async (_, socket) => void socket.write('x'.repeat(100_000)));
  await t.rejects(connect(endless), { code: 'ERR_PROTOCOL' });
  // A port that was just released.
  const { server, port } = await startGatherd(t);
  await server.close();
  await t.rejects(connect(port), { code: 'ERR_CONNECTION', message: /connection refused/ });
});

t.test('signals and time-outs end every wait', async (t) => {
  const stalled = await serverWith(t, { update: send('400 - x\n', '@DELETE {\n') });
  const stop = () => {
    const controller = new AbortController();
    return { signal: controller.signal, abort: () => controller.abort(new Error('enough')) };
  };
  await t.rejects(connect(stalled, { signal: AbortSignal.abort(new Error('enough')) }), {
    message: 'enough',
  });

  const silent = await fakeServer(t, async () => {});
  const early = stop();
  const connecting = connect(silent, { signal: early.signal });
  early.abort();
  await t.rejects(connecting, { message: 'enough' });

  const client = await connect(
    await serverWith(t, { compression: '900 - no\n', update: send(`400 - x\n@UPDATE {\n${A.soif}`) }),
  );
  const late = stop();
  const iteration = client.changes({ since: 0, signal: late.signal });
  t.equal((await iteration.next()).value?.object.url, 'http://a.example/');
  const next = iteration.next();
  late.abort();
  await t.rejects(next, { message: 'enough' });

  const idle = await connect(stalled, { timeoutMs: 50 });
  await t.rejects(collect(idle, false), { code: 'ERR_CONNECTION', message: /nothing received for 50 ms/ });
});

t.test('one request at a time; a half-read update closes the session', async (t) => {
  const { port, server } = await startGatherd(t, [A, B]);
  const client = await connect(port);
  for await (const { object } of client.changes({ since: 0 })) {
    t.equal(object.url, 'http://a.example/');
    await t.rejects(client.info(), { code: 'ERR_STATE' });
    break;
  }
  await t.rejects(client.object('http://a.example/'), { code: 'ERR_CONNECTION' });
  const bad = await connect(port);
  await t.rejects(bad.object('http://a.example/ QUIT'), { code: 'ERR_USAGE' });
  t.ok(await bad.info(), 'a wrong argument leaves the session usable');
  await t.rejects(collect(bad, false, -1), UsageError);
  await bad.close();
  while (server.connections > 0) await new Promise((resolve) => setTimeout(resolve, 5));
});

t.test('a server that stops in the middle of a transfer is an error', async (t) => {
  const entries = Array.from({ length: 100 }, (_, i) =>
    entry(`http://${i}.example/`, 10 + i, 'y'.repeat(200_000)),
  );
  const { port, server } = await startGatherd(t, entries);
  const client = await connect(port);
  let found = 0;
  const all = async () => {
    for await (const _ of client.changes({ since: 0, compression: false })) {
      found += 1;
      if (found === 1) await server.close({ graceMs: 0 });
    }
  };
  await t.rejects(all(), { code: 'ERR_CONNECTION' });
  t.ok(found < 100, `${found} objects arrived`);
});

t.test('a slow consumer stops the server', async (t) => {
  let written = 0;
  let full = false;
  const chunk = Buffer.from(soif('http://a.example/', 1, 'z'.repeat(100_000)));
  const port = await serverWith(t, {
    compression: '900 - no\n',
    update: (socket) => {
      socket.write('400 - x\n');
      const writeAll = async () => {
        while (written < 256 << 20 && !socket.destroyed) {
          written += chunk.length;
          if (!socket.write(chunk)) {
            full = true;
            await once(socket, 'drain');
            full = false;
          }
        }
      };
      writeAll().catch(() => {});
    },
  });
  const client = await connect(port);
  const iteration = client.changes({ since: 0 });
  await iteration.next();
  let before = -1;
  while (!full || written !== before) {
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  t.ok(written < 64 << 20, `${written} bytes were written`);
  await iteration.return();
});
