// refererd over TCP: paging, flow control, timeouts, limits, access, statistics, logs, stopping, new
// generations.
import { rm } from 'node:fs/promises';
import t, { type Test } from 'tap';
import { ReferencesClient } from '../../../clients/references/index.js';
import { LEVEL, userLine } from '../../../servers/refererd/index.js';
import { inputRead, ManualClock, passTime, steady, timerOf, until } from '../../helpers/manual-clock.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { publishFixture } from '../../storage/references/fixture.js';
import {
  basicAuthorization,
  exchange,
  RawClient,
  requestHttp,
  serveFixture,
  writeTextFile,
} from './helpers.js';

/** A request for the links of document 20, and its reply. */
const REQUEST = 'SSTP/1.0 081 X\r\nHEADER_URI_ID: 20\r\n\r\n';
const REPLY =
  'SSTP/1.0 081 REQ_GET_REFERENCES\r\nHEADER_NUMFOUND: 1\r\nHEADER_START_RESULTS: 0\r\nHEADER_NUMRESULTS: 1\r\nHEADER_URI_ID: 10\r\n\r\n';

/** Publishes document 1 with this number of links; returns the data directory. */
async function publishMany(t: Test, links: number): Promise<string> {
  const data = await temporaryDirectory(t);
  const documents = [{ id: 1, url: 'http://many.example/' }];
  await publishFixture(
    data,
    documents,
    Array.from({ length: links }, (_, i): [number, number] => [1, 1_000_000 + ((i * 7919) % links)]),
  );
  return data;
}

const idsOf = (reply: string): number[] =>
  [...reply.matchAll(/HEADER_URI_ID: (\d+)/g)].map((match) => Number(match[1]));

t.test('the first HTTP clients, which end their direction with the request, get their replies', async (t) => {
  const { address } = await serveFixture(t);
  const clients = await Promise.all(Array.from({ length: 5 }, () => RawClient.connect(t, address.port)));
  for (const { socket } of clients) socket.end('GET /nothing HTTP/1.0\r\n\r\n');
  for (const client of clients) t.match(await client.rest(), /^HTTP\/1\.[01] 404 /);
});

t.test('C-02, C-03, R-31: 25000 links are read in pages, and one reply has at most 10000', async (t) => {
  const { address } = await serveFixture(t, { data: await publishMany(t, 25_000) });
  const page = (start: number, count?: number) =>
    `SSTP/1.0 081 X\r\nHEADER_URI_ID: 1\r\nHEADER_START_RESULTS: ${start}\r\n${count === undefined ? '' : `HEADER_NUMRESULTS: ${count}\r\n`}\r\n`;
  const all: number[] = [];
  for (let start = 0; start < 25_000; start += 1000) {
    all.push(...idsOf(await exchange(t, address.port, page(start, 1000))));
  }
  t.same(
    all,
    Array.from({ length: 25_000 }, (_, i) => 1_000_000 + ((i * 7919) % 25_000)),
  );
  for (const request of [page(0), page(0, 4_294_967_295)]) {
    const capped = await exchange(t, address.port, request);
    t.match(capped, 'HEADER_NUMFOUND: 25000\r\nHEADER_START_RESULTS: 0\r\nHEADER_NUMRESULTS: 10000\r\n');
    t.same(idsOf(capped), all.slice(0, 10_000));
  }
  t.same(idsOf(await exchange(t, address.port, page(24_999))), all.slice(24_999));
});

t.test('S-39: the server stops reading from a client that does not read; every reply arrives', async (t) => {
  const clock = new ManualClock();
  const data = await publishMany(t, 10_000);
  const { address, service } = await serveFixture(t, { data, sendTimeoutMs: 70_000, clock });
  const client = await RawClient.connect(t, address.port);
  client.socket.pause();
  const requests = 100;
  client.send('SSTP/1.0 081 X\r\nHEADER_URI_ID: 1\r\n\r\n'.repeat(requests));
  client.socket.end();
  const replyBytes = 24 * 10_000;
  // The socket buffers accept some megabytes before the server waits for its client.
  await timerOf(clock, 70_000);
  const before = await steady(() => service.statistics.counts.bytes_out);
  t.ok(before < (requests * replyBytes) / 2, `${before} bytes were sent`);
  client.socket.resume();
  const received = await client.rest();
  t.equal(received.slice(-4), '\r\n\r\n');
  t.equal(received.length, service.statistics.counts.bytes_out);
  t.equal(service.statistics.counts.REQ_GET_REFERENCES, requests);
});

