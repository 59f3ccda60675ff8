// Tests protocols/nntp (URLs, replies) and the news fetcher against scripted servers.
import type { Socket } from 'node:net';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { NewsFetcher, type NewsFetcherOptions } from '../../../clients/fetch/index.js';
import {
  articleUrl,
  formatNntpTime,
  type NntpEvent,
  NntpReplyDecoder,
  parseNewsUrl,
} from '../../../protocols/nntp/index.js';
import { assertProperty } from '../../helpers/property.js';
import { onLines, scripted, sendForever, textOf } from './scripted.js';

t.test('G-55, G-70: news and nntp URLs are parsed, and URLs of articles are formed', (t) => {
  const noLogin = { user: undefined, password: undefined };
  const site = { host: undefined, port: 119, ...noLogin };
  t.strictSame(parseNewsUrl('news:comp.lang.c'), {
    ...site,
    target: { kind: 'group', group: 'comp.lang.c' },
  });
  t.strictSame(parseNewsUrl('news:a/b%25c@h').target, { kind: 'message', id: 'a/b%c@h' });
  t.strictSame(parseNewsUrl('news:%3Ca@h%3E').target, { kind: 'message', id: 'a@h' });
  t.strictSame(parseNewsUrl('news:*').target, { kind: 'groups', pattern: '*' });
  t.strictSame(parseNewsUrl('nntp://u:p%40@h:1119/g.x/12'), {
    host: 'h',
    port: 1119,
    user: 'u',
    password: 'p@',
    target: { kind: 'number', group: 'g.x', number: 12 },
  });
  t.match(parseNewsUrl('news://[::1]/g'), { host: '::1', port: 119, target: { kind: 'group', group: 'g' } });
  t.strictSame(parseNewsUrl('nntp://h/').target, { kind: 'groups', pattern: '*' });
  for (const bad of ['news:a%0d%0aQUIT', 'nntp://h/g/1/2', 'news:two%20words']) {
    t.throws(() => parseNewsUrl(bad), { code: 'ERR_USAGE' }, bad);
  }
  const article = { number: 7, messageId: '<a/b%c@h>' };
  t.equal(articleUrl('news:g', article), 'news:a%2Fb%25c@h');
  t.equal(articleUrl('news://h:1/g', article), 'news://h:1/a%2Fb%25c@h');
  t.equal(articleUrl('nntp://h:1/g', article), 'nntp://h:1/g/7');
  t.equal(formatNntpTime(784_111_777), '19941106 084937 GMT');
  t.end();
});

const STREAM = '200 hi\r\n220 1 <a@b> follows\r\n..\r\n.x\n...\r\ny\r.\r\n\r\n.\r\n430 none\r\n';

t.test('dot-stuffing is removed and blocks end correctly, however the input is cut', (t) => {
  const input = Buffer.from(STREAM);
  assertProperty(
    fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 60 }), (sizes) => {
      const decoder = new NntpReplyDecoder();
      decoder.expect([220]);
      const events: NntpEvent[] = [];
      let offset = 0;
      for (const size of [...sizes, input.length]) {
        events.push(...decoder.push(input.subarray(offset, offset + size)));
        offset += size;
      }
      const data = events.flatMap((event) => (event.kind === 'data' ? [event.bytes] : []));
      t.equal(textOf(Buffer.concat(data)), '.\r\nx\n..\r\ny\r.\r\n\r\n');
      t.strictSame(
        events.filter(({ kind }) => kind !== 'data'),
        [
          { kind: 'status', code: 200, text: 'hi' },
          { kind: 'status', code: 220, text: '1 <a@b> follows' },
          { kind: 'end' },
          { kind: 'status', code: 430, text: 'none' },
        ],
      );
    }),
    { numRuns: 100 },
  );
  const decoder = new NntpReplyDecoder();
  t.match(decoder.push(Buffer.from('HTTP/1.0 200 OK\r\n')), [{ kind: 'broken' }]);
  t.match(new NntpReplyDecoder().push(Buffer.alloc(10_000, 50)), [{ kind: 'broken' }], 'an endless line');
  t.end();
});

const ARTICLE = 'Date: Sun, 06 Nov 1994 08:49:37 +0000 (GMT)\r\nSubject: hi\r\n\r\n.dot\r\n';

