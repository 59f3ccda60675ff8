// Tests the rules of gatherd.md for clients that no other test covers, over the wire, with bytes written by
// hand.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { GatherdClient } from '../../../clients/gatherd/index.js';
import { GATHERD_PORT } from '../../../protocols/gatherd/index.js';
import { fakeServer, soif, updateStream } from '../../servers/gatherd/helpers.js';
import { A, ALL, B, BOTH, collect, connect, GREETING } from './example.js';

type Answers = Readonly<Record<string, string | Uint8Array>>;

/** A server that answers from a table and records the received lines. */
async function tableServer(t: Test, answers: Answers, greeting = GREETING) {
  const received: Buffer[] = [];
  const port = await fakeServer(t, async (line, socket: Socket) => {
    socket.write(greeting);
    for (let command = await line(); command !== undefined; command = await line()) {
      received.push(Buffer.from(`${command}\n`, 'latin1'));
      const verb = Object.keys(answers).find((key) => command?.startsWith(key));
      if (verb !== undefined) socket.write(answers[verb] ?? '', 'latin1');
      if (command === 'QUIT') return void socket.end();
    }
  });
  return { port, received: () => Buffer.concat(received).toString('latin1') };
}

const NORMAL: Answers = {
  HELLO: '100 - x\n',
  'SET compression': '500 - x\n',
  'SET changes': '500 - x\n',
  'SEND-UPDATE': Buffer.concat([
    Buffer.from('400 - x\n'),
    gzipSync(Buffer.from(ALL, 'latin1')),
    Buffer.from('499 - x\n'),
  ]),
  'SEND-OBJECT': `300 - x\n${A.soif}399 - x\n`,
  INFO: '@GATHERER { -\nNumber-Of-Objects{1}:\t2\n}\n600 - x\n',
  QUIT: '999 - x\n',
};
const CLEAR: Answers = {
  ...NORMAL,
  'SET compression': '900 - x\n',
  'SEND-UPDATE': `400 - x\n${ALL}499 - x\n`,
};

t.test('GATHERD-1.2: the default port of a Gatherer is 8500', async (t) => {
  t.equal(GATHERD_PORT, 8500);
  // A loopback address without a listener, so that the error names the port.
  await t.rejects(new GatherdClient({ host: '127.0.77.1' }).connect(), {
    code: 'ERR_CONNECTION',
    message: /127\.0\.77\.1:8500/,
  });
});

t.test('GATHERD-1.4, 2.3: commands are sent exactly as specified, and end in LF', async (t) => {
  const received: Buffer[] = [];
  const port = await fakeServer(t, async (line, socket) => {
    const write = socket.write.bind(socket);
    write(GREETING);
    for (let command = await line(); command !== undefined; command = await line()) {
      received.push(Buffer.from(`${command}\n`));
      const key = Object.keys(NORMAL).find((verb) => command?.startsWith(verb)) ?? '';
      socket.write(NORMAL[key] ?? '');
    }
    t.equal(socket.bytesRead, Buffer.concat(received).length, 'LF, no CR');
  });
  const client = await connect(port);
  await collect(client, true);
  await client.object('http://a.example/');
  await client.info();
  await client.quit();
  t.equal(
    Buffer.concat(received).toString(),
    'HELLO client.example.org\nSET compression\nSET changes\nSEND-UPDATE 0\nSEND-OBJECT http://a.example/\nINFO\nQUIT\n',
  );
});