t.test(
  'S-15, S-16, S-48, P-12, P-15, P-16: the first octets select the protocol, even one at a time',
  async (t) => {
    const { address } = await serveFixture(t);
    const client = await RawClient.connect(t, address.port);
    for (const octet of REQUEST) {
      client.send(octet);
      await new Promise((resolve) => setImmediate(resolve));
    }
    t.equal(await client.until('\r\n\r\n'), REPLY);
    const browser = await RawClient.connect(t, address.port);
    for (const octet of 'GET /nothing HTTP/1.0\r\n\r\n') {
      browser.send(octet);
      await new Promise((resolve) => setImmediate(resolve));
    }
    t.match(await browser.rest(), /^HTTP\/1\.[01] 404 /);
    for (const garbage of ['\0\0\0', 'HELLO me\r\n', 'SSTQ', 'GET /']) {
      t.equal(await exchange(t, address.port, garbage), 'SSTP/1.0 400 BAD REQUEST\r\n\r\n', garbage);
    }
  },
);

t.test('S-39: the server closes after an error reply, even if the client is still sending', async (t) => {
  const { address, service } = await serveFixture(t);
  const client = await RawClient.connect(t, address.port);
  client.send(`${REQUEST}SSTP/1.0 081 X\r\nno colon\r\n\r\n${REQUEST.repeat(5000)}`);
  t.equal(await client.rest(), `${REPLY}SSTP/1.0 400 BAD REQUEST\r\n\r\n`);
  client.socket.end();
  await client.closed;
  t.equal(service.statistics.counts.bad_request, 1);
});

t.test('S-45, C-21, P-14: clients without a complete request in time are cut off, no reply', async (t) => {
  const clock = new ManualClock();
  const { address, service } = await serveFixture(t, { readTimeoutMs: 60, clock });
  for (const start of ['', 'SS', 'SSTP/1.0 081 X\r\n', 'GET / HTTP/1.0\r\n']) {
    const client = await RawClient.connect(t, address.port);
    await timerOf(clock, 60);
    if (start !== '') client.send(start);
    clock.advance(59);
    await inputRead();
    t.notOk(client.ended, `in time after ${JSON.stringify(start)}`);
    clock.advance(1);
    t.equal(await client.rest(), '', `after ${JSON.stringify(start)}`);
  }
  const active = await RawClient.connect(t, address.port);
  await timerOf(clock, 60);
  clock.advance(59);
  active.send(`${REQUEST}SSTP/1.0`);
  await active.until(REPLY);
  clock.advance(59);
  await inputRead();
  t.notOk(active.ended, 'the timeout starts at the last reply');
  clock.advance(1);
  t.equal(await active.rest(), '');
  t.equal(service.statistics.counts.timeouts_read, 5);
});

t.test('S-45, C-21: a client that does not read its replies is disconnected', async (t) => {
  const clock = new ManualClock();
  const data = await publishMany(t, 10_000);
  const limits = { readTimeoutMs: 1e9, sendTimeoutMs: 60, clock };
  const { address, service } = await serveFixture(t, { data, ...limits });
  const client = await RawClient.connect(t, address.port);
  client.socket.pause();
  client.send('SSTP/1.0 081 X\r\nHEADER_URI_ID: 1\r\n\r\n'.repeat(500));
  await timerOf(clock, 60);
  // The system accepts the first replies in steps.
  await passTime(clock, 60, () => service.statistics.counts.timeouts_send > 0);
  t.equal(service.statistics.counts.timeouts_read, 0);
  await until(() => service.clients === 0);
});