/** A small news server; `override` may answer a command instead. */
function newsServer(
  socket: Socket,
  log: string[],
  override: (line: string) => string | undefined = () => undefined,
) {
  socket.write('200 ready\r\n');
  onLines(socket, (line) => {
    log.push(line);
    const answer = override(line);
    if (answer !== undefined) socket.write(answer);
    else if (line === 'MODE READER') socket.write('200 go\r\n');
    else if (line === 'GROUP a.b') socket.write('211 2 3 9 a.b\r\n');
    else if (line === 'OVER 3-9') socket.write('500 what?\r\n');
    else if (line === 'XOVER 3-9') {
      socket.write(
        '224 x\r\n3\tS1\tF\tD\t<m1@h>\t\t10\t1\r\nrubbish\r\n9\t..S2\tF\tD\t<m2@h>\t<m1@h>\t10\t1\r\n.\r\n',
      );
    } else if (line === 'ARTICLE <m1@h>' || line === 'ARTICLE 3') {
      socket.write(`220 3 <m1@h> x\r\n${ARTICLE.replace('.dot', '..dot')}.\r\n`);
    } else if (line === 'STAT <m1@h>') socket.write('223 3 <m1@h>\r\n');
    else if (line.startsWith('STAT') || line.startsWith('ARTICLE')) socket.write('430 no such\r\n');
    else if (line === 'LIST ACTIVE') socket.write('215 x\r\na.b 9 3 y\r\na+c 1 2 m\r\n.\r\n');
    else if (line.startsWith('GROUP')) socket.write('411 no such group\r\n');
    else socket.write('502 no\r\n');
  });
}

function fetcherFor(t: Test, options: NewsFetcherOptions = {}) {
  const fetcher = new NewsFetcher(options);
  t.teardown(() => fetcher.close());
  return (url: string, more = {}) => fetcher.fetch({ url, timeoutMs: 5000, ...more });
}

t.test('G-26, G-70, G-88: articles, groups and lists are fetched over one kept connection', async (t) => {
  const log: string[] = [];
  const { port, connections } = await scripted(t, (socket) => newsServer(socket, log));
  const get = fetcherFor(t, { newsServer: `127.0.0.1:${port}` });
  const group = await get('news:a.b');
  t.match(group, { status: 200, contentType: 'text/x-news-overview', etag: '"3-9-2"', truncated: false });
  t.strictSame(group.links, ['news:m1@h', 'news:m2@h']);
  t.match(await get('news:a.b', { headers: { etag: '"3-9-2"' } }), { status: 304 });
  t.match(await get('news:m1@h'), {
    status: 200,
    contentType: 'message/rfc822',
    etag: '<m1@h>',
    lastModified: 784_111_777,
    body: Buffer.from(ARTICLE),
    remoteAddress: '127.0.0.1',
  });
  t.match(await get('news:m1@h', { headers: { etag: '<m1@h>' } }), { status: 304 });
  t.match(await get('news:gone@h', { headers: { lastModified: 1 } }), { status: 404 });
  const host = `127.0.0.1:${port}`;
  t.strictSame((await get(`nntp://${host}/a.b`)).links, [`nntp://${host}/a.b/3`, `nntp://${host}/a.b/9`]);
  t.equal(textOf((await get(`nntp://${host}/a.b/3`)).body), ARTICLE);
  t.match(await get('news:no.such'), { status: 404, headers: { 'nntp-reply': '411 no such group' } });
  t.strictSame((await get('news:*')).links, ['news:a.b', 'news:a+c']);
  t.equal(connections(), 1);
  t.equal(log.filter((line) => line === 'MODE READER').length, 1);
  t.strictSame(log.slice(0, 3), ['MODE READER', 'GROUP a.b', 'OVER 3-9']);
});

