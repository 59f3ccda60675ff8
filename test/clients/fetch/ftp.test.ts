// Tests the FTP fetcher against a small scripted FTP server.
import { type AddressInfo, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { parseFtpUrl } from '../../../clients/fetch/ftp-url.js';
import {
  closeBodies,
  DIRECTORY_TYPE,
  FtpFetcher,
  type FtpFetcherOptions,
  isPayloadWhole,
  truncationOf,
} from '../../../clients/fetch/index.js';
import { ManualClock, timerOf } from '../../helpers/manual-clock.js';
import { onLines, scripted, sendForever, textOf } from './scripted.js';

type Send = (data: Socket, control: Socket) => void;

interface FakeFtp {
  /** Senders of data, by the command that starts them. A sender also ends the transfer. */
  readonly transfers?: Readonly<Record<string, Send>>;
  /** Other answers, by the whole command. */
  readonly answers?: Readonly<Record<string, string>>;
  readonly log?: string[];
}

/** A small FTP server: it accepts any login and has only the files in `transfers`. */
async function fakeFtp(t: Test, { transfers = {}, answers = {}, log = [] }: FakeFtp) {
  return await scripted(t, (control) => {
    let send: Send | undefined;
    let data: Socket | undefined;
    let directory = '/home';
    const startTransfer = () => {
      if (send === undefined || data === undefined) return;
      send(data, control);
      send = undefined;
    };
    const passive = createServer((socket) => {
      socket.on('error', () => {});
      t.teardown(() => socket.destroy());
      data = socket;
      startTransfer();
    });
    t.teardown(() => passive.close());
    control.write('220 fake\r\n');
    onLines(control, (line) => {
      log.push(line);
      const transfer = transfers[line.startsWith('LIST') ? `LIST ${directory}` : line];
      if (answers[line] !== undefined) control.write(answers[line]);
      else if (line.startsWith('USER')) control.write('331 password?\r\n');
      else if (line.startsWith('PASS')) control.write('230 in\r\n');
      else if (line === 'PWD') control.write('257 "/home" is it\r\n');
      else if (line === 'EPSV') {
        data = undefined;
        const sendPort = () => control.write(`229 ok (|||${(passive.address() as AddressInfo).port}|)\r\n`);
        if (passive.listening) sendPort();
        else passive.listen(0, '127.0.0.1', sendPort);
      } else if (line.startsWith('CWD ')) {
        directory = line.slice(4);
        control.write(transfers[`LIST ${directory}`] === undefined ? '550 no\r\n' : '250 ok\r\n');
      } else if (transfer !== undefined) {
        control.write('150 coming\r\n');
        send = transfer;
        startTransfer();
      } else if (/^(TYPE|STRU|OPTS)/.test(line)) control.write('200 ok\r\n');
      else control.write(/^(RETR|MDTM|SIZE)/.test(line) ? '550 no\r\n' : '502 what?\r\n');
    });
  });
}

const sendText =
  (text: string): Send =>
  (data, control) => {
    data.end(Buffer.from(text, 'latin1'), () => control.write('226 done\r\n'));
  };

function fetcherFor(t: Test, port: number, options: FtpFetcherOptions = {}) {
  const fetcher = new FtpFetcher(options);
  t.teardown(() => fetcher.close());
  return (path: string, more = {}) =>
    fetcher.fetch({ url: `ftp://127.0.0.1:${port}/${path}`, timeoutMs: 5000, ...more });
}

t.test('G-55, G-81: an FTP URL gives address, login, path and type of transfer', (t) => {
  const noLogin = { user: undefined, password: undefined };
  t.strictSame(parseFtpUrl('ftp://h/a/b%20c%FC'), {
    host: 'h',
    port: 21,
    ...noLogin,
    path: 'a/b c\xfc',
    isDirectory: false,
    isText: false,
  });
  t.match(parseFtpUrl('ftp://u%40x:p%3Aq@h:2121/%2Fetc/'), {
    user: 'u@x',
    password: 'p:q',
    port: 2121,
    path: '/etc',
    isDirectory: true,
  });
  t.match(parseFtpUrl('ftp://h/'), { path: '', isDirectory: true });
  t.match(parseFtpUrl('ftp://h/a;type=a'), { path: 'a', isText: true });
  t.match(parseFtpUrl('ftp://h/a;type=d'), { path: 'a', isDirectory: true });
  t.match(parseFtpUrl('ftp://h/a%0d%0aDELE%20b'), { path: undefined }, 'a line end begins no second command');
  t.throws(() => parseFtpUrl('ftp://a%0ab@h/'), { code: 'ERR_USAGE' });
  t.end();
});

t.test('G-83, G-88, G-106: files and times over one kept connection, with a login', async (t) => {
  const log: string[] = [];
  const { port, connections } = await fakeFtp(t, {
    log,
    transfers: {
      'RETR /home/a b\xfc': sendText('hello'),
      'RETR /etc/x': sendText('abs'),
      'RETR /home/t': sendText('text'),
    },
    answers: { 'MDTM /home/a b\xfc': '213 19941106084937\r\n', 'SIZE /home/a b\xfc': '213 5\r\n' },
  });
  const get = fetcherFor(t, port, { from: 'me@h.example' });
  t.match(await get('a%20b%FC'), {
    status: 200,
    lastModified: 784_111_777,
    body: Buffer.from('hello'),
    truncated: false,
    remoteAddress: '127.0.0.1',
    local: false,
  });
  t.match(await get('a%20b%FC', { headers: { lastModified: 784_111_777 } }), { status: 304 });
  t.equal(textOf((await get('%2Fetc/x')).body), 'abs');
  t.equal(textOf((await get('t;type=a')).body), 'text');
  t.match(await get('none'), { status: 404, headers: { 'ftp-reply': '550 no' } });
  t.match(await get('a%0d%0ab'), { status: 404 });
  t.equal(connections(), 1);
  t.strictSame(log.slice(0, 2), ['USER anonymous', 'PASS me@h.example']);
  t.ok(log.includes('TYPE A') && log.lastIndexOf('TYPE I') > log.indexOf('TYPE A'));
  const withLogin = fetcherFor(t, port, {
    ftpAuth: [{ host: '127.0.0.1', port, user: 'joe', password: 's3' }],
  });
  await withLogin('none');
  t.strictSame(
    log.slice(-20).filter((line) => /^(USER|PASS)/.test(line)),
    ['USER joe', 'PASS s3'],
  );
});

t.test('G-26, G-83: a directory lists entries without links up; a refused login is 401', async (t) => {
  const listing =
    'total 3\r\n' +
    'drwxr-xr-x    2 0   0   4096 Nov 06  1994 sub dir\r\n' +
    '-rw-r--r--    1 0   0      5 Nov 06  1994 \xc3\xbcber\r\n' +
    'lrwxrwxrwx    1 0   0      1 Nov 06  1994 loop -> .\r\n' +
    'lrwxrwxrwx    1 0   0      5 Nov 06  1994 up -> ../..\r\n' +
    'lrwxrwxrwx    1 0   0      3 Nov 06  1994 link -> sub\r\n' +
    'drwxr-xr-x    2 0   0   4096 Nov 06  1994 ..\r\n';
  const { port } = await fakeFtp(t, {
    transfers: { 'LIST /home': sendText(listing), 'LIST /home/pub': sendText(listing) },
    answers: { 'PASS bad': '530 no such user\r\n', 'PASS full': '421 too many users\r\n' },
  });
  const get = fetcherFor(t, port);
  const entries = ['link', 'sub dir/', 'über'];
  t.match(await get(''), { status: 200, contentType: DIRECTORY_TYPE, entries, truncated: false });
  t.strictSame((await get('pub/')).entries, entries);
  t.strictSame((await get('pub')).entries, entries, 'a directory without a slash is listed too');
  t.match(await get('nowhere/'), { status: 404 });
  const fetcher = new FtpFetcher();
  t.teardown(() => fetcher.close());
  t.match(await fetcher.fetch({ url: `ftp://joe:bad@127.0.0.1:${port}/` }), { status: 401 });
  await t.rejects(fetcher.fetch({ url: `ftp://joe:full@127.0.0.1:${port}/` }), { code: 'ERR_CONNECTION' });
  t.match(await fetcherFor(t, port, { maxEntries: 2 })(''), { truncated: true });
});

t.test('G-85, G-86, G-88: a bad FTP server ends one retrieval, not the fetcher', async (t) => {
  const sent = { bytes: 0 };
  let hasClosed = false;
  const { port, connections } = await fakeFtp(t, {
    transfers: {
      'RETR /home/short': sendText('abc'),
      'RETR /home/unconfirmed': (data) => data.end('abc'),
      'RETR /home/reset': (data) => data.write('abc', () => data.resetAndDestroy()),
      'RETR /home/silent': (data) => data.write('abc'),
      'RETR /home/endless': (data) => sendForever(data, Buffer.alloc(65_536, 97), sent),
      'RETR /home/gone': (_, control) => control.destroy(),
      'RETR /home/good': sendText('good'),
      'RETR /home/once': (data, control) => {
        if (hasClosed) sendText('x')(data, control);
        else control.destroy();
        hasClosed = true;
      },
      'LIST /home/half': (data) => data.write('-rw-r--r--    1 0   0      5 Nov 06  1994 na'),
      'LIST /home/endless': (data) => sendForever(data, Buffer.alloc(65_536, 97), sent),
      'LIST /home/odd': sendText('this is no listing at all\r\n'),
    },
    answers: { 'SIZE /home/short': '213 5000\r\n', 'SIZE /home/good': '213 nonsense\r\n' },
  });
  const get = fetcherFor(t, port);
  await t.rejects(get('short'), { code: 'ERR_CONNECTION', message: /only 3 of 5000 bytes/ });
  await t.rejects(get('unconfirmed', { timeoutMs: 80 }), {
    code: 'ERR_CONNECTION',
    message: /nothing received for 80 ms/,
  });
  await t.rejects(get('reset', { timeoutMs: 2000 }), { code: 'ERR_CONNECTION' });
  await t.rejects(get('silent', { timeoutMs: 80 }), {
    code: 'ERR_CONNECTION',
    message: /nothing received for 80 ms/,
  });
  await t.rejects(get('gone'), { code: 'ERR_CONNECTION' });
  await t.rejects(get('half/', { timeoutMs: 80 }), { code: 'ERR_CONNECTION' }, 'half a listing is an error');
  await t.rejects(get('odd/'), { code: 'ERR_CONNECTION' });
  const endless = await get('endless', { maxBytes: 1_000_000 });
  t.ok(endless.truncated && endless.body.length === 1_000_000);
  t.ok(sent.bytes < 50_000_000);
  await t.rejects(get('endless/'), { code: 'ERR_CONNECTION' }, 'a listing has its own limit');
  t.equal(textOf((await get('good')).body), 'good', 'the fetcher still works');

  const before = connections();
  t.equal(textOf((await get('once')).body), 'x', 'a kept connection that the server closed is replaced');
  t.equal(connections(), before + 1);

  const stop = new AbortController();
  const waiting = get('silent', { signal: stop.signal });
  const queued = get('good', { signal: stop.signal });
  stop.abort(new Error('enough'));
  await Promise.all([waiting, queued].map((aborted) => t.rejects(aborted, { message: 'enough' })));
  const clock = new ManualClock();
  const hasty = fetcherFor(t, port, { maxTransferMs: 60, clock })('silent');
  await timerOf(clock, 60);
  clock.advance(60);
  await t.rejects(hasty, { message: /not done within 60 ms/ });
  const silent = await scripted(t, () => {});
  const unanswered = fetcherFor(t, silent.port, { connectTimeoutMs: 60, clock })('x');
  await timerOf(clock, 60);
  clock.advance(60);
  await t.rejects(unanswered, { message: /no connection within 60 ms/ });
  const endlessGreeting = await scripted(t, (socket) => sendForever(socket, Buffer.alloc(65_536, 97), sent));
  await t.rejects(fetcherFor(t, endlessGreeting.port)('x'), { code: 'ERR_CONNECTION' });
});

t.test('G-174: FTP with publicOnly: not this machine, and data from the server only', async (t) => {
  const { port, connections } = await fakeFtp(t, {});
  await t.rejects(fetcherFor(t, port)('x', { publicOnly: true }), {
    code: 'ERR_REFUSED',
    message: /G-174/,
  });
  t.equal(connections(), 0);
  const bouncing = await fakeFtp(t, {
    transfers: { 'RETR /home/x': sendText('never') },
    answers: { EPSV: '502 no\r\n', PASV: '227 ok (192,0,2,1,200,1)\r\n' },
  });
  await t.rejects(fetcherFor(t, bouncing.port)('x'), { code: 'ERR_CONNECTION' });
});

t.test('a long file for an archive is on disk, and its beginning in memory', async (t) => {
  const text = 'a line of the file\n'.repeat(100_000);
  const { port } = await fakeFtp(t, {
    transfers: { 'RETR /long': sendText(text) },
    answers: { 'SIZE /long': `213 ${text.length}\r\n` },
  });
  const written: Buffer[] = [];
  let open = 0;
  const fetch = fetcherFor(t, port);
  const result = await fetch('%2Flong', {
    maxBytes: 1000,
    keepWire: 'messages',
    spool: {
      maxBytes: Number.POSITIVE_INFINITY,
      open: async () => {
        open++;
        return {
          append: async (bytes: Uint8Array) => {
            // A slow disk.
            await new Promise(setImmediate);
            written.push(Buffer.from(bytes));
          },
          pieces: async function* (start = 0, end?: number) {
            yield Buffer.concat(written).subarray(start, end);
          },
          close: async () => {
            open--;
          },
        };
      },
    },
  });
  t.equal(Buffer.concat(written).toString('latin1'), text);
  t.equal(textOf(result.body), text.slice(0, 1000));
  t.same([result.truncated, result.wire?.truncated, result.wire?.body.length], [true, false, text.length]);
  t.equal(isPayloadWhole(result), true);
  await closeBodies(result);
  t.equal(open, 0);
});

t.test('a file that ends too soon is kept as far as it came, if the request says so', async (t) => {
  const PART = 'a line of the file\n'.repeat(1000);
  const size = { 'SIZE /long': `213 ${PART.length * 2}\r\n` };
  const then =
    (end: (data: Socket, control: Socket) => void): Send =>
    (data, control) => {
      data.write(Buffer.from(PART, 'latin1'), () => end(data, control));
    };
  const replied = (reply: string): Send => then((data, control) => data.end(() => control.write(reply)));
  const ends: Readonly<
    Record<string, { send: Send; cut?: string; answers?: Record<string, string>; ms?: number }>
  > = {
    'before its SIZE': { send: replied('226 done\r\n'), answers: size },
    'with 426': { send: replied('426 cut\r\n') },
    'with 451': { send: replied('451 the disk failed\r\n') },
    'with 552': { send: replied('552 too much\r\n') },
    'with the session': { send: then((data, control) => control.end(() => data.end())) },
    'in silence': { send: then(() => undefined), cut: 'time', ms: 200 },
  };
  for (const [name, { send, cut = 'disconnect', answers = {}, ms = 5000 }] of Object.entries(ends)) {
    const { port } = await fakeFtp(t, { transfers: { 'RETR /long': send }, answers });
    const fetch = fetcherFor(t, port);
    const kept = await fetch('%2Flong', { keepIncomplete: true, timeoutMs: ms });
    t.equal(textOf(kept.body), PART, name);
    t.same([kept.status, truncationOf(kept), isPayloadWhole(kept)], [200, cut, false], name);
    await t.rejects(fetch('%2Flong', { timeoutMs: ms }), { code: 'ERR_CONNECTION' }, name);
  }
  const { port } = await fakeFtp(t, { transfers: { 'RETR /long': then((data) => data.resetAndDestroy()) } });
  const reset = await fetcherFor(t, port)('%2Flong', { keepIncomplete: true, timeoutMs: 300 }).catch(
    (error: Error) => error,
  );
  // The reset may arrive before the bytes are read.
  if (reset instanceof Error) t.match(reset, { code: 'ERR_CONNECTION' });
  else t.match(truncationOf(reset), /^(?:disconnect|time)$/, 'or the server is silent then');
});
