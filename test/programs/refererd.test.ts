// refererd and turtle_passwd as processes: configuration, signals, reports by mail, the dispatcher.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { userLine } from '../../servers/refererd/index.js';
import { CliProcess, cli, cliWithInput, finishedOf, PROGRAM, startServer } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { tcpServer } from '../helpers/tcp-server.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';
import { basicAuthorization, exchange, RawClient, requestHttp } from '../servers/refererd/helpers.js';
import { publishFixture } from '../storage/references/fixture.js';

// Each test starts processes, some of them several.
const ASK = 'SSTP/1.0 081 X\r\nHEADER_URI_ID: 20\r\n\r\n';
const ANSWER =
  'SSTP/1.0 081 REQ_GET_REFERENCES\r\nHEADER_NUMFOUND: 1\r\nHEADER_START_RESULTS: 0\r\nHEADER_NUMRESULTS: 1\r\nHEADER_URI_ID: 10\r\n\r\n';
const IS_ROOT = process.getuid?.() === 0;

/** The home directory of a server. */
interface Home {
  readonly root: string;
  readonly file: string;
  readonly port: number;
  /** Writes referer.cf: the usual settings, then these lines. */
  configure(...lines: string[]): Promise<void>;
}

/** Creates a home directory as R-51 describes it, with the fixture published in `base`. */
async function createHome(t: Test): Promise<Home> {
  const root = await temporaryDirectory(t);
  await chmod(root, 0o755);
  const port = await freePort();
  const file = join(root, 'referer.cf');
  await mkdir(join(root, 'conf'));
  await mkdir(join(root, 'logs'));
  await publishFixture(join(root, 'base'));
  await writeFile(join(root, 'conf/hosts.allow'), '127.0.0.*\n');
  await writeFile(join(root, 'conf/turtle.passwd'), `${await userLine('anna', 'sesame')}\n`, { mode: 0o644 });
  if (IS_ROOT) for (const name of ['', 'logs']) await chown(join(root, name), 65_534, 65_534);
  const configure = (...lines: string[]) =>
    writeFile(
      file,
      [
        `rootdir = ${root}`,
        'referername = 127.0.0.1 # the only one',
        `refererport = ${port}`,
        'logfile = logs/refererd.log',
        'pidfile = logs/refererd.pid',
        ...(IS_ROOT ? ['user = nobody', 'group = nogroup'] : []),
        ...lines,
        '',
      ].join('\n'),
    );
  await configure();
  return { root, file, port, configure };
}

/** Starts refererd like the original, and reads the process id of the server from its pid file. */
async function startRefererd(
  t: Test,
  home: Home,
  ...words: string[]
): Promise<{ daemon: CliProcess; pid: number }> {
  const args = ['refererd', '-c', home.file, ...words];
  const { server: daemon } = await startServer(t, /^ready refererd=127\.0\.0\.1:\d+$/m, args);
  const text = await readFile(join(home.root, 'logs/refererd.pid'), 'utf8');
  t.match(text, /^\d+\n$/, 'the pid file contains only the number');
  return { daemon, pid: Number(text) };
}

/** Asks for a page with a password. */
const ask = (t: Test, { port }: Home, path: string, user = 'anna', password = 'sesame') =>
  requestHttp(t, port, `GET ${path} HTTP/1.0`, basicAuthorization(user, password));

const log = (home: Home) => readFile(join(home.root, 'logs/refererd.log'), 'utf8');

/** Starts a mail relay that accepts every message. */
async function mailRelay(t: Test): Promise<{ port: number; messages: string[] }> {
  const messages: string[] = [];
  const port = await tcpServer(t, (socket) => {
    let text = '';
    socket.write('220 relay\r\n');
    socket.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      const inMessage = /\r\nDATA\r\n/.test(text) && !text.endsWith('\r\n.\r\n');
      if (text.endsWith('QUIT\r\n')) messages.push(text);
      else if (piece === 'DATA\r\n') socket.write('354 go\r\n');
      else if (!inMessage) socket.write('250 ok\r\n');
    });
  });
  return { port, messages };
}