t.test(
  'R-64, C-20: a connection beyond maxclients waits, then it receives 503 in its protocol',
  async (t) => {
    const clock = new ManualClock();
    const limits = { maxClients: 2, graceMs: 10_000, admissionWaitMs: 1000, clock };
    const { address, service } = await serveFixture(t, limits);
    const first = await RawClient.connect(t, address.port);
    const second = await RawClient.connect(t, address.port);
    for (const client of [first, second]) {
      client.send(REQUEST);
      await client.until('\r\n\r\n');
    }
    for (const [request, reply] of [
      [REQUEST, /^SSTP\/1\.0 503 SERVICE UNAVAILABLE\r\n\r\n$/],
      ['GET /stat HTTP/1.0\r\n\r\n', /^HTTP\/1\.1 503 .*^retry-after: 5\r$/ms],
      ['', /^SSTP\/1\.0 503 SERVICE UNAVAILABLE\r\n\r\n$/],
    ] as const) {
      const third = await RawClient.connect(t, address.port);
      if (request !== '') third.send(request);
      await timerOf(clock, 1000);
      clock.advance(1000);
      if (request === '') {
        await timerOf(clock, 250);
        clock.advance(250);
      }
      t.match(await third.rest(), reply, request);
    }
    t.equal(service.statistics.counts.refused_maxclients, 3);
    const waiting = await RawClient.connect(t, address.port);
    waiting.send(REQUEST);
    await timerOf(clock, 1000);
    first.socket.destroy();
    t.equal(await waiting.until(REPLY), REPLY, 'a place that becomes free is given to one that waits');
  },
);

t.test('R-80: an idle connection makes room after its first seconds, and is told so', async (t) => {
  const clock = new ManualClock();
  const { address, service } = await serveFixture(t, { maxClients: 1, clock });
  const idle = await RawClient.connect(t, address.port);
  idle.send(REQUEST);
  await idle.until(REPLY);
  const newcomer = await RawClient.connect(t, address.port);
  newcomer.send(REQUEST);
  await timerOf(clock, 10_000);
  clock.advance(4900);
  await inputRead();
  t.notOk(idle.ended || newcomer.received !== '', 'not before');
  await passTime(clock, 100, () => newcomer.received !== '');
  t.equal(await newcomer.until(REPLY), REPLY);
  t.equal(await idle.rest(), 'SSTP/1.0 503 SERVICE UNAVAILABLE\r\n\r\n');
  t.equal(service.statistics.counts.evicted_idle, 1);
});

t.test('R-35, R-46, S-44, C-04: a host outside the list receives 403 in its protocol', async (t) => {
  const directory = await temporaryDirectory(t);
  const allowFile = await writeTextFile(directory, 'allow', '127.0.1.*\n');
  const { address, service, reload } = await serveFixture(t, { allowFile });
  t.equal(await exchange(t, address.port, 'SSTP/1.0 999 X\r\n'), 'SSTP/1.0 403 FORBIDDEN\r\n\r\n');
  for (const path of ['/', '/stat', '/nothing']) {
    t.equal((await requestHttp(t, address.port, `GET ${path} HTTP/1.1`)).status, 403, path);
  }
  t.equal((await requestHttp(t, address.port, 'FOO /stat HTTP/1.1')).status, 403, 'a method of no standard');
  t.equal(service.statistics.counts.forbidden, 5);
  await writeTextFile(directory, 'allow', '127.0.0.*\n');
  await reload();
  t.equal(await exchange(t, address.port, REQUEST), REPLY);
});

