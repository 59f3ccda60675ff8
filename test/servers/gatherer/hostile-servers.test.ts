// Servers that refuse, hang, lie, disconnect or never finish, by every access method: each bad document logs
// one error, the good documents on the same servers are gathered, and the limits hold. The last test checks the
// requests of later runs to correct servers.
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

const CHUNK = Buffer.alloc(65_536, 97);
/** G-86: 10 MiB of a document, the socket buffers, and the bytes that are read to keep a connection. */
const MAX_SENT_BYTES = 48 * 1024 * 1024;
/** Long enough for a busy machine. The servers that hang do so concurrently. */
const READ_TIMEOUT_MS = 1000;

/** Runs a Gatherer; returns its result and its error log. */
async function run(t: Test, nodes: ConfigurationParts): Promise<Gathered & { readonly errors: string }> {
  const directory = t.testdir();
  const [log, errors] = [`${directory}/log.gatherer`, `${directory}/log.errors`];
  using _logging = logDocuments(
    createLogger({ program: 'essence', file: log }),
    createLogger({ program: 'essence', file: errors }),
  );
  const gathered = await gather(`${directory}/data`, nodes, {
    maxRetries: 1,
    readTimeoutMs: READ_TIMEOUT_MS,
    queuesPerHost: 8,
  });
  return { ...gathered, errors: readFileSync(errors, 'utf8') };
}

/**
 * Checks that the error log has exactly one line per URL, with this text after the URL, and that only `good`
 * was gathered.
 */
function checkRun(
  t: Test,
  { report, errors, exported }: Awaited<ReturnType<typeof run>>,
  expectedErrors: Readonly<Record<string, RegExp>>,
  good: readonly string[],
): void {
  const lines = errors.trim().split('\n');
  for (const [url, message] of Object.entries(expectedErrors)) {
    const matching = lines.filter((line) => line.includes(`${url}: `));
    t.equal(matching.length, 1, `one line is about ${url}`);
    const [line = ''] = matching;
    t.match(line.slice(line.indexOf(url) + url.length), message);
  }
  t.equal(lines.length, Object.keys(expectedErrors).length, 'the log has no other line');
  t.strictSame(urlsOf({ exported }), [...good].sort(), 'the good documents on the same servers are gathered');
  t.equal(report.end, 'finished', 'the run finishes');
}

type Handler = (socket: Socket) => void;
const okHead = (headers: string): string => `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n${headers}`;
const GOOD: Handler = (socket) => socket.write(`${okHead('Content-Length: 5\r\n')}\r\ngood\n`);

/** Starts a web server with a handler for each path and without a robots.txt. */
function webServer(t: Test, pages: Readonly<Record<string, Handler>>): Promise<Scripted> {
  return scripted(t, (socket) =>
    onLines(socket, (line) => {
      const path = /^GET (\S+)/.exec(line)?.[1];
      if (path === undefined) return;
      const handle = pages[path];
      if (handle !== undefined) handle(socket);
      else socket.write('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');
    }),
  );
}