t.test('R-51, R-54, R-55, C-14, C-22, C-26: -c FILE, pid file, address, user, SIGTERM', async (t) => {
  const home = await createHome(t);
  const { daemon, pid } = await startRefererd(t, home);
  t.equal(await exchange(t, home.port, ASK), ANSWER);
  await t.rejects(RawClient.connect(t, home.port, '127.0.0.2'), { code: 'ECONNREFUSED' }, 'R-53');
  if (IS_ROOT) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    t.match(status, /^Uid:\t65534\t65534\t65534\t65534$/m);
    t.match(status, /^Gid:\t65534\t65534\t65534\t65534$/m);
  }
  const client = await RawClient.connect(t, home.port);
  client.send('SSTP/1.0 081');
  process.kill(pid, 'SIGTERM');
  const { code } = await daemon.finished;
  t.equal(code, 0);
  await client.rest();
  await t.rejects(stat(join(home.root, 'logs/refererd.pid')), { code: 'ENOENT' });
  t.match(await log(home), new RegExp(`^refererd\\[${pid}\\]: .*\nrefererd\\[${pid}\\]: SIGTERM`, 'm'));
});

t.test('R-51, C-19: without -c refererd reads referer.cf of the current directory', async (t) => {
  const home = await createHome(t);
  const run = (cwd: string) => spawn(process.execPath, [PROGRAM, 'refererd', '--foreground'], { cwd });
  const child = run(home.root);
  const finished = finishedOf(child);
  await Promise.race([once(child.stdout, 'data'), finished]);
  child.kill('SIGTERM');
  t.match(await finished, { code: 0, stdout: `ready refererd=127.0.0.1:${home.port}\n` });
  t.match(await finishedOf(run(await temporaryDirectory(t))), { code: 1 });
});

t.test('R-58, R-59, C-10, C-12: SIGHUP reopens the log and reads the configuration again', async (t) => {
  const home = await createHome(t);
  const { pid } = await startRefererd(t, home);
  await exchange(t, home.port, ASK);
  t.notMatch(await log(home), /REQ_GET/);
  await home.configure('debuglevel = 50', 'refererport = 1', 'maxclients = 1000000000');
  process.kill(pid, 'SIGHUP');
  await waitUntil(async () => /was read again/.test(await log(home)));
  const names = (await readdir(join(home.root, 'logs'))).filter((name) =>
    /^refererd\.log\.\d{14}$/.test(name),
  );
  t.equal(names.length, 1);
  t.match(await readFile(join(home.root, 'logs', names[0] ?? ''), 'utf8'), /serving on/);
  t.match(await log(home), /refererport takes effect at the next start/);
  t.match(await log(home), /maxclients is lowered to \d+/, 'R-64');
  await exchange(t, home.port, ASK);
  await waitUntil(async () => /127\.0\.0\.1 REQ_GET_REFERENCES 20/.test(await log(home)));
});

t.test('R-49, C-10, C-11: /reload reads the configuration again, or keeps the old if invalid', async (t) => {
  const home = await createHome(t);
  await startRefererd(t, home);
  const reload = () => ask(t, home, '/reload');
  await home.configure('debuglevel = 80', 'version = 1.1');
  t.equal((await reload()).status, 200);
  t.match((await ask(t, home, '/stat')).body, /^version: 1\.1$/m);
  await home.configure('debuglevel = high', 'version = 1.2');
  const broken = await reload();
  t.equal(broken.status, 500);
  t.match(broken.body, /referer\.cf:\d+: debuglevel: must be/);
  t.match((await ask(t, home, '/stat')).body, /^version: 1\.1$/m);
  await exchange(t, home.port, ASK);
  await waitUntil(async () => /< HEADER_URI_ID: 20/.test(await log(home)));
});

t.test('R-60, C-13: SIGUSR1 to the parent finishes pending requests', async (t) => {
  const home = await createHome(t);
  const { daemon } = await startRefererd(t, home);
  const slow = await RawClient.connect(t, home.port);
  slow.send(ASK.slice(0, 12));
  daemon.kill('SIGUSR1');
  await waitUntil(async () => /SIGUSR1/.test(await log(home)));
  await t.rejects(RawClient.connect(t, home.port), { code: 'ECONNREFUSED' });
  slow.send(ASK.slice(12));
  t.equal(await slow.until('\r\n\r\n'), ANSWER);
  await slow.rest();
  slow.socket.end();
  t.equal((await daemon.finished).code, 0);
});

