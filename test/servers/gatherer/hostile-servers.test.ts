// Servers that refuse, hang, lie, disconnect and never finish, by every access method: one error in the log each, the good document on
// the same server is gathered, the run completes, and the limits hold. Then the requests of a second run to cooperative servers.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { logDocuments } from '../../../servers/gatherer/index.js';
import { createLogger } from '../../../servers/host/index.js';
import { onLines, type Scripted, scripted, sendForever } from '../../clients/fetch/scripted.js';
import {
  type ConfigurationParts,
  finalEventOf,
  type Gathered,
  gather,
  unlimitedRoot,
  urlsOf,
} from '../../helpers/gather-peers/gather.js';
import { ftpServer, type Send, sendWhole } from '../../helpers/gather-peers/scripted-ftp.js';
import { newsServer } from '../../helpers/gather-peers/scripted-news.js';

const PIECE = Buffer.alloc(65_536, 97);
/** G-86: 10 MiB of a document, the socket buffers, and the bytes that are read to keep a connection. */
const MOST_SENT = 48 * 1024 * 1024;
/** In milliseconds; long enough for a busy machine. The servers that hang do so concurrently. */
const READ_TIMEOUT = 1000;

interface Case {
  /** The log line after the URL. */
  readonly says: RegExp;
}

/** Runs a Gatherer over bad documents and a good one; returns its error log. */
async function run(t: Test, nodes: ConfigurationParts): Promise<Gathered & { readonly errors: string }> {
  const directory = t.testdir();
  const [all, errors] = [`${directory}/log.gatherer`, `${directory}/log.errors`];
  using _logging = logDocuments(
    createLogger({ program: 'essence', file: all }),
    createLogger({ program: 'essence', file: errors }),
  );
  const gathered = await gather(`${directory}/data`, nodes, {
    maxRetries: 1,
    readTimeoutMs: READ_TIMEOUT,
    queuesPerHost: 8,
  });
  return { ...gathered, errors: readFileSync(errors, 'utf8') };
}

/** Checks that the error log has exactly one line for every case, and that only `good` was summarized. */
function judge(
  t: Test,
  { report, errors, exported }: Awaited<ReturnType<typeof run>>,
  cases: Readonly<Record<string, Case>>,
  good: readonly string[],
): void {
  const lines = errors.trim().split('\n');
  for (const [url, { says }] of Object.entries(cases)) {
    const own = lines.filter((line) => line.includes(`${url}: `));
    t.equal(own.length, 1, `one line about ${url}`);
    t.match(own[0]?.slice((own[0]?.indexOf(url) ?? 0) + url.length), says);
  }
  t.equal(lines.length, Object.keys(cases).length, 'there is no other line');
  t.strictSame(urlsOf({ exported }), [...good].sort(), 'the good documents on the same servers are gathered');
  t.equal(report.end, 'finished', 'the run finishes');
}

type Answer = (socket: Socket) => void;
const head = (more: string): string => `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n${more}`;
const GOOD: Answer = (socket) => socket.write(`${head('Content-Length: 5\r\n')}\r\ngood\n`);

/** A web server with a handler for each path and without a robots.txt. */
function web(t: Test, pages: Readonly<Record<string, Answer>>): Promise<Scripted> {
  return scripted(t, (socket) =>
    onLines(socket, (line) => {
      const path = /^GET (\S+)/.exec(line)?.[1];
      if (path === undefined) return;
      const answer = pages[path];
      if (answer !== undefined) answer(socket);
      else socket.write('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');
    }),
  );
}

