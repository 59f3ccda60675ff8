// Floods of pipelined requests: a cheap request of another client is served beside them.
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { CliProcess } from '../helpers/cli.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { Database, entry } from '../servers/gatherd/helpers.js';
import { publishFixture } from '../storage/references/fixture.js';
import { assertFair } from './fairness.js';

/** Starts a server and returns its port and process. */
async function start(t: Test, args: readonly string[], name: string): Promise<number> {
  const server = new CliProcess(args);
  t.teardown(async () => {
    server.kill('SIGKILL');
    await server.finished;
  });
  const [, port] = await server.output(new RegExp(`^ready ${name}=127\\.0\\.0\\.1:(\\d+)`, 'm'));
  return Number(port);
}

/** Connects and waits for the first data that matches. */
async function dial(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  await once(socket, 'connect');
  return socket;
}

/** Sends a text and waits until the reply ends with `end`. */
async function ask(socket: Socket, text: string, end: string): Promise<void> {
  let received = '';
  const done = new Promise<void>((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      received += chunk.toString('latin1');
      if (!received.endsWith(end)) return;
      socket.off('data', onData);
      resolve();
    };
    socket.on('data', onData);
    socket.once('close', () => reject(new Error(`closed after ${received}`)));
  });
  socket.write(text);
  await done;
  socket.removeAllListeners('close');
}

t.test('gatherd: HELLO beside floods of commands', async (t) => {
  const directory = await temporaryDirectory(t);
  const database = new Database(directory);
  await database.publish(
    Array.from({ length: 500 }, (_, i) => entry(`http://${i}.example/`, 100 + i, 'x'.repeat(500))),
  );
  const port = await start(t, ['gatherd', '-d', directory, '--log', join(directory, 'log'), '0'], 'gatherd');
  const client = await dial(port);
  t.teardown(() => client.destroy());
  await ask(client, '', '\n');
  const hello = (): Promise<void> => ask(client, 'HELLO me\n', '100 - HELLO me\n');
  const fresh = async (): Promise<void> => {
    const socket = await dial(port);
    await ask(socket, 'HELLO me\nQUIT\n', '999 - Bye\n');
    socket.destroy();
  };
  for (const text of [
    'INFO\n',
    'SEND-UPDATE 1999999999\n',
    'SEND-OBJECT http://1.example/\n',
    'HELP\n',
    'nonsense\n',
  ]) {
    for (const connections of [1, 20]) {
      const name = JSON.stringify(text);
      await assertFair(t, port, `HELLO, ${name}`, hello, { connections, text });
    }
  }
  await assertFair(t, port, 'a session, INFO', fresh, { connections: 20, text: 'INFO\n' });
});

t.test('Broker: a message beside floods of connections and of malformed messages', async (t) => {
  const directory = await temporaryDirectory(t);
  await mkdir(join(directory, 'admin'));
  const file = join(directory, 'admin', 'broker.conf');
  await writeFile(file, `Broker-Directory ${directory}\nBroker-Port 0\nBroker-Host localhost\n`);
  const port = await start(t, ['broker', file, '-nocol', '--web-port', '0'], 'broker');
  const message = async (): Promise<void> => {
    const socket = await dial(port);
    await ask(socket, '#USER #END (\r\n', '\n');
    socket.destroy();
  };
  const floods = {
    'no message': '',
    'a malformed message': '#USER #END (\r\n',
    'a long message': 'x'.repeat(65_000),
  };
  for (const [name, text] of Object.entries(floods)) {
    for (const connections of [1, 20])
      await assertFair(t, port, `Broker, ${name}`, message, { connections, text, reconnect: true });
  }
});

t.test('refererd: SSTP and HTTP beside floods of requests', async (t) => {
  const data = await temporaryDirectory(t);
  await publishFixture(
    data,
    [
      { id: 1, url: 'http://many.example/' },
      { id: 2, url: 'http://few.example/' },
    ],
    [...Array.from({ length: 20_000 }, (_, i): [number, number] => [1, 1_000_000 + i]), [2, 1]],
  );
  const port = await start(t, ['refererd', '--data', data, '--port', '0'], 'refererd');
  const client = await dial(port);
  t.teardown(() => client.destroy());
  const sstp = (): Promise<void> =>
    ask(client, 'SSTP/1.0 081 X\r\nHEADER_URI_ID: 2\r\n\r\n', 'HEADER_URI_ID: 1\r\n\r\n');
  const http = async (): Promise<void> => {
    const socket = await dial(port);
    await ask(socket, 'GET /?q=2&format=json HTTP/1.0\r\n\r\n', '}');
    socket.destroy();
  };
  const floods = {
    'few links': 'SSTP/1.0 081 X\r\nHEADER_URI_ID: 2\r\n\r\n',
    'all links': 'SSTP/1.0 081 X\r\nHEADER_URI_ID: 1\r\n\r\n',
    'no links': 'SSTP/1.0 081 X\r\nHEADER_URI_ID: 1\r\nHEADER_NUMRESULTS: 0\r\n\r\n',
    'unknown URLs': 'SSTP/1.0 008 X\r\nHEADER_URI: http://unknown.example/\r\n\r\n',
    'malformed requests': 'SSTP/1.0 081 X\r\n\r\n',
  };
  for (const [name, text] of Object.entries(floods)) {
    for (const connections of [1, 20])
      await assertFair(t, port, `SSTP, ${name}`, sstp, { connections, text });
    await assertFair(t, port, `HTTP, ${name}`, http, { connections: 20, text });
  }
  const text = 'GET /?q=1 HTTP/1.0\r\n\r\n';
  await assertFair(t, port, 'SSTP, HTTP pages', sstp, { connections: 4, text, reconnect: true });
});