t.test('R-57, R-61, R-71, C-15: a fault is mailed to the maintainer; sendmessages 0: never', async (t) => {
  const home = await createHome(t);
  const relay = await mailRelay(t);
  for (const [signal, number] of [
    ['SIGSEGV', 11],
    ['SIGBUS', 7],
    ['SIGILL', 4],
    ['SIGQUIT', 3],
  ] as const) {
    await home.configure('maintainer = admin@example.org');
    const { daemon, pid } = await startRefererd(t, home, '--mail-relay', `127.0.0.1:${relay.port}`);
    process.kill(pid, signal);
    t.equal((await daemon.finished).code, 128 + number, signal);
    await waitUntil(async () => relay.messages.length > 0);
    t.equal(relay.messages.length, 1);
    const message = relay.messages.splice(0).join('');
    t.match(message, '\r\nMAIL FROM:<refererd@[127.0.0.1]>\r\nRCPT TO:<admin@example.org>\r\n');
    t.match(message, `\r\nSubject: refererd: ${signal} on 127.0.0.1\r\n`);
    t.match(message, `\r\npid: ${pid}\r\nsignal: ${signal}\r\n`);
    await t.rejects(stat(join(home.root, 'logs/refererd.pid')), { code: 'ENOENT' });
  }
  await home.configure('maintainer = admin@example.org', 'sendmessages = 0');
  const { daemon, pid } = await startRefererd(t, home, '--mail-relay', `127.0.0.1:${relay.port}`);
  process.kill(pid, 'SIGSEGV');
  t.equal((await daemon.finished).code, 139);
  t.same(relay.messages, []);
});

t.test('R-54, R-55, R-62, R-73: errors that prevent a start, and their status', async (t) => {
  const home = await createHome(t);
  const fails = async (expected: RegExp, ...lines: string[]) => {
    await home.configure(...lines);
    const { code, stderr } = await cli('refererd', '-c', home.file);
    t.equal(code, 1, lines.join());
    t.match(stderr, expected);
  };
  await fails(/referer\.cf:\d+: maxclients: must be a whole number/, 'maxclients = many');
  await fails(/refdb: there is neither a dump .* nor are links published/, 'refdb = elsewhere/refs.db');
  await fails(/cannot listen|referername/, 'referername = 192.0.2.1');
  await fails(/chroot: /, 'chroot = 1');
  if (IS_ROOT) await fails(/cannot become user nobody-at-all/, 'user = nobody-at-all');
  const both = await cli('refererd', '-c', home.file, '--port', '1');
  t.equal(both.code, 2);
});

t.test('C-25, R-5, R-19: dumps that the configuration names are loaded, again after a change', async (t) => {
  const home = await createHome(t);
  const dump = (...pairs: readonly string[]) =>
    `VERSION=2\nformat=bytevalue\ntype=btree\nduplicates=1\nHEADER=END\n${pairs.map((word) => ` ${word}\n`).join('')}DATA=END\n`;
  await mkdir(join(home.root, 'db'));
  if (IS_ROOT) await chown(join(home.root, 'db'), 65_534, 65_534);
  const refs = join(home.root, 'db/refs.db');
  await writeFile(refs, dump('0a000000', '14000000', '14000000', '0a000000'));
  await writeFile(
    join(home.root, 'db/url.db'),
    '{"id":10,"url":"http://a.example/"}\n{"id":20,"url":"http://b.example/"}\n',
  );
  await home.configure('refdb = db/refs.db', 'urldb = db/url.db', 'hubsdir = db', `hubsdb = ${refs}`);
  const { daemon, pid } = await startRefererd(t, home);
  t.equal(await exchange(t, home.port, ASK.replace('URI_ID: 20', 'URL: http://B.example')), ANSWER);
  await writeFile(refs, dump('14000000', '0b000000', '0b000000', '14000000'));
  const later = new Date(Date.now() + 10_000);
  await utimes(refs, later, later);
  process.kill(pid, 'SIGHUP');
  await waitUntil(async () => /generation 2|stays/.test(await log(home)) || daemon.child.exitCode !== null);
  t.equal(await exchange(t, home.port, ASK), ANSWER.replace('ID: 10', 'ID: 11'));
});