t.test('G-82, G-85, G-86, G-174 web servers: one logged error each, and the run completes', async (t) => {
  const sent = { bytes: 0 };
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  const { port } = await web(t, {
    '/good.txt': GOOD,
    '/refused': (socket) =>
      socket.write('HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm="x y"\r\nContent-Length: 0\r\n\r\n'),
    '/forbidden': (socket) => socket.write('HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n'),
    '/broken': (socket) => socket.write('HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n'),
    '/mute': () => {},
    '/stalled': (socket) => socket.write(`${head('Content-Length: 100\r\n')}\r\nsome`),
    '/short': (socket) => socket.end(`${head('Content-Length: 100\r\n')}\r\nsome`),
    '/reset': (socket) =>
      socket.write(`${head('Content-Length: 9\r\n')}\r\nsome`, () => socket.resetAndDestroy()),
    '/hung-up': (socket) => socket.end(),
    '/chunks': (socket) => socket.end(`${head('Transfer-Encoding: chunked\r\n')}\r\nzz\r\nwhat\r\n`),
    '/two-lengths': (socket) =>
      socket.end(`${head('Content-Length: 4\r\nContent-Length: 9\r\n')}\r\nwhat is it`),
    '/babble': (socket) => socket.end('220 this is no web server\r\n'),
    '/headers': (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX-A: ');
      sendForever(socket, PIECE, sent);
    },
    '/gigabytes': (socket) => {
      socket.write(`${head('')}\r\n`);
      sendForever(socket, PIECE, sent);
    },
    '/boasting': (socket) => {
      socket.write(`${head('Content-Length: 999999999999\r\n')}\r\n`);
      sendForever(socket, PIECE, sent);
    },
    '/bomb': (socket) => {
      socket.write(`${head(`Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n`)}\r\n`);
      socket.write(bomb);
    },
    '/no-gzip': (socket) =>
      socket.write(`${head('Content-Encoding: gzip\r\nContent-Length: 5\r\n')}\r\nplain`),
  });
  const site = `http://127.0.0.1:${port}`;
  const cases: Readonly<Record<string, Case>> = {
    [`${site}/refused`]: { says: /status 401/ },
    [`${site}/forbidden`]: { says: /status 403/ },
    [`${site}/broken`]: { says: /status 500/ },
    [`${site}/none`]: { says: /status 404/ },
    [`${site}/mute`]: { says: /did not answer in time/ },
    [`${site}/stalled`]: { says: /stopped sending/ },
    [`${site}/short`]: { says: /broke the connection/ },
    [`${site}/reset`]: { says: /broke the connection/ },
    [`${site}/hung-up`]: { says: /broke the connection/ },
    [`${site}/chunks`]: { says: /127\.0\.0\.1.*chunk/i },
    [`${site}/two-lengths`]: { says: /127\.0\.0\.1.*Content-Length/i },
    [`${site}/babble`]: { says: /127\.0\.0\.1.*HTTP/ },
    [`${site}/headers`]: { says: /header of the answer is too long/ },
    [`${site}/gigabytes`]: { says: /larger than 10485760 bytes/ },
    [`${site}/boasting`]: { says: /larger than 10485760 bytes/ },
    [`${site}/bomb`]: { says: /larger than 10485760 bytes/ },
    [`${site}/no-gzip`]: { says: /gzip|decod|header/i },
    'http://nowhere.invalid/': { says: /unknown host|name server/ },
  };
  const leaves = [...Object.keys(cases), `${site}/good.txt`];
  const lines = ['HTTP-Basic-Auth: "x y" joe wrong'];
  judge(t, await run(t, { leaves, lines }), cases, [`${site}/good.txt`]);
  t.ok(sent.bytes < 3 * MOST_SENT, `${sent.bytes} bytes were sent by three servers that never end`);
});

