// Floods of pipelined requests: a cheap request of another client is served beside them.
import type { Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { Database, entry } from '../servers/gatherd/helpers.js';
import { assertFair } from './fairness.js';
import { startBroker, startProgram, startReferences } from './programs.js';
import { ask, dial } from './sockets.js';

/** Sends a text on a new connection, and waits for a reply that matches. */
async function askAnew(t: Test, port: number, text: string, end: RegExp): Promise<void> {
  const socket = await dial(t, port);
  await askFor(socket, text, end);
  socket.destroy();
}

/** Sends a text and waits for a reply that matches; a connection that is closed before is an error. */
async function askFor(socket: Socket, text: string, end: RegExp): Promise<void> {
  const received = await ask(socket, text, end);
  if (!end.test(received)) throw new Error(`closed after ${received}`);
}

t.test('gatherd: HELLO beside floods of commands', async (t) => {
  const directory = await temporaryDirectory(t);
  const database = new Database(directory);
  await database.publish(
    Array.from({ length: 500 }, (_, i) => entry(`http://${i}.example/`, 100 + i, 'x'.repeat(500))),
  );
  const args = ['gatherd', '-d', directory, '--log', join(directory, 'log'), '0'];
  const { port } = await startProgram(t, args, /^ready gatherd=127\.0\.0\.1:(\d+)/m);
  const client = await dial(t, port);
  await askFor(client, '', /\n$/);
  const hello = () => askFor(client, 'HELLO me\n', /100 - HELLO me\n$/);
  const fresh = () => askAnew(t, port, 'HELLO me\nQUIT\n', /999 - Bye\n$/);
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
  const { port } = await startBroker(t, /^ready broker=127\.0\.0\.1:(\d+)/m);
  const message = () => askAnew(t, port, '#USER #END (\r\n', /\n$/);
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
  const { port } = await startReferences(t, 20_000);
  const client = await dial(t, port);
  const sstp = () =>
    askFor(client, 'SSTP/1.0 081 X\r\nHEADER_URI_ID: 2\r\n\r\n', /HEADER_URI_ID: 1\r\n\r\n$/);
  const http = () => askAnew(t, port, 'GET /?q=2&format=json HTTP/1.0\r\n\r\n', /\}$/);
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