t.test('G-82, G-85, G-86, G-174: each bad document of a web server logs one error, no more', async (t) => {
  const sent = { bytes: 0 };
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  const { port } = await webServer(t, {
    '/good.txt': GOOD,
    '/refused': (socket) =>
      socket.write('HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm="x y"\r\nContent-Length: 0\r\n\r\n'),
    '/forbidden': (socket) => socket.write('HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n'),
    '/broken': (socket) => socket.write('HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n'),
    '/silent': () => {},
    '/stalled': (socket) => socket.write(`${okHead('Content-Length: 100\r\n')}\r\nsome`),
    '/short': (socket) => socket.end(`${okHead('Content-Length: 100\r\n')}\r\nsome`),
    '/reset': (socket) =>
      socket.write(`${okHead('Content-Length: 9\r\n')}\r\nsome`, () => socket.resetAndDestroy()),
    '/closed': (socket) => socket.end(),
    '/chunks': (socket) => socket.end(`${okHead('Transfer-Encoding: chunked\r\n')}\r\n4\r\nwhat\r\nzz\r\n`),
    '/two-lengths': (socket) =>
      socket.end(`${okHead('Content-Length: 4\r\nContent-Length: 9\r\n')}\r\nwhat is it`),
    '/no-http': (socket) => socket.end('220 this is not a web server\r\n'),
    '/headers': (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX-A: ');
      sendForever(socket, CHUNK, sent);
    },
    '/gigabytes': (socket) => {
      socket.write(`${okHead('')}\r\n`);
      sendForever(socket, CHUNK, sent);
    },
    '/huge-length': (socket) => {
      socket.write(`${okHead('Content-Length: 999999999999\r\n')}\r\n`);
      sendForever(socket, CHUNK, sent);
    },
    '/bomb': (socket) => {
      socket.write(`${okHead(`Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n`)}\r\n`);
      socket.write(bomb);
    },
    '/no-gzip': (socket) =>
      socket.write(
        `${okHead('Content-Encoding: gzip\r\nContent-Length: 5\r\n')}\r\n\x1f\x80\x08\x01\x02`,
        'latin1',
      ),
  });
  const site = `http://127.0.0.1:${port}`;
  const expectedErrors: Readonly<Record<string, RegExp>> = {
    [`${site}/refused`]: /status 401/,
    [`${site}/forbidden`]: /status 403/,
    [`${site}/broken`]: /status 500/,
    [`${site}/none`]: /status 404/,
    [`${site}/silent`]: /did not answer in time/,
    [`${site}/stalled`]: /stopped sending/,
    [`${site}/short`]: /broke the connection/,
    [`${site}/reset`]: /broke the connection/,
    [`${site}/closed`]: /broke the connection/,
    [`${site}/chunks`]: /127\.0\.0\.1.*chunk/i,
    [`${site}/no-http`]: /127\.0\.0\.1.*HTTP/,
    [`${site}/headers`]: /header is longer than 2097152 bytes/,
    [`${site}/gigabytes`]: /larger than 10485760 bytes/,
    [`${site}/huge-length`]: /larger than 10485760 bytes/,
    [`${site}/bomb`]: /larger than 10485760 bytes/,
    [`${site}/no-gzip`]: /gzip|decod|header/i,
    'http://nowhere.invalid/': /unknown host|name server/,
  };
  const good = [`${site}/good.txt`, `${site}/two-lengths`];
  const leaves = [...Object.keys(expectedErrors), ...good];
  const lines = ['HTTP-Basic-Auth: "x y" joe wrong'];
  checkRun(t, await run(t, { leaves, lines }), expectedErrors, good);
  t.ok(sent.bytes < 3 * MAX_SENT_BYTES, `three endless responses sent ${sent.bytes} bytes`);
});

t.test('G-60, G-174: redirects to files, to invalid URLs, and in circles are not followed', async (t) => {
  const redirectTo = (location: string) => (socket: Socket) =>
    socket.write(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`);
  const otherHost = await webServer(t, { '/secret': GOOD });
  const { port } = await webServer(t, {
    '/': (socket) => {
      const links = ['/file', '/round', '/odd', '/empty', '/away', '/good.txt', 'file:///etc/passwd'];
      const page = `<html><body>${links.map((url) => `<a href="${url}">x</a>`).join('')}</body></html>`;
      socket.write(
        `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${page.length}\r\n\r\n${page}`,
      );
    },
    '/good.txt': GOOD,
    '/file': redirectTo('file:///etc/passwd'),
    '/round': redirectTo('/round2'),
    '/round2': redirectTo('/round'),
    '/odd': redirectTo('javascript:alert(1)'),
    '/empty': redirectTo(''),
    '/away': redirectTo(`http://127.0.0.2:${otherHost.port}/secret`),
  });
  const site = `http://127.0.0.1:${port}`;
  const gathered = await run(t, { roots: [unlimitedRoot(`${site}/`)] });
  t.strictSame(urlsOf(gathered), [`${site}/`, `${site}/good.txt`]);
  t.equal(gathered.report.end, 'finished', 'the run finishes although a redirect is circular');
  t.notOk(
    gathered.events.some(({ url }) => url.startsWith('file:')),
    'G-174: no local files',
  );
  t.notOk(
    gathered.events.some(({ url }) => url.includes('127.0.0.2')),
    'G-27: no other hosts',
  );
  t.match(gathered.report.roots[0]?.refused, { access: 1, 'host-max': 1 }, 'G-148: both are counted');
  t.match(gathered.errors, /\/file: the redirect to file:\/\/localhost\/etc\/passwd is not followed.*G-174/);
  t.notMatch(gathered.errors, '/away: ', 'a redirect to another host is not an error');
  t.match(gathered.errors, /\/odd: status 302/, 'a redirect without a usable target is an error');
});