t.test('G-60, G-174 redirects to files, to invalid URLs, and in circles', async (t) => {
  const to = (location: string) => (socket: Socket) =>
    socket.write(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`);
  const inner = await web(t, { '/secret': GOOD });
  const { port } = await web(t, {
    '/': (socket) => {
      const links = ['/file', '/round', '/odd', '/empty', '/away', '/good.txt', 'file:///etc/passwd'];
      const page = `<html><body>${links.map((url) => `<a href="${url}">x</a>`).join('')}</body></html>`;
      socket.write(
        `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${page.length}\r\n\r\n${page}`,
      );
    },
    '/good.txt': GOOD,
    '/file': to('file:///etc/passwd'),
    '/round': to('/round2'),
    '/round2': to('/round'),
    '/odd': to('javascript:alert(1)'),
    '/empty': to(''),
    '/away': to(`http://127.0.0.2:${inner.port}/secret`),
  });
  const site = `http://127.0.0.1:${port}`;
  const gathered = await run(t, { roots: [unlimitedRoot(`${site}/`)] });
  t.strictSame(urlsOf(gathered), [`${site}/`, `${site}/good.txt`]);
  t.equal(gathered.report.end, 'finished', 'the run finishes although redirects never end');
  t.notOk(
    gathered.events.some(({ url }) => url.startsWith('file:')),
    'G-174: a page does not lead to local files',
  );
  t.notOk(
    gathered.events.some(({ url }) => url.includes('127.0.0.2')),
    'G-27: a page does not lead to another host',
  );
  t.match(gathered.report.roots[0]?.refused, { access: 1, 'host-max': 1 }, 'G-148: both are counted');
  t.match(gathered.errors, /\/file: the redirect to file:\/\/\/etc\/passwd is not followed.*G-174/);
  t.notMatch(gathered.errors, '/away: ', 'a redirect to another host is not an error');
  t.match(gathered.errors, /\/odd: status 302/, 'a redirect without a usable target is an error');
});

t.test('G-174 a public host leads to no private address', async (t) => {
  const asked: string[] = [];
  // Names that a proxy resolves count as public.
  const proxy = await scripted(t, (socket) =>
    onLines(socket, (line) => {
      const url = /^GET (\S+)/.exec(line)?.[1];
      if (url === undefined) return;
      asked.push(url);
      if (url.endsWith('/start'))
        socket.write('HTTP/1.1 302 Found\r\nLocation: http://10.1.2.3/secret\r\nContent-Length: 0\r\n\r\n');
      else if (url.endsWith('/robots.txt')) socket.write('HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n');
      else GOOD(socket);
    }),
  );
  const gathered = await run(t, {
    roots: [unlimitedRoot('http://public.example/start', 'Host=10')],
    lines: [`HTTP-Proxy: 127.0.0.1:${proxy.port}`],
  });
  t.strictSame(asked, ['http://public.example/robots.txt', 'http://public.example/start']);
  t.match(gathered.report, { end: 'finished', roots: [{ refused: { private: 1 } }] });
  t.match(
    gathered.errors,
    'http://public.example/start: the redirect to http://10.1.2.3/secret is not followed',
  );
});

t.test('G-85 timeouts for a port that sends nothing and a server that never finishes', async (t) => {
  const deaf = await scripted(t, () => {});
  const slow = await web(t, {
    '/drip': (socket) => {
      socket.write(`${head('')}\r\n`);
      const timer = setInterval(() => socket.write('a'), 50);
      socket.on('close', () => clearInterval(timer));
    },
  });
  const https = `https://127.0.0.1:${deaf.port}/x`;
  const ftp = `ftp://127.0.0.1:${deaf.port}/x`;
  const drip = `http://127.0.0.1:${slow.port}/drip`;
  // With the default limits the three take 30 s and 20 minutes.
  const { events } = await gather(
    t.testdir(),
    { leaves: [https, ftp, drip] },
    {
      maxRetries: 1,
      readTimeoutMs: READ_TIMEOUT,
      connectTimeoutMs: 60_000,
      maxTransferMs: 2 * READ_TIMEOUT,
      signal: AbortSignal.timeout(20_000),
    },
  );
  const reason = (url: string) => finalEventOf({ events }, url)?.reason;
  t.match(reason(https), /127\.0\.0\.1.*time/i);
  t.match(reason(ftp), /127\.0\.0\.1/);
  t.match(reason(drip), /not done within 2000 ms/);
});