t.test('GATHERD-1.5: a client accepts CR LF too', async (t) => {
  const crlf = (text: string) => text.replace(/\n$/, '\r\n');
  const { port } = await tableServer(
    t,
    {
      HELLO: '100 - x\r\n',
      'SET compression': '900 - x\r\n',
      'SET changes': '500 - x\r\n',
      'SEND-UPDATE': `400 - x\r\n${ALL}499 - x\r\n`,
      'SEND-OBJECT': `300 - x\r\n${A.soif}399 - x\r\n`,
      INFO: '@GATHERER { -\nA{1}:\t2\n}\n600 - x\r\n',
      QUIT: '999 - x\r\n',
    },
    crlf(GREETING),
  );
  const client = await connect(port);
  t.same(client.greeting, { version: '1.8', hostname: 'gatherer.example.org' });
  t.same(await collect(client, true), BOTH);
  t.equal((await client.object('x'))?.url, 'http://a.example/');
  t.equal((await client.info())?.text('A'), '2');
  t.same(await collect(client, true), BOTH);
  await client.quit();
});

t.test('GATHERD-1.6: a client uses only the numbers, not the texts', async (t) => {
  const { port } = await tableServer(t, {
    HELLO: '100 - Access denied\n',
    'SET compression': '500 - Compression not available, error 900\n',
    'SET changes': '900 - OK, enabled\n',
    'SEND-UPDATE': Buffer.concat([
      Buffer.from('400 - 499 - Bad timestamp\n'),
      gzipSync(Buffer.from(ALL, 'latin1')),
      Buffer.from('499 -\n'),
    ]),
    QUIT: '999 - 000 - HELLO again\n',
  });
  const client = await connect(port);
  t.same(await collect(client, true), BOTH);
  t.equal(client.changesAccepted, false);
  await client.quit();
});

t.test('GATHERD-1.7, 3.13: a client ignores unknown lines', async (t) => {
  const chatter = 'Welcome\n\n123 - what?\n  400 - indented\n4000 - long\n';
  const { port } = await tableServer(
    t,
    {
      HELLO: `${chatter}100 - x\n${chatter}`,
      'SET compression': `garbage\n900 - x\n${chatter.replace('123', '650')}`,
      'SET changes': '500 - x\nmore\n',
      'SEND-UPDATE': `${chatter}400 - x\n${ALL}499 - x\n${chatter}`,
      'SEND-OBJECT': `${chatter}399 - x\n`,
      QUIT: `${chatter}999 - x\n`,
    },
    `Hello\n${GREETING}motd\n`,
  );
  const client = await connect(port);
  t.same(await collect(client, true), BOTH);
  t.equal(await client.object('x'), undefined);
  await client.quit();
});

t.test('GATHERD-3.6: INFO is read with both end lines, twice in a session', async (t) => {
  const object = '@GATHERER { -\nNumber-Of-Objects{1}:\t2\n}\n';
  for (const info of [`${object}600 - x\n699 - x\n`, `${object}699 - x\n`, `600 - x\n${object}699 - x\n`]) {
    const { port } = await tableServer(t, { ...CLEAR, INFO: info });
    const client = await connect(port);
    t.equal((await client.info())?.number('Number-Of-Objects'), 2);
    t.equal((await client.info())?.number('Number-Of-Objects'), 2, 'late lines are no second reply');
    t.same(await collect(client, true), BOTH);
    await client.quit();
  }
  const without = await connect((await tableServer(t, { ...NORMAL, INFO: '600 - x\n699 - none\n' })).port);
  t.equal(await without.info(), undefined);
  await without.quit();
});

t.test('GATHERD-6.5: a reset after a complete member loses nothing, one inside is an error', async (t) => {
  const member = gzipSync(Buffer.from(ALL, 'latin1'));
  const resetting = (bytes: Uint8Array) =>
    fakeServer(t, async (line, socket) => {
      socket.write(GREETING);
      for (let command = await line(); command !== undefined; command = await line()) {
        if (!command.startsWith('SEND-UPDATE'))
          socket.write(command.startsWith('HELLO') ? '100 - x\n' : '500 - x\n');
        else {
          socket.write(Buffer.concat([Buffer.from('400 - x\n'), bytes]));
          // A reset discards data that the client has not read, so the test resets later.
          reset = () => void socket.resetAndDestroy();
        }
      }
    });
  let reset = () => {};
  const whole = await connect(await resetting(member));
  const found: string[] = [];
  for await (const { object } of whole.changes({ since: 0 })) {
    found.push(object.url);
    if (found.length === 2) reset();
  }
  t.same(found, [A.url, B.url]);
  await t.resolves(whole.quit(), 'quit resolves on a closed connection');

  const short = await connect(await resetting(member.subarray(0, -1)));
  const all = async () => {
    let count = 0;
    for await (const _ of short.changes({ since: 0 })) if (++count === 2) reset();
  };
  await t.rejects(all(), { code: 'ERR_CONNECTION' });
});

