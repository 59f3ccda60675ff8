// The list of allowed hosts and the login come before everything else, whatever the request looks like.
import t, { type Test } from 'tap';
import { userLine } from '../../../servers/refererd/index.js';
import { inputRead, ManualClock, passTime } from '../../helpers/manual-clock.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { basicAuthorization, exchange, RawClient, serveFixture, writeTextFile } from './helpers.js';

const HOST = 'Host: localhost\r\n';
const requestOf = (line: string, headers = HOST) => `${line}\r\n${headers}\r\n`;

/** Ways to write a path of the administration, or to reach it by another one. */
const DISGUISES = [
  '/%73tat',
  '/%2573tat',
  '/st%61t',
  '/%2e/stat',
  '/./stat',
  '/x/../stat',
  '/x/%2e%2e/stat',
  '//stat',
  '/stat/',
  '/STAT',
  '/Stat',
  '\\stat',
  '/\\stat',
  '/%5cstat',
  '/stat%00',
  '/stat;x',
  '/stat%3bx',
  '/stat%2f',
  '/stat#x',
  '/stat%23',
  '/stat?x',
  '/stat%3f',
  '/%ff',
  '/%',
  '/%zz',
  'stat',
  '*',
  '',
  '?',
  'http://localhost/stat',
  'HTTP://localhost/%73tat',
  'http://localhost:1/stat',
  'https://localhost/stat',
  'ftp://localhost/stat',
  'http://localhost//stat',
  '/clean/../stat',
  '/.%2e/stat',
  '/%E2%80%AEstat',
  '/sta%C5%A7',
  '/stat.txt',
  '/ſtat',
];

/** What Node's parser, or the server's own reader, would answer itself. */
const UNREADABLE: readonly (readonly [string, string])[] = [
  ['HTTP/0.9', 'GET /stat\r\n\r\n'],
  ['HTTP/2.0', requestOf('GET /stat HTTP/2.0')],
  ['a version of no standard', requestOf('GET /stat HTTP/9.9')],
  ['no version', requestOf('GET /stat HTTP/')],
  ['a header without a colon', requestOf('GET /stat HTTP/1.1', `${HOST}nonsense\r\n`)],
  ['a header with a control character', requestOf('GET /stat HTTP/1.1', `${HOST}A: \x01\r\n`)],
  ['a header of 100 KiB', requestOf('GET /stat HTTP/1.1', `${HOST}A: ${'a'.repeat(100_000)}\r\n`)],
  ['a path of 100 KiB', requestOf(`GET /${'a'.repeat(100_000)} HTTP/1.1`)],
  ['two lengths', requestOf('POST /stat HTTP/1.1', `${HOST}Content-Length: 1\r\nContent-Length: 2\r\n`)],
  [
    'a length and a coding',
    requestOf('POST /stat HTTP/1.1', `${HOST}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n`),
  ],
  [
    'a chunk of no size',
    `${requestOf('POST /stat HTTP/1.1', `${HOST}Transfer-Encoding: chunked\r\n`)}zz\r\n`,
  ],
  ['no host', requestOf('GET /stat HTTP/1.1', '')],
  ['two hosts', requestOf('GET /stat HTTP/1.1', `${HOST}${HOST}`)],
  ['another host', requestOf('GET /stat HTTP/1.1', 'Host: evil.example\r\n')],
  ['CONNECT', requestOf('CONNECT localhost:80 HTTP/1.1')],
  ['an unknown method', requestOf('FOO /stat HTTP/1.1')],
  ['OPTIONS *', requestOf('OPTIONS * HTTP/1.1')],
  ['an expectation', requestOf('GET /stat HTTP/1.1', `${HOST}Expect: wonders\r\n`)],
  ['an upgrade', requestOf('GET /stat HTTP/1.1', `${HOST}Connection: upgrade\r\nUpgrade: websocket\r\n`)],
  ['HTTP/2 by prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
];

/** In HTTP, or in SSTP if the request line is not one of HTTP. */
const isForbidden = (reply: string): boolean => /^(?:HTTP\/1\.1|SSTP\/1\.0) 403 /.test(reply);
const statusOf = (reply: string): number => Number(/^HTTP\/1\.1 (\d{3}) /.exec(reply)?.[1] ?? 0);

async function start(t: Test, allowed: string, clock?: ManualClock) {
  const directory = await temporaryDirectory(t);
  const allowFile = await writeTextFile(directory, 'allow', `${allowed}\n`);
  const passwordFile = await writeTextFile(directory, 'passwd', `${await userLine('anna', 'sesame')}\n`);
  return serveFixture(t, { allowFile, passwordFile, clock });
}

t.test('R-46: a host outside the list gets 403 or nothing, whatever it sends', async (t) => {
  const { address } = await start(t, '127.0.1.*');
  for (const [name, request] of UNREADABLE) {
    const reply = await exchange(t, address.port, request);
    t.ok(reply === '' || isForbidden(reply), `${name}: ${reply.slice(0, 60)}`);
  }
  for (const path of DISGUISES) {
    const reply = await exchange(
      t,
      address.port,
      requestOf(`GET ${path} HTTP/1.1`, `${HOST}Connection: close\r\n`),
    );
    t.ok(isForbidden(reply), path);
  }
});

t.test('R-46: a host outside the list gets no 408, either', async (t) => {
  const clock = new ManualClock();
  const { address } = await start(t, '127.0.1.*', clock);
  const client = await RawClient.connect(t, address.port);
  client.socket.write('GET /stat HTTP/1.1\r\nHost: loc');
  await inputRead();
  await passTime(clock, 5000, () => client.ended);
  const reply = await client.rest();
  t.ok(reply === '' || isForbidden(reply), reply.slice(0, 60));
});

t.test('R-44: no way to write a path reaches the administration without a login', async (t) => {
  const { address } = await start(t, '127.0.0.*');
  for (const path of DISGUISES)
    for (const method of ['GET', 'HEAD', 'POST']) {
      const line = `${method} ${path} HTTP/1.1`;
      const reply = await exchange(t, address.port, requestOf(line, `${HOST}Connection: close\r\n`));
      t.ok([0, 400, 401, 404, 421].includes(statusOf(reply)), `${line}: ${reply.slice(0, 40)}`);
      t.notMatch(reply, /uptime:/, line);
    }
  const header = `${HOST}Connection: close\r\n${basicAuthorization('anna', 'sesame')}\r\n`;
  t.match(
    await exchange(t, address.port, requestOf('GET /%73tat HTTP/1.1', header)),
    /^HTTP\/1\.1 200 [\s\S]*uptime:/,
  );
});