t.test('R-42 to R-49, C-08, C-09: statistics need a password, count requests, can be cleared', async (t) => {
  const directory = await temporaryDirectory(t);
  const passwordFile = await writeTextFile(directory, 'pw', `${await userLine('anna', 'sesame')}\n`);
  const { address, memory } = await serveFixture(t, { passwordFile });
  const authorization = basicAuthorization('anna', 'sesame');
  const readStatistics = async () => {
    const { body } = await requestHttp(t, address.port, 'GET /stat?x HTTP/1.1', authorization);
    return Object.fromEntries(
      body
        .trimEnd()
        .split('\n')
        .map((line) => line.split(': ', 2)),
    );
  };
  for (const path of ['/stat', '/clean', '/reload']) {
    const without = await requestHttp(t, address.port, `GET ${path} HTTP/1.1`);
    t.equal(without.status, 401, path);
    t.match(without.head, /www-authenticate: Basic realm="refererd"/i);
    for (const wrong of [
      basicAuthorization('anna', 'sesam'),
      basicAuthorization('bob', 'sesame'),
      'Authorization: Basic =',
      'Authorization: X',
    ]) {
      t.equal((await requestHttp(t, address.port, `GET ${path} HTTP/1.1`, wrong)).status, 401, wrong);
    }
    for (const method of ['GET', 'POST', 'HEAD']) {
      t.equal(
        (await requestHttp(t, address.port, `${method} ${path} HTTP/1.1`, authorization)).status,
        200,
        `${method} ${path}`,
      );
    }
    for (const method of ['PUT', 'DELETE', 'PROPFIND', 'FOO', 'get', '!#~', 'SSTP', 'X'.repeat(32)]) {
      t.equal(
        (await requestHttp(t, address.port, `${method} ${path} HTTP/1.1`, authorization)).status,
        405,
        method,
      );
    }
  }
  t.equal((await requestHttp(t, address.port, 'GET /other HTTP/1.1', authorization)).status, 404);
  await requestHttp(t, address.port, 'GET /clean HTTP/1.1', authorization);
  await exchange(t, address.port, REQUEST.repeat(3));
  await exchange(t, address.port, 'SSTP/1.0 084 X\r\nHEADER_URL: none.example\r\n\r\n');
  await exchange(t, address.port, 'SSTP/1.0 999 X\r\n\r\n');
  await exchange(t, address.port, 'SSTP/1.0 081 X\r\n\r\n');
  const counted = await readStatistics();
  t.match(counted, {
    program: 'refererd',
    version: '1.0',
    started: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
    uptime: /^\d+$/,
    since_clean: /^\d{4}-/,
    clients: '1',
    maxclients: '8192',
    requests_total: '6',
    REQ_GET_REFERENCES: '3',
    REQ_GET_REFERERS: '0',
    REQ_GET_SITEREFERENCES: '0',
    REQ_GET_SITEREFERERS: '1',
    REQ_GET_URL_BYNAME: '0',
    not_found: '1',
    bad_request: '1',
    forbidden: '0',
    not_implemented: '1',
    timeouts_read: '0',
    timeouts_send: '0',
    refused_maxclients: '0',
    http_requests: '1',
    reloads: '0',
    allow_source: 'all',
    pw_source: 'file',
  });
  t.equal((await requestHttp(t, address.port, 'GET /clean HTTP/1.1', authorization)).status, 200);
  const cleaned = await readStatistics();
  t.equal(cleaned.requests_total, '0');
  t.equal(cleaned.clients, '1');
  t.equal(
    (await requestHttp(t, address.port, 'POST /clean HTTP/1.1', authorization, 'Sec-Fetch-Site: cross-site'))
      .status,
    403,
  );
  const head = (await requestHttp(t, address.port, 'GET /stat HTTP/1.1', authorization)).head;
  t.match(head, /connection: close/i, 'S-49: HTTP connections close');
  t.match(head, /content-type: text\/plain; charset=utf-8/i, 'R-47: statistics are plain text');
  t.notMatch(memory.text, /sesam|YW5uYTpzZXNhbWU/, 'R-69: no password is logged');
});

t.test('R-49: if a list cannot be reloaded, the old one stays in effect', async (t) => {
  const directory = await temporaryDirectory(t);
  const allowFile = await writeTextFile(directory, 'allow', '127.*\n');
  const passwordFile = await writeTextFile(directory, 'pw', `${await userLine('anna', 'sesame')}\n`);
  const { address } = await serveFixture(t, { passwordFile, allowFile });
  await rm(passwordFile);
  const response = await requestHttp(
    t,
    address.port,
    'GET /reload HTTP/1.1',
    basicAuthorization('anna', 'sesame'),
  );
  t.equal(response.status, 500);
  t.equal(
    (await requestHttp(t, address.port, 'GET /stat HTTP/1.1', basicAuthorization('anna', 'sesame'))).status,
    200,
  );
});