t.test('R-52, R-54, C-06, C-07, S-11, S-12: the dispatcher and its replacement', async (t) => {
  const home = await createHome(t);
  let answer: (code: string) => string | undefined = () => undefined;
  const requests: string[] = [];
  const port = await tcpServer(t, (socket) => {
    let text = '';
    socket.setEncoding('latin1').on('data', (piece: string) => {
      text += piece;
      if (!text.endsWith('\r\n\r\n')) return;
      requests.push(text);
      const reply = answer(text.slice(9, 12));
      if (reply !== undefined) socket.end(reply);
    });
  });
  const lines = [
    'dispatchername = 127.0.0.1',
    `port = ${port}`,
    'scanuser = namefromadmin',
    'scanpass = abrakadabra',
    'connectimeout = 1',
    'debuglevel = 80',
  ];
  const list = (code: string, symbol: string, text: string) =>
    `SSTP/1.0 ${code} ${symbol}\r\nHEADER_CONTENT_LENGTH: ${text.length}\r\n\r\n${text}`;
  const users = `${await userLine('bob', 'bobs')}\n`;
  await home.configure(...lines);
  answer = (code) =>
    code === '017' ? list(code, 'REQ_GET_ALLOW', '127.*\n') : list(code, 'REQ_GET_PW', users);
  const { daemon } = await startRefererd(t, home);
  t.match(requests.sort()[0], 'HEADER_AUTHORIZATION: Basic bmFtZWZyb21hZG1pbjphYnJha2FkYWJyYQ==\r\n');
  const stat = (...login: [string, string]) => ask(t, home, '/stat', ...login);
  t.equal((await stat('anna', 'sesame')).status, 401, 'the local file is not used');
  t.match((await stat('bob', 'bobs')).body, /^allow_source: dispatcher\npw_source: dispatcher$/m);
  const reload = (...login: [string, string]) => ask(t, home, '/reload', ...login);
  answer = (code) =>
    code === '017' ? list(code, 'REQ_GET_ALLOW', '127.*\n') : 'SSTP/1.0 403 FORBIDDEN\r\n\r\n';
  t.equal((await reload('bob', 'bobs')).status, 200);
  t.match((await stat('anna', 'sesame')).body, /^allow_source: dispatcher\npw_source: file$/m, 'S-54');
  const failures: readonly (() => string | undefined)[] = [() => undefined, () => 'garbage', () => ''];
  for (const failure of failures) {
    answer = failure;
    t.equal((await reload('anna', 'sesame')).status, 200);
    t.match((await stat('anna', 'sesame')).body, /^allow_source: file\npw_source: file$/m, 'S-53');
  }
  answer = (code) => list(code, code === '017' ? 'REQ_GET_ALLOW' : 'REQ_GET_PW', '');
  t.equal((await reload('anna', 'sesame')).status, 200);
  t.equal((await stat('anna', 'sesame')).status, 403, 'S-54: an empty list gives no user access');
  t.notMatch(await log(home), /abrakadabra|bmFtZWZ/, 'R-69');
  daemon.kill('SIGTERM');
  t.equal((await daemon.finished).code, 0);
});

t.test('R-37: turtle_passwd creates, changes, checks and deletes', async (t) => {
  const file = join(await temporaryDirectory(t), 'pw');
  const run = async (input: string, ...words: string[]) =>
    (await cliWithInput(input, 'turtle-passwd', ...words)).code;
  t.equal(await run('one\n', file, 'anna'), 1, 'there is no file yet');
  t.equal(await run('one\n', '--create', file, 'anna'), 0);
  t.equal((await stat(file)).mode & 0o777, 0o600);
  t.equal(await run('one\n', '--create', file, 'anna'), 2, 'an existing file is not replaced by mistake');
  t.equal(await run('two\n', file, 'bob'), 0);
  t.equal(await run('three\n', file, 'anna'), 0);
  t.equal(await run('three\n', '--check', file, 'anna'), 0);
  t.equal(await run('one\n', '--check', file, 'anna'), 1);
  t.same((await readFile(file, 'utf8')).match(/^[^:]+:\$scrypt/gm), ['bob:$scrypt', 'anna:$scrypt']);
  t.equal(await run('', '--delete', file, 'anna'), 0);
  t.equal(await run('', '--delete', file, 'anna'), 1);
  t.equal(await run('three\n', '--check', file, 'anna'), 1);
  t.equal(await run('x\n', file, 'a:b'), 2);
  t.equal(await run('\n', file, 'carol'), 2, 'an empty password is refused');
  t.equal((await cli('turtle-passwd', '--list', file)).stdout, 'bob\n');
});