t.test('G-174: a public host does not lead to a private address', async (t) => {
  const requests: string[] = [];
  // Names that a proxy resolves count as public.
  const proxy = await scripted(t, (socket) =>
    onLines(socket, (line) => {
      const url = /^GET (\S+)/.exec(line)?.[1];
      if (url === undefined) return;
      requests.push(url);
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
  t.strictSame(requests, ['http://public.example/robots.txt', 'http://public.example/start']);
  t.match(gathered.report, { end: 'finished', roots: [{ refused: { private: 1 } }] });
  t.match(
    gathered.errors,
    'http://public.example/start: the redirect to http://10.1.2.3/secret is not followed',
  );
});

t.test('G-85: a port that sends nothing and a server that never finishes run into timeouts', async (t) => {
  const silent = await scripted(t, () => {});
  const slow = await webServer(t, {
    '/drip': (socket) => {
      socket.write(`${okHead('')}\r\n`);
      const timer = setInterval(() => socket.write('a'), 50);
      socket.on('close', () => clearInterval(timer));
    },
  });
  const https = `https://127.0.0.1:${silent.port}/x`;
  const ftp = `ftp://127.0.0.1:${silent.port}/x`;
  const drip = `http://127.0.0.1:${slow.port}/drip`;
  // With the default limits these requests take 30 seconds to 20 minutes.
  const { events } = await gather(
    t.testdir(),
    { leaves: [https, ftp, drip] },
    {
      maxRetries: 1,
      readTimeoutMs: READ_TIMEOUT_MS,
      connectTimeoutMs: 60_000,
      maxTransferMs: 2 * READ_TIMEOUT_MS,
      signal: AbortSignal.timeout(20_000),
    },
  );
  const reason = (url: string) => finalEventOf({ events }, url)?.reason;
  t.match(reason(https), /127\.0\.0\.1.*time/i);
  t.match(reason(ftp), /127\.0\.0\.1/);
  t.match(reason(drip), /not done within 2000 ms/);
});

t.test('G-83, G-85, G-86: each bad document of an FTP server logs one error; the run ends', async (t) => {
  const sent = { bytes: 0 };
  const endless: Send = (data) => sendForever(data, CHUNK, sent);
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
    ['odd/', sendWhole(Buffer.from('this is not a listing\r\n'))],
    ['endless/', endless],
  ]);
  const { port } = await ftpServer(t, { files, listings, sizes: { short: 5000 } });
  const locked = await ftpServer(t, { files, login: { user: 'joe', password: 'right' } });
  const site = `ftp://127.0.0.1:${port}`;
  const expectedErrors: Readonly<Record<string, RegExp>> = {
    [`${site}/short`]: /only 3 of 5000 bytes/,
    [`${site}/silent`]: /nothing received for 1000 ms/,
    [`${site}/reset`]: /127\.0\.0\.1/,
    [`${site}/unconfirmed`]: /nothing received for 1000 ms/,
    [`${site}/cut`]: /426 broken|127\.0\.0\.1/,
    [`${site}/gone`]: /127\.0\.0\.1/,
    [`${site}/gigabytes`]: /larger than 10485760 bytes/,
    [`${site}/none`]: /status 404/,
    [`${site}/half/`]: /127\.0\.0\.1/,
    [`${site}/cut-list/`]: /127\.0\.0\.1|status/,
    [`${site}/odd/`]: /127\.0\.0\.1/,
    [`${site}/endless/`]: /127\.0\.0\.1/,
    [`ftp://127.0.0.1:${locked.port}/good.txt`]: /status 401 \(530 /,
    'ftp://nowhere.invalid/': /unknown host|name server/,
  };
  const leaves = [...Object.keys(expectedErrors), `${site}/good.txt`];
  const lines = [`FTP-Auth: 127.0.0.1:${locked.port} joe wrong`];
  checkRun(t, await run(t, { leaves, lines }), expectedErrors, [`${site}/good.txt`]);
  t.ok(sent.bytes < 3 * MAX_SENT_BYTES, `endless responses sent ${sent.bytes} bytes`);
});

t.test('G-85, G-86: each bad document of a gopher server logs one error; the run ends', async (t) => {
  const sent = { bytes: 0 };
  const handlers: Readonly<Record<string, Handler>> = {
    '/good.txt': (socket) => socket.end('good\r\n.\r\n'),
    '/silent': () => {},
    '/stalled': (socket) => socket.write('some'),
    '/closed': (socket) => socket.end(),
    '/error': (socket) => socket.end('3no such thing\t\terror.host\t1\r\n.\r\n'),
    '/gigabytes': (socket) => sendForever(socket, CHUNK, sent),
    '/menu': (socket) => sendForever(socket, Buffer.from('1x'.repeat(30_000)), sent),
  };
  const { port } = await scripted(t, (socket) => onLines(socket, (line) => handlers[line]?.(socket)));
  const site = `gopher://127.0.0.1:${port}`;
  const expectedErrors: Readonly<Record<string, RegExp>> = {
    [`${site}/0/silent`]: /nothing received for 1000 ms/,
    [`${site}/0/stalled`]: /nothing received for 1000 ms/,
    [`${site}/1/closed`]: /closed the connection without an answer/,
    [`${site}/0/error`]: /status 404/,
    [`${site}/0/gigabytes`]: /larger than 10485760 bytes/,
    'gopher://nowhere.invalid/': /unknown host|name server/,
  };
  const leaves = [...Object.keys(expectedErrors), `${site}/0/good.txt`, `${site}/1/menu`];
  const gathered = await run(t, { leaves });
  checkRun(t, gathered, expectedErrors, [`${site}/0/good.txt`]);
  t.match(finalEventOf(gathered, `${site}/1/menu`), { disposition: 'listed' }, 'a truncated menu');
  t.ok(sent.bytes < 2 * MAX_SENT_BYTES, `endless responses sent ${sent.bytes} bytes`);
});

t.test('G-85, G-86: each bad article of a news server logs one error, and the run completes', async (t) => {
  const sent = { bytes: 0 };
  const article = 'From: a@example.net\r\nSubject: good\r\n\r\ngood\r\n';
  const handlers: Readonly<Record<string, Handler>> = {
    'ARTICLE 2': (socket) => socket.write('220 2 <2@h>\r\nhalf'),
    'ARTICLE 3': (socket) => socket.end('220 3 <3@h>\r\nhalf'),
    'ARTICLE 4': (socket) => {
      socket.write('220 4 <4@h>\r\n');
      sendForever(socket, CHUNK, sent);
    },
    'ARTICLE 5': (socket) => socket.write('480 who are you?\r\n'),
    'ARTICLE 6': (socket) => socket.write('502 not for you\r\n'),
    'GROUP a.silent': () => {},
    'GROUP a.half': (socket) => socket.end('211 3 1 3 a.half\r\n'),
  };
  const { port } = await newsServer(t, {
    groups: { 'a.b': [article] },
    intercept: (line, socket) => {
      const handle = handlers[line];
      handle?.(socket);
      return handle !== undefined;
    },
  });
  const busy = await scripted(t, (socket) => socket.end('400 come back later\r\n'));
  const site = `nntp://127.0.0.1:${port}`;
  const expectedErrors: Readonly<Record<string, RegExp>> = {
    [`${site}/a.b/2`]: /nothing received for 1000 ms/,
    [`${site}/a.b/3`]: /closed the connection/,
    [`${site}/a.b/4`]: /larger than 10485760 bytes/,
    [`${site}/a.b/5`]: /status 401/,
    [`${site}/a.b/6`]: /status 403/,
    [`${site}/a.b/7`]: /status 404/,
    [`${site}/a.none`]: /status 404/,
    [`${site}/a.silent`]: /nothing received for 1000 ms/,
    [`${site}/a.half`]: /closed the connection/,
    [`nntp://127.0.0.1:${busy.port}/a.b/1`]: /400 come back later/,
  };
  const leaves = [...Object.keys(expectedErrors), `${site}/a.b/1`];
  checkRun(t, await run(t, { leaves }), expectedErrors, [`${site}/a.b/1`]);
  t.ok(sent.bytes < MAX_SENT_BYTES, `endless responses sent ${sent.bytes} bytes`);
});

t.test('G-104 to G-108: later runs by any method transfer nothing needless; failures keep all', async (t) => {
  const requests: string[] = [];
  const recordRequest = (line: string): void => {
    requests.push(line);
  };
  const files = new Map(
    ['a.txt', 'd/b.txt', 'd/e/c.txt'].map((path) => [path, Buffer.from(`this is ${path}\n`)]),
  );
  let isDown = false;
  const ftp = await ftpServer(t, { files, onCommand: recordRequest });
  const article = (n: number) => `From: a@example.net\r\nSubject: ${n}\r\n\r\nArticle ${n}.\r\n`;
  const news = await newsServer(t, {
    groups: { 'a.b': [article(1), article(2)] },
    onCommand: recordRequest,
    intercept: (_, socket) => {
      if (isDown) socket.destroy();
      return isDown;
    },
  });
  let text = 'first';
  const gopher = await scripted(t, (socket) =>
    onLines(socket, (line) => {
      recordRequest(`gopher ${line}`);
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
  const run = async () => {
    requests.length = 0;
    return await gather(`${directory}/data`, { roots }, { maxRetries: 1, now: () => now });
  };
  const countRequests = (command: string): number =>
    requests.filter((line) => line.startsWith(command)).length;
  const timeAndDigestOf = ({ exported }: Gathered, url: string): (string | undefined)[] => {
    const object = exported.find((one) => one.url === url);
    return [object?.text('Update-Time'), object?.text('MD5')];
  };

  const first = await run();
  t.match(first.report.counts, { summarized: 7, failed: 0 });
  t.strictSame(
    [countRequests('RETR'), countRequests('ARTICLE'), countRequests('gopher /')],
    [3, 2, 1],
    'each body is transferred once',
  );
  now += 10;
  const second = await run();
  t.match(
    second.report.counts,
    { kept: 6, unchanged: 1 },
    'line 1: documents that are not due are kept; files are checked without a request',
  );
  t.strictSame(
    [
      countRequests('RETR'),
      countRequests('MDTM'),
      countRequests('ARTICLE'),
      countRequests('STAT'),
      countRequests('gopher /'),
    ],
    [0, 0, 0, 0, 0],
    'only lists are requested from servers',
  );
  now += WEEK;
  const third = await run();
  t.match(third.report.counts, { unchanged: 7, summarized: 0 }, 'lines 2 and 3: due documents are unchanged');
  t.strictSame([countRequests('RETR'), countRequests('MDTM')], [0, 3], 'FTP provides the modification time');
  t.strictSame([countRequests('ARTICLE'), countRequests('STAT')], [0, 2], 'an article never changes');
  t.equal(countRequests('gopher /'), 1, 'Gopher provides no time: the body is fetched again');
  const url = `${menu}0/a.txt`;
  const [updated, digest] = timeAndDigestOf(third, url);
  t.equal(updated, String(now), 'Update-Time is the current time');
  t.equal(digest, timeAndDigestOf(first, url)[1]);
  now += WEEK + 1;
  text = 'changed';
  const fourth = await run();
  t.match(fourth.report.counts, { summarized: 1, unchanged: 6 }, 'line 4: one digest has changed');
  t.not(timeAndDigestOf(fourth, url)[1], digest);
  now += WEEK + 1;
  isDown = true;
  const fifth = await run();
  t.ok(fifth.report.counts.failed >= 2, 'line 6: lists that cannot be fetched fail');
  t.strictSame(urlsOf(fifth), urlsOf(first), 'G-104: the objects from these lists are kept');
  t.strictSame(timeAndDigestOf(fifth, url), timeAndDigestOf(fourth, url), 'the times are unchanged');
});