t.test('G-83, G-85, G-86 FTP servers: one logged error each, and the run completes', async (t) => {
  const sent = { bytes: 0 };
  const endless: Send = (data) => sendForever(data, PIECE, sent);
  const files = new Map<string, Buffer | Send>([
    ['good.txt', Buffer.from('good\n')],
    ['short', Buffer.from('abc')],
    ['silent', (data) => data.write('abc')],
    ['reset', (data) => data.write('abc', () => data.resetAndDestroy())],
    ['unconfirmed', (data) => data.end('abc')],
    ['cut', (data, control) => data.end('abc', () => control.write('426 broken\r\n'))],
    ['gone', (_, control) => control.destroy()],
    ['gigabytes', endless],
  ]);
  const listings = new Map<string, Send>([
    ['half/', (data) => data.write('-rw-r--r--    1 0   0      5 Nov 06  1994 na')],
    [
      'cut-list/',
      (data, control) =>
        data.end('-rw-r--r--    1 0   0      5 Nov 06  1994 na\r\n', () => control.write('426 broken\r\n')),
    ],
    ['odd/', sendWhole(Buffer.from('this is no listing at all\r\n'))],
    ['endless/', endless],
  ]);
  const { port } = await ftpServer(t, { files, listings, sizes: { short: 5000 } });
  const locked = await ftpServer(t, { files, login: { user: 'joe', password: 'right' } });
  const site = `ftp://127.0.0.1:${port}`;
  const cases: Readonly<Record<string, Case>> = {
    [`${site}/short`]: { says: /only 3 of 5000 bytes/ },
    [`${site}/silent`]: { says: /nothing received for 1000 ms/ },
    [`${site}/reset`]: { says: /127\.0\.0\.1/ },
    [`${site}/unconfirmed`]: { says: /nothing received for 1000 ms/ },
    [`${site}/cut`]: { says: /426 broken|127\.0\.0\.1/ },
    [`${site}/gone`]: { says: /127\.0\.0\.1/ },
    [`${site}/gigabytes`]: { says: /larger than 10485760 bytes/ },
    [`${site}/none`]: { says: /status 404/ },
    [`${site}/half/`]: { says: /127\.0\.0\.1/ },
    [`${site}/cut-list/`]: { says: /127\.0\.0\.1|status/ },
    [`${site}/odd/`]: { says: /127\.0\.0\.1/ },
    [`${site}/endless/`]: { says: /127\.0\.0\.1/ },
    [`ftp://127.0.0.1:${locked.port}/good.txt`]: { says: /status 401 \(530 / },
    'ftp://nowhere.invalid/': { says: /unknown host|name server/ },
  };
  const leaves = [...Object.keys(cases), `${site}/good.txt`];
  const lines = [`FTP-Auth: 127.0.0.1:${locked.port} joe wrong`];
  judge(t, await run(t, { leaves, lines }), cases, [`${site}/good.txt`]);
  t.ok(sent.bytes < 3 * MOST_SENT, `${sent.bytes} bytes were sent by endless responses`);
});

t.test('G-85, G-86 gopher servers: one logged error each, and the run completes', async (t) => {
  const sent = { bytes: 0 };
  const answers: Readonly<Record<string, Answer>> = {
    '/good.txt': (socket) => socket.end('good\r\n.\r\n'),
    '/mute': () => {},
    '/stalled': (socket) => socket.write('some'),
    '/closed': (socket) => socket.end(),
    '/error': (socket) => socket.end('3no such thing\t\terror.host\t1\r\n.\r\n'),
    '/gigabytes': (socket) => sendForever(socket, PIECE, sent),
    '/menu': (socket) => sendForever(socket, Buffer.from('1x'.repeat(30_000)), sent),
  };
  const { port } = await scripted(t, (socket) => onLines(socket, (line) => answers[line]?.(socket)));
  const site = `gopher://127.0.0.1:${port}`;
  const cases: Readonly<Record<string, Case>> = {
    [`${site}/0/mute`]: { says: /nothing received for 1000 ms/ },
    [`${site}/0/stalled`]: { says: /nothing received for 1000 ms/ },
    [`${site}/1/closed`]: { says: /closed the connection without an answer/ },
    [`${site}/0/error`]: { says: /status 404/ },
    [`${site}/0/gigabytes`]: { says: /larger than 10485760 bytes/ },
    'gopher://nowhere.invalid/': { says: /unknown host|name server/ },
  };
  const leaves = [...Object.keys(cases), `${site}/0/good.txt`, `${site}/1/menu`];
  const gathered = await run(t, { leaves });
  judge(t, gathered, cases, [`${site}/0/good.txt`]);
  t.match(
    finalEventOf(gathered, `${site}/1/menu`),
    { disposition: 'listed' },
    'an endless menu is truncated',
  );
  t.ok(sent.bytes < 2 * MOST_SENT, `${sent.bytes} bytes were sent by endless responses`);
});

t.test('G-85, G-86 news servers: one logged error each, and the run completes', async (t) => {
  const sent = { bytes: 0 };
  const article = 'From: a@example.net\r\nSubject: good\r\n\r\ngood\r\n';
  const replacements: Readonly<Record<string, Answer>> = {
    'ARTICLE 2': (socket) => socket.write('220 2 <2@h>\r\nhalf'),
    'ARTICLE 3': (socket) => socket.end('220 3 <3@h>\r\nhalf'),
    'ARTICLE 4': (socket) => {
      socket.write('220 4 <4@h>\r\n');
      sendForever(socket, PIECE, sent);
    },
    'ARTICLE 5': (socket) => socket.write('480 who are you?\r\n'),
    'ARTICLE 6': (socket) => socket.write('502 not for you\r\n'),
    'GROUP a.silent': () => {},
    'GROUP a.half': (socket) => socket.end('211 3 1 3 a.half\r\n'),
  };
  const { port } = await newsServer(t, {
    groups: { 'a.b': [article] },
    intercept: (line, socket) => {
      const answer = replacements[line];
      answer?.(socket);
      return answer !== undefined;
    },
  });
  const busy = await scripted(t, (socket) => socket.end('400 come back later\r\n'));
  const site = `nntp://127.0.0.1:${port}`;
  const cases: Readonly<Record<string, Case>> = {
    [`${site}/a.b/2`]: { says: /nothing received for 1000 ms/ },
    [`${site}/a.b/3`]: { says: /closed the connection/ },
    [`${site}/a.b/4`]: { says: /larger than 10485760 bytes/ },
    [`${site}/a.b/5`]: { says: /status 401/ },
    [`${site}/a.b/6`]: { says: /status 403/ },
    [`${site}/a.b/7`]: { says: /status 404/ },
    [`${site}/a.none`]: { says: /status 404/ },
    [`${site}/a.silent`]: { says: /nothing received for 1000 ms/ },
    [`${site}/a.half`]: { says: /closed the connection/ },
    [`nntp://127.0.0.1:${busy.port}/a.b/1`]: { says: /400 come back later/ },
  };
  const leaves = [...Object.keys(cases), `${site}/a.b/1`];
  judge(t, await run(t, { leaves }), cases, [`${site}/a.b/1`]);
  t.ok(sent.bytes < MOST_SENT, `${sent.bytes} bytes were sent by endless responses`);
});

t.test(
  'G-104 to G-108 a second run by every method: no unnecessary transfer, and failures keep the objects',
  async (t) => {
    const asked: string[] = [];
    const note = (line: string): void => {
      asked.push(line);
    };
    const files = new Map(
      ['a.txt', 'd/b.txt', 'd/e/c.txt'].map((path) => [path, Buffer.from(`this is ${path}\n`)]),
    );
    let isDown = false;
    const ftp = await ftpServer(t, { files, onCommand: note });
    const article = (n: number) => `From: a@example.net\r\nSubject: ${n}\r\n\r\nArticle ${n}.\r\n`;
    const news = await newsServer(t, {
      groups: { 'a.b': [article(1), article(2)] },
      onCommand: note,
      intercept: (_, socket) => {
        if (isDown) socket.destroy();
        return isDown;
      },
    });
    let text = 'first';
    const gopher = await scripted(t, (socket) =>
      onLines(socket, (line) => {
        note(`gopher ${line}`);
        if (isDown) socket.destroy();
        else if (line === '') socket.end(`0A text\t/a.txt\t127.0.0.1\t${gopher.port}\r\n.\r\n`);
        else socket.end(`${text}\r\n.\r\n`);
      }),
    );
    const directory = t.testdir();
    const folder = `${directory}/files`;
    mkdirSync(folder);
    writeFileSync(`${folder}/local.txt`, 'local\n');
    const menu = `gopher://127.0.0.1:${gopher.port}/`;
    const roots = [
      `ftp://127.0.0.1:${ftp.port}/`,
      `nntp://127.0.0.1:${news.port}/a.b`,
      menu,
      `file://${folder}/`,
    ].map((url) => unlimitedRoot(url));
    let now = 1_800_000_000;
    const WEEK = 604_800;
    const once = async () => {
      asked.length = 0;
      return await gather(`${directory}/data`, { roots }, { maxRetries: 1, now: () => now });
    };
    const times = (command: string): number => asked.filter((line) => line.startsWith(command)).length;
    const timesOf = ({ exported }: Gathered, url: string): (string | undefined)[] => {
      const object = exported.find((one) => one.url === url);
      return [object?.text('Update-Time'), object?.text('MD5')];
    };

    const first = await once();
    t.match(first.report.counts, { summarized: 7, failed: 0 });
    t.strictSame([times('RETR'), times('ARTICLE'), times('gopher /')], [3, 2, 1], 'each body once');
    now += 10;
    const second = await once();
    t.match(
      second.report.counts,
      { kept: 6, unchanged: 1 },
      'line 1: not due; files are checked without a request',
    );
    t.strictSame(
      [times('RETR'), times('MDTM'), times('ARTICLE'), times('STAT'), times('gopher /')],
      [0, 0, 0, 0, 0],
      'only lists are requested from servers',
    );
    now += WEEK;
    const third = await once();
    t.match(third.report.counts, { unchanged: 7, summarized: 0 }, 'lines 2 and 3');
    t.strictSame([times('RETR'), times('MDTM')], [0, 3], 'FTP provides the modification time');
    t.strictSame([times('ARTICLE'), times('STAT')], [0, 2], 'an article never changes');
    t.equal(times('gopher /'), 1, 'Gopher provides no time: the body is fetched, and its digest is the same');
    const url = `${menu}0/a.txt`;
    const [updated, digest] = timesOf(third, url);
    t.equal(updated, String(now), 'Update-Time is now');
    t.equal(digest, timesOf(first, url)[1]);
    now += WEEK + 1;
    text = 'changed';
    const fourth = await once();
    t.match(fourth.report.counts, { summarized: 1, unchanged: 6 }, 'line 4: one digest has changed');
    t.not(timesOf(fourth, url)[1], digest);
    now += WEEK + 1;
    isDown = true;
    const fifth = await once();
    t.ok(fifth.report.counts.failed >= 2, 'line 6: lists that cannot be retrieved');
    t.strictSame(urlsOf(fifth), urlsOf(first), 'G-104: the objects from these lists are kept');
    t.strictSame(timesOf(fifth, url), timesOf(fourth, url), 'the times are unchanged');
  },
);