t.test('R-37: turtle_passwd keeps owner, group and mode of the file, and a link to it', async (t) => {
  const top = await temporaryDirectory(t);
  const file = join(top, 'turtle.passwd');
  const link = join(top, 'link');
  await writeFile(file, `${await userLine('anna', 'sesame')}\n${await userLine('bob', 'bobs')}\n`);
  await chmod(file, 0o640);
  if (IS_ROOT) await chown(file, 65_534, 65_533);
  await symlink('turtle.passwd', link);
  for (const name of [file, link]) {
    const before = await stat(file);
    t.equal((await cli('turtle-passwd', '--delete', name, name === file ? 'anna' : 'bob')).code, 0);
    const after = await stat(file);
    t.same([after.uid, after.gid, after.mode], [before.uid, before.gid, before.mode]);
    t.not(after.ino, before.ino, 'the file is replaced, not written in place');
  }
  t.ok((await lstat(link)).isSymbolicLink());
  t.equal(await readFile(file, 'utf8'), '');
});

t.test(
  'R-54, R-55: a password file that the user cannot read ends the start',
  { skip: IS_ROOT ? false : 'needs the superuser' },
  async (t) => {
    const home = await createHome(t);
    const users = join(home.root, 'conf/turtle.passwd');
    await chmod(users, 0o600);
    const { code, stderr } = await cli('refererd', '-c', home.file);
    t.equal(code, 1);
    t.match(
      stderr,
      /cannot start: the users cannot be read from .*turtle\.passwd: EACCES \(user nobody, group /,
    );
    t.match(await log(home), /cannot start: the users cannot be read/);
    await t.rejects(stat(join(home.root, 'logs/refererd.pid')), { code: 'ENOENT' });
    await rm(users);
    const { daemon } = await startRefererd(t, home);
    daemon.kill('SIGTERM');
    t.equal((await daemon.finished).code, 0, 'without a file there are no users');
  },
);

t.test('R-49: /reload warns of lists that cannot be read; the old ones stay in use', async (t) => {
  const home = await createHome(t);
  const { daemon } = await startRefererd(t, home);
  const reload = () => ask(t, home, '/reload');
  t.equal((await reload()).body, 'the configuration was read again\n');
  await rename(join(home.root, 'conf/hosts.allow'), join(home.root, 'conf/kept'));
  for (let i = 0; i < 2; i++) {
    const { status, body } = await reload();
    t.equal(status, 200);
    t.match(
      body,
      /^the configuration was read again\nwarning: the allowed hosts cannot be read from .*hosts\.allow: ENOENT; the old list stays in use\n$/,
    );
  }
  t.equal(await exchange(t, home.port, ASK), ANSWER);
  await rm(join(home.root, 'conf/turtle.passwd'));
  t.match(
    (await reload()).body,
    /\nwarning: the allowed hosts .*\nwarning: the users cannot be read from .*\n$/,
  );
  await rename(join(home.root, 'conf/kept'), join(home.root, 'conf/hosts.allow'));
  t.notMatch((await reload()).body, 'hosts.allow');
  t.match(await log(home), /the allowed hosts cannot be read from .*ENOENT; the old list stays in use\n/);
  daemon.kill('SIGTERM');
  t.equal((await daemon.finished).code, 0);
});

t.test('--data: one process, no configuration', async (t) => {
  const data = await temporaryDirectory(t);
  await publishFixture(data);
  const daemon = new CliProcess(['refererd', '--data', data, '--port', '0']);
  t.teardown(() => daemon.kill('SIGKILL'));
  const port = Number((await daemon.output(/^ready refererd=127\.0\.0\.1:(\d+)$/m))[1]);
  t.equal(await exchange(t, port, ASK), ANSWER);
  daemon.kill('SIGTERM');
  const { code, stderr } = await daemon.finished;
  t.equal(code, 0);
  t.match(stderr, /^refererd\[\d+\]: serving generation 1: 5 documents, 8 links$/m);
});

t.test('R-60, R-70, R-71: a signal to the parent waits until the server process handles it', async (t) => {
  const home = await createHome(t);
  for (const signal of ['SIGTERM', 'SIGUSR1'] as const) {
    const daemon = new CliProcess(['refererd', '-c', home.file]);
    t.teardown(() => daemon.kill('SIGKILL'));
    const parent = daemon.child.pid ?? 0;
    const children = () => readFile(`/proc/${parent}/task/${parent}/children`, 'utf8');
    await waitUntil(async () => (await children()) !== '' || daemon.child.exitCode !== null);
    daemon.kill(signal);
    const { code, stderr } = await daemon.finished;
    t.equal(code, 0, signal);
    t.equal(stderr, '', 'standard error has no message of a fault or a debugger');
  }
});

t.test('R-57, R-71: SIGQUIT to both processes, as sent by a terminal, is reported too', async (t) => {
  const home = await createHome(t);
  const relay = await mailRelay(t);
  await home.configure('maintainer = admin@example.org');
  const { daemon, pid } = await startRefererd(t, home, '--mail-relay', `127.0.0.1:${relay.port}`);
  // The new name is not in effect yet: the parent must still remove the existing file.
  await home.configure('maintainer = admin@example.org', 'pidfile = logs/other.pid');
  daemon.kill('SIGQUIT');
  process.kill(pid, 'SIGQUIT');
  t.equal((await daemon.finished).code, 131);
  await waitUntil(async () => relay.messages.length > 0);
  t.match(relay.messages.join(''), `\r\npid: ${pid}\r\nsignal: SIGQUIT\r\n`);
  await t.rejects(stat(join(home.root, 'logs/refererd.pid')), { code: 'ENOENT' });
});

t.test('R-49: if one new value is invalid, none takes effect', async (t) => {
  const home = await createHome(t);
  const { daemon, pid } = await startRefererd(t, home);
  await writeFile(join(home.root, 'file'), '');
  await home.configure('debuglevel = 50', 'pidfile = file/refererd.pid', 'logfile = logs/other.log');
  process.kill(pid, 'SIGHUP');
  // After the renaming there is no log file for a moment.
  await waitUntil(async () => (await log(home).catch(() => '')).includes('the old configuration is kept'));
  t.equal(await exchange(t, home.port, ASK), ANSWER);
  t.notMatch(await log(home), 'REQ_GET_REFERENCES', 'the old debug level is still in effect');
  t.same((await readdir(join(home.root, 'logs'))).includes('other.log'), false, 'the old log is used');
  t.equal(await readFile(join(home.root, 'logs/refererd.pid'), 'utf8'), `${pid}\n`);
  process.kill(pid, 'SIGTERM');
  t.equal((await daemon.finished).code, 0);
});

t.test('R-60: SIGTERM during the load ends the start', async (t) => {
  const home = await createHome(t);
  await mkdir(join(home.root, 'db'));
  if (IS_ROOT) await chown(join(home.root, 'db'), 65_534, 65_534);
  // More than can be read before the signal arrives.
  const refs = join(home.root, 'db/refs.db');
  const line = '10 20\n'.repeat(100_000);
  const file = await open(refs, 'w');
  for (let i = 0; i < 100; i++) await file.write(line);
  await file.close();
  await home.configure('refdb = db/refs.db', 'debuglevel = 40');
  const daemon = new CliProcess(['refererd', '-c', home.file]);
  t.teardown(() => daemon.kill('SIGKILL'));
  await waitUntil(async () => (await log(home).catch(() => '')).includes('loading'));
  daemon.kill('SIGTERM');
  const { code, stdout, stderr } = await daemon.finished;
  t.same([code, stdout, stderr], [0, '', '']);
  t.match(await log(home), 'stopped before serving');
  t.same(
    (await readdir(join(home.root, 'db'), { recursive: true })).filter((name) => /CURRENT/.test(name)),
    [],
    'nothing was published',
  );
});

t.test('R-55, R-58: a log created by the superuser belongs to the user', { skip: !IS_ROOT }, async (t) => {
  const home = await createHome(t);
  await home.configure('logfile = new/logs/refererd.log', 'pidfile = new/logs/refererd.pid');
  const daemon = new CliProcess(['refererd', '-c', home.file]);
  t.teardown(() => daemon.kill('SIGKILL'));
  await daemon.output(/^ready refererd=/m);
  const logs = join(home.root, 'new/logs');
  process.kill(Number(await readFile(join(logs, 'refererd.pid'), 'utf8')), 'SIGHUP');
  await waitUntil(async () => (await readdir(logs)).some((name) => /^refererd\.log\.\d{14}$/.test(name)));
  daemon.kill('SIGTERM');
  t.equal((await daemon.finished).code, 0);
});