t.test('C-23, R-66, R-69: each log level has its lines, without secrets', async (t) => {
  const { address, memory } = await serveFixture(t);
  const secret = 'HEADER_AUTHORIZATION: Basic c2VjcmV0OnNlY3JldA==\r\n';
  await exchange(t, address.port, REQUEST.replace('\r\n\r\n', `\r\n${secret}\r\n`));
  await exchange(t, address.port, 'SSTP/1.0 008 X\r\nHEADER_URL: http://user:pass@a.example/\r\n\r\n');
  const linesAt = (level: number) =>
    memory.lines.filter((line) => line.level === level).map(({ text }) => text);
  t.match(linesAt(LEVEL.protocol), /< HEADER_AUTHORIZATION: \[redacted\]/);
  t.match(linesAt(LEVEL.protocol), /> HEADER_URI_ID: 10/);
  t.match(linesAt(LEVEL.request), /127\.0\.0\.1 REQ_GET_REFERENCES 20 0\+all/);
  t.notMatch(memory.text, /c2VjcmV0|user:pass|pass@/);
  t.same(
    memory.lines.filter(({ level }) => level <= LEVEL.critical),
    [],
  );
});

t.test('R-60, C-13: a stopping server replies to accepted connections and refuses new ones', async (t) => {
  const { address, stop } = await serveFixture(t);
  const idle = await RawClient.connect(t, address.port);
  idle.send(REQUEST);
  await idle.until('\r\n\r\n');
  const partial = await RawClient.connect(t, address.port);
  partial.send(REQUEST.slice(0, 20));
  const fresh = await RawClient.connect(t, address.port);
  const probe = await RawClient.connect(t, address.port);
  probe.send(REQUEST);
  await probe.until('\r\n\r\n');
  const stopped = stop();
  t.equal(await idle.rest(), '', 'a connection without a pending request is closed');
  await t.rejects(RawClient.connect(t, address.port), { code: 'ECONNREFUSED' });
  partial.send(REQUEST.slice(20));
  t.equal(await partial.rest(), REPLY);
  fresh.send(REQUEST);
  t.equal(await fresh.rest(), REPLY, 'an accepted connection gets one reply');
  for (const client of [idle, partial, fresh, probe]) client.socket.end();
  await stopped;
});

t.test('DESIGN 4: a new generation is served as soon as it is published', async (t) => {
  const { address, data, memory } = await serveFixture(t);
  t.equal(await exchange(t, address.port, REQUEST), REPLY);
  await publishFixture(
    data,
    [{ id: 20, url: 'http://b.example/' }],
    [
      [20, 77],
      [20, 10],
    ],
  );
  while (!memory.text.includes('generation 2')) await new Promise((resolve) => setTimeout(resolve, 20));
  t.same(idsOf(await exchange(t, address.port, REQUEST)), [77, 10]);
});

