// Guessing the password of the references server's statistics: an address that was wrong ten times must wait.
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { userLine } from '../../servers/refererd/index.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { serveFixture } from '../servers/refererd/helpers.js';
import { ask, dial } from './sockets.js';

const PASSWORD = 'sesame';

/** Requests the statistics with a password; returns the reply. */
async function request(
  t: Test,
  port: number,
  password: string,
  from?: string,
  path = '/stat',
): Promise<string> {
  const socket = await dial(t, port, from);
  const credentials = Buffer.from(`anna:${password}`).toString('base64');
  const text = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic ${credentials}\r\n\r\n`;
  return await ask(socket, text, /never/);
}

const status = (reply: string): string => reply.slice(9, 12);

async function passwordFile(t: Test, mode: number): Promise<string> {
  const file = join(await temporaryDirectory(t), 'users');
  await writeFile(file, `${await userLine('anna', PASSWORD)}\n`);
  await chmod(file, mode);
  return file;
}

t.test('of 300 passwords, many at once, ten are compared; the log stays short', async (t) => {
  const { address, memory } = await serveFixture(t, { passwordFile: await passwordFile(t, 0o600) });
  const { port } = address;
  const replies: string[] = [];
  for (let i = 0; i < 300; i += 50) {
    const paths = ['/stat', '/clean', '/reload'];
    const guesses = Array.from({ length: 50 }, (_, k) => {
      return request(t, port, `guess${i + k}`, '127.0.0.2', paths[k % 3]);
    });
    replies.push(...(await Promise.all(guesses)));
  }
  t.equal(replies.filter((reply) => status(reply) === '401').length, 10);
  t.equal(replies.filter((reply) => status(reply) === '429').length, 290);
  const refused = await request(t, port, PASSWORD, '127.0.0.2');
  t.equal(status(refused), '429', 'the address waits, whatever it sends');
  t.match(refused, /retry-after: \d+\r\n/i);
  t.equal(status(await request(t, port, PASSWORD, '127.0.0.3')), '200', 'another address does not wait');
  const warnings = memory.lines.filter(({ level }) => level <= 30).map(({ text }) => text);
  t.ok(warnings.length <= 12, `${warnings.length} warnings`);
  t.match(
    warnings.at(-1),
    /127\.0\.0\.2 HTTP: .* refused after too many wrong passwords, the address must wait \d+ s/,
  );
  t.notMatch(memory.text, /guess|sesame/, 'no password is logged');
});

t.test('a file of users that others can read is told at the start', async (t) => {
  const open = await passwordFile(t, 0o644);
  const told = await serveFixture(t, { passwordFile: open });
  t.match(told.memory.text, /users.*other users than its owner can read it: `chmod 600 /);
  const silent = await serveFixture(t, { passwordFile: await passwordFile(t, 0o600) });
  t.notMatch(silent.memory.text, /other users/);
});
