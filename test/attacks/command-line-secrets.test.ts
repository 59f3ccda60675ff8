// Passwords that commands are given: there is a way that other users of the machine cannot see, and no message,
// log or JSON repeats them.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { redactLogins } from '../../protocols/visible-text.js';
import { createLoggerOn, jsonLines } from '../../servers/host/logger.js';
import { ANY_PORTS, CliProcess, type Finished } from '../helpers/cli.js';
import { listen } from '../helpers/daemon.js';
import { Site } from '../helpers/site.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { openBroker, serveBroker } from '../servers/broker/helpers.js';

const SECRET = 's3cr3t-v4lue';

/** Runs a command with a text on its standard input. */
function run(
  args: readonly string[],
  input = '',
  env: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  return new CliProcess(args, env, [], input).finished;
}

/** An FTP server that accepts any login and has no file; returns its port and what it received. */
async function ftpServer(t: Test): Promise<{ readonly port: number; readonly received: string[] }> {
  const received: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write('220 ready\r\n');
    socket.on('data', (chunk: Buffer) => {
      for (const line of chunk.toString().split('\r\n').filter(Boolean)) {
        received.push(line);
        if (/^USER/.test(line)) socket.write('331 password\r\n');
        else if (/^PASS/.test(line)) socket.write('530 no\r\n');
        else socket.write('502 no\r\n');
      }
    });
  });
  t.teardown(() => server.close());
  return { port: await listen(server), received };
}

t.test('ftpget reads the password from a file, standard input or the environment', async (t) => {
  const { port, received } = await ftpServer(t);
  const directory = await temporaryDirectory(t);
  const file = join(directory, 'password');
  writeFileSync(file, `${SECRET}\nmore\n`);
  const fetched = ['-', `127.0.0.1:${port}`, 'x', 'I', 'joe'];
  const variants = [
    () => run(['ftpget', '--password-file', file, ...fetched]),
    () => run(['ftpget', '--password-file', '-', ...fetched], `${SECRET}\n`),
    () => run(['ftpget', ...fetched], '', { HARVEST_FTP_PASSWORD: SECRET }),
    () => run(['ftpget', ...fetched, SECRET]),
  ];
  for (const variant of variants) {
    received.length = 0;
    const { code, stdout, stderr } = await variant();
    t.ok(received.includes(`PASS ${SECRET}`), received.join(' '));
    t.equal(code, 1, stderr);
    t.notMatch(stdout + stderr, SECRET);
  }
  const both = await run(['ftpget', '--password-file', file, ...fetched, SECRET]);
  t.equal(both.code, 2);
  t.notMatch(both.stderr, SECRET);
});

t.test('brkclient and urlget read what contains a password from standard input', async (t) => {
  const fixture = await openBroker(t, { conf: `Admin-Password ${SECRET}\n`, points: [] });
  const server = await serveBroker(t, fixture);
  const message = `#ADMIN #password ${SECRET} #do-stats\n`;
  const answer = await run(['brkclient', '127.0.0.1', String(server.address.port), '-'], message);
  t.match(answer.stdout, /101 - Objects: 0/);
  t.notMatch(answer.stdout + answer.stderr, SECRET);
  await using site = await Site.start({
    '/': (request, response) => void response.end(request.headers.authorization ?? 'none'),
  });
  const url = `${site.url.replace('http://', `http://joe:${SECRET}@`)}/`;
  const expected = `Basic ${Buffer.from(`joe:${SECRET}`).toString('base64')}`;
  t.equal((await run(['urlget', '--no-cache', '-'], `${url}\n`)).stdout, expected);
});

t.test('no message, JSON or log of a command repeats the login of a URL', async (t) => {
  const data = await temporaryDirectory(t);
  await using site = await Site.start({ '/': '<title>x</title>' });
  const url = `${site.url.replace('http://', `http://joe:${SECRET}@`)}/`;
  const urls = [
    url,
    `http://joe:${SECRET}@127.0.0.1:99999/`,
    `http://joe:${SECRET}@127.0.0.1:1/x`,
    `http://joe:${SECRET}@/x`,
    `http://joe:a/${SECRET}@127.0.0.1:1/x`,
    `http://joe:a@${SECRET}@127.0.0.1:1/x`,
    `ftp://joe:${SECRET}@127.0.0.1:1/x`,
    `frob://joe:${SECRET}@host/`,
    `file://joe:${SECRET}@host/x`,
  ];
  const commands = [
    ...urls.map((each) => ['urlget', '--json', '--no-cache', each]),
    ['essence', ...urls],
    ['essence', '--json', ...urls],
    ['frobnicate', url],
    [url],
  ];
  for (const args of commands) {
    const { code, stdout, stderr } = await run(args);
    t.notMatch(stdout + stderr, SECRET, args.join(' '));
    t.not(code, 70, stderr);
  }
  for (const [i, log] of [[], ['--json-log']].entries()) {
    const directory = join(data, String(i));
    const done = await run(['run', '--once', '--data', directory, '--delay', '0', ...ANY_PORTS, ...log, url]);
    t.equal(done.code, 0, done.stderr);
    t.notMatch(done.stdout + done.stderr, SECRET);
    const logs = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /^(?:gatherer|broker)\/[^/]*(?:log|out)[^/]*$/.test(name),
    );
    if (log.length === 0) t.ok(logs.length > 3, logs.join(' '));
    for (const name of logs) t.notMatch(readFileSync(join(directory, name), 'utf8'), SECRET, name);
  }
});

t.test('logins in texts and in JSON are removed, and nothing else', (t) => {
  const same = [
    'mail joe@example.org',
    'http://h.example/a@b',
    'http://h.example:80/a@b',
    'http://h.example?a=b@c',
    'http://h.example:8080#x@y',
    'http://h.example, mail joe@example.org',
    '{"url":"http://h.example","mail":"a@b"}',
    `http://${'a'.repeat(100_000)}`,
  ];
  for (const text of same) t.equal(redactLogins(text), text);
  for (const login of ['joe', 'joe:', `joe:${SECRET}`, `:${SECRET}`, `joe:a@${SECRET}`, `joe:a/${SECRET}`])
    t.equal(redactLogins(`GET ftp://${login}@h.example/x failed`), 'GET ftp://h.example/x failed', login);
  for (const json of [true, false]) {
    const lines: string[] = [];
    const sink = { write: (line: string) => void lines.push(line) };
    const log = createLoggerOn(json ? jsonLines(sink) : sink, { program: 'x', json });
    const url = `http://joe:${SECRET}@h.example/`;
    log.warn({ url, nested: { url }, err: new Error(`${url} failed`) }, `cannot fetch ${url} "quoted"`);
    t.notMatch(lines.join(''), SECRET, json ? 'JSON' : 'lines');
    t.match(lines.join(''), /http:\/\/h\.example\//, json ? 'JSON' : 'lines');
    if (json) t.match(JSON.parse(lines[0] ?? ''), { url: 'http://h.example/' });
  }
  t.end();
});