t.test('RFC 4643: a login is sent only if the server requests it', async (t) => {
  const log: string[] = [];
  let authorized = false;
  const { port } = await scripted(t, (socket) =>
    newsServer(socket, log, (line) => {
      if (line === 'AUTHINFO USER joe') return '381 and?\r\n';
      if (line === 'AUTHINFO PASS secret') {
        authorized = true;
        return '281 ok\r\n';
      }
      if (line.startsWith('AUTHINFO')) return '481 no\r\n';
      return line.startsWith('ARTICLE') && !authorized ? '480 who?\r\n' : undefined;
    }),
  );
  const address = `127.0.0.1:${port}`;
  const anonymous = fetcherFor(t, { newsServer: address });
  t.match(await anonymous('news:m1@h'), { status: 401 });
  const wrong = fetcherFor(t);
  t.match(await wrong(`news://x:y@${address}/m1@h`), {
    status: 401,
    headers: { 'nntp-reply': '481 no' },
  });
  const right = fetcherFor(t, {
    newsServer: address,
    newsAuth: [{ host: '127.0.0.1', port, user: 'joe', password: 'secret' }],
  });
  t.match(await right('news:m1@h'), { status: 200 });
  t.strictSame(log.slice(-4), [
    'ARTICLE <m1@h>',
    'AUTHINFO USER joe',
    'AUTHINFO PASS secret',
    'ARTICLE <m1@h>',
  ]);
});

t.test('a group without new articles is unchanged if the server allows NEWNEWS', async (t) => {
  const log: string[] = [];
  const { port } = await scripted(t, (socket) =>
    newsServer(socket, log, (line) => {
      if (line === 'NEWNEWS a.b 19941106 084937 GMT') return '230 x\r\n.\r\n';
      return line.startsWith('NEWNEWS') ? '230 x\r\n<m2@h>\r\n.\r\n' : undefined;
    }),
  );
  const get = fetcherFor(t, { newsServer: `127.0.0.1:${port}` });
  t.match(await get('news:a.b', { headers: { lastModified: 784_111_777 } }), { status: 304 });
  const news = await get('news:a.b', { headers: { lastModified: 1 } });
  t.equal(news.links?.length, 2, 'the whole list is fetched after a new article');
});

t.test('G-85, G-86, G-88: a bad news server gives an error or a cut body', async (t) => {
  const sent = { bytes: 0 };
  let broken = false;
  const { port, connections } = await scripted(t, (socket) =>
    newsServer(socket, [], (line) => {
      if (line === 'ARTICLE <silent@h>') return '220 1 <silent@h>\r\nhalf';
      if (line === 'ARTICLE <half@h>') {
        socket.end('220 1 <half@h>\r\nhalf');
        return '';
      }
      if (line === 'ARTICLE <once@h>' && !broken) {
        broken = true;
        socket.end();
        return '';
      }
      if (line === 'ARTICLE <once@h>') return '220 1 <once@h>\r\nok\r\n.\r\n';
      if (line === 'ARTICLE <endless@h>') {
        socket.write('220 1 <endless@h>\r\n');
        sendForever(socket, Buffer.alloc(65_536, 97), sent);
        return '';
      }
      return line === 'ARTICLE <busy@h>' ? '400 come back later\r\n' : undefined;
    }),
  );
  const get = fetcherFor(t, { newsServer: `127.0.0.1:${port}` });
  await t.rejects(get('news:silent@h', { timeoutMs: 50 }), {
    code: 'ERR_CONNECTION',
    message: /nothing received/,
  });
  await t.rejects(get('news:half@h'), { code: 'ERR_CONNECTION', message: /closed the connection/ });
  await t.rejects(get('news:busy@h'), { code: 'ERR_CONNECTION', message: /400 come back later/ });
  const endless = await get('news:endless@h', { maxBytes: 1_000_000 });
  t.ok(endless.truncated && endless.body.length === 1_000_000);
  t.ok(sent.bytes < 50_000_000);
  await get('news:m1@h');
  const before = connections();
  t.match(await get('news:once@h'), { status: 200 }, 'a kept connection that the server closed is replaced');
  t.equal(connections(), before + 1);
  const stop = new AbortController();
  const [first, second] = [get('news:silent@h'), get('news:m1@h', { signal: stop.signal })];
  stop.abort(new Error('enough'));
  await t.rejects(second, { message: 'enough' }, 'a queued request is aborted');
  first.catch(() => undefined);
  const http = await scripted(t, (socket) => socket.end('HTTP/1.0 400 Bad\r\n'));
  await t.rejects(get(`news://127.0.0.1:${http.port}/a@b`), { message: /is not an NNTP status line/ });
  const silent = await scripted(t, () => {});
  await t.rejects(get(`news://127.0.0.1:${silent.port}/a@b`, { timeoutMs: 50 }), {
    message: /nothing received/,
  });
});