t.test('GATHERD-7.3: a server may close before it gets QUIT, when everything has arrived', async (t) => {
  let close = () => {};
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  const port = await fakeServer(t, async (line, socket) => {
    socket.on('close', close);
    socket.write(GREETING);
    for (let command = await line(); command !== undefined; command = await line()) {
      if (command.startsWith('HELLO')) socket.write('100 - x\n');
      else if (command.startsWith('SET')) socket.write('900 - x\n');
      else return void socket.end(`400 - x\n${ALL}499 - x\n`, 'latin1');
    }
  });
  const client = await connect(port);
  t.same(await collect(client, true), BOTH);
  await closed;
  await client.quit();
});

t.test('GATHERD-7.4: a client can read only the description of a Gatherer', async (t) => {
  const { port, received } = await tableServer(t, NORMAL);
  const client = await connect(port);
  t.equal((await client.info())?.type, 'GATHERER');
  await client.quit();
  t.equal(received(), 'HELLO client.example.org\nINFO\nQUIT\n');
});

t.test('GATHERD-12.3: silence ends a request after the idle time-out, close() at once', async (t) => {
  const member = gzipSync(Buffer.from(ALL, 'latin1'));
  const { port } = await tableServer(t, {
    ...NORMAL,
    'SEND-UPDATE': Buffer.concat([Buffer.from('400 - x\n'), member.subarray(0, 40)]),
  });
  const impatient = await connect(port, { timeoutMs: 50 });
  await t.rejects(collect(impatient, true), {
    code: 'ERR_CONNECTION',
    message: /nothing received for 50 ms/,
  });
  const client = await connect(port);
  const collecting = collect(client, true);
  await new Promise((resolve) => setImmediate(resolve));
  await client.close();
  await t.rejects(collecting, { code: 'ERR_CONNECTION' });
});

t.test('GATHERD-6.6: an update of a hundred members is read in pieces of any size', async (t) => {
  const body = soif('http://c.example/', 300, 'third '.repeat(200));
  const stream = updateStream(A.soif + B.soif + body);
  const members = Array.from({ length: 100 }, (_, i) => {
    const from = Math.floor((i * stream.length) / 100);
    const to = Math.floor(((i + 1) * stream.length) / 100);
    return gzipSync(Buffer.from(stream.slice(from, to), 'latin1'));
  });
  const data = Buffer.concat([Buffer.from('400 - x\n'), ...members, Buffer.from('499 - x\n')]);
  for (const size of [7, 100, 1 << 20]) {
    const port = await fakeServer(t, async (line, socket) => {
      socket.setNoDelay(true);
      socket.write(GREETING);
      for (let command = await line(); command !== undefined; command = await line()) {
        if (command === 'QUIT') return void socket.end('999 - x\n');
        if (!command.startsWith('SEND-UPDATE'))
          socket.write(command.startsWith('HELLO') ? '100 - x\n' : '500 - x\n');
        else
          for (let offset = 0; offset < data.length; offset += size) {
            if (!socket.write(data.subarray(offset, offset + size))) await once(socket, 'drain');
          }
      }
    });
    const client = await connect(port);
    t.same(await collect(client, true), [...BOTH, `update ${body}`], `pieces of ${size}`);
    await client.quit();
  }
});