t.test('S-33: the reply has the number of the data if the request has HEADER_GENERATION', async (t) => {
  const { address, data, memory } = await serveFixture(t);
  const ask = (what: string) =>
    exchange(t, address.port, `SSTP/1.0 081 X\r\n${what}\r\nHEADER_GENERATION: 0\r\n\r\n`);
  const numberOf = (reply: string) => /\r\nHEADER_GENERATION: (\d+)\r\n/.exec(reply)?.[1];
  const first = numberOf(await ask('HEADER_URI_ID: 20'));
  t.match(first, /^[1-9]\d*$/);
  t.equal(numberOf(await ask('HEADER_URI_ID: 10\r\nHEADER_NUMRESULTS: 0')), first);
  t.equal(numberOf(await ask('HEADER_URI_ID: 999')), first, 'also when nothing is found');
  t.equal(numberOf(await ask('HEADER_URI_ID: 21')), first, 'also without links');
  t.equal(await exchange(t, address.port, REQUEST), REPLY, 'a client that does not ask sees no difference');
  const copy = await serveFixture(t);
  t.equal(
    numberOf(
      await exchange(
        t,
        copy.address.port,
        'SSTP/1.0 081 X\r\nHEADER_URI_ID: 20\r\nHEADER_GENERATION: 0\r\n\r\n',
      ),
    ),
    first,
    'equal data in another directory have the same number',
  );
  await publishFixture(data, [{ id: 20, url: 'http://b.example/' }], [[20, 77]]);
  while (!memory.text.includes('generation 2')) await new Promise((resolve) => setTimeout(resolve, 20));
  t.not(numberOf(await ask('HEADER_URI_ID: 20')), first);
});

t.test('R-31: a client that reads page by page begins again when data change in between', async (t) => {
  const pairs = (shift: number) =>
    Array.from({ length: 2500 }, (_, i): readonly [number, number] => [1, 10 + ((i + shift) % 2500)]);
  const data = await temporaryDirectory(t);
  await publishFixture(data, [], pairs(0));
  const { address, memory } = await serveFixture(t, { data });
  await using client = new ReferencesClient(address);
  const publish = async (generation: number) => {
    await publishFixture(data, [], pairs(generation * 100));
    while (!memory.text.includes(`generation ${generation}:`))
      await new Promise((resolve) => setTimeout(resolve, 20));
  };
  let restarts = 0;
  let ids: number[] = [];
  let pages = 0;
  const onRestart = () => {
    restarts += 1;
    ids = [];
  };
  for await (const page of client.pages('references', { id: 1, onRestart })) {
    ids.push(...page.ids);
    pages += 1;
    if (pages === 1 || pages === 3) await publish(pages === 1 ? 2 : 3);
  }
  t.equal(restarts, 2);
  t.same(
    ids,
    pairs(300).map(([, id]) => id),
    'every ID once, in the order of one generation',
  );
  t.same([...(await client.allIds('references', { id: 1 }))], ids);
  const reading = client.pages('references', { id: 1 });
  await reading.next();
  await publish(4);
  await t.rejects(reading.next(), {
    name: 'ConnectionError',
    message: 'the links changed while they were read',
  });
});

t.test('the start page offers a random document, which is one of those that have links', async (t) => {
  const { address } = await serveFixture(t);
  const seen = new Set<string>();
  for (let i = 0; i < 60; i++) {
    const { status, head } = await requestHttp(t, address.port, 'GET /?random=1 HTTP/1.0');
    t.equal(status, 303);
    seen.add(/\r\nlocation: \.\/\?q=(\S+)\r\n/i.exec(head)?.[1] ?? '');
  }
  for (const query of seen) {
    const { status, body } = await requestHttp(t, address.port, `GET /?q=${query}&format=json HTTP/1.0`);
    t.equal(status, 200);
    t.ok(JSON.parse(body).found > 0, query);
  }
  t.ok(seen.size > 1);
  t.match((await requestHttp(t, address.port, 'GET / HTTP/1.0')).body, /<a href="\.\/\?random=1">/);
  const empty = await serveFixture(t, { data: await temporaryDirectory(t) });
  t.equal((await requestHttp(t, empty.address.port, 'GET /?random=1 HTTP/1.0')).status, 200);
  t.notMatch((await requestHttp(t, empty.address.port, 'GET / HTTP/1.0')).body, 'random');
});

t.test('R-27: nothing is found before the first publication', async (t) => {
  const { address } = await serveFixture(t, { data: await temporaryDirectory(t) });
  t.equal(
    await exchange(t, address.port, REQUEST),
    'SSTP/1.0 404 REQ_PUT_NOT_FOUND\r\nHEADER_NUMFOUND: 0\r\n\r\n',
  );
  t.match((await requestHttp(t, address.port, 'GET / HTTP/1.1')).body, 'No links are published yet');
});
