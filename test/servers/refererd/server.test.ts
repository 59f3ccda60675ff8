import { rm } from 'node:fs/promises';
import t, { type Test } from 'tap';
import { LEVEL, userLine } from '../../../servers/refererd/index.js';
import { publishFixture } from '../../storage/references/fixture.js';
import { basic, exchange, fileWith, http, RawClient, serveFixture, temporary } from './scene.js';

const ASK = 'SSTP/1.0 081 X\r\nHEADER_URI_ID: 20\r\n\r\n';
const ANSWER =
  'SSTP/1.0 081 REQ_GET_REFERENCES\r\nHEADER_NUMFOUND: 1\r\nHEADER_START_RESULTS: 0\r\nHEADER_NUMRESULTS: 1\r\nHEADER_URI_ID: 10\r\n\r\n';

/** Document 1 with many links. */
async function publishMany(t: Test, links: number): Promise<string> {
  const data = await temporary(t);
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

t.test('C-02, C-03, R-31: paging through 25000 links, and the cap of a reply', async (t) => {
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
  for (const asked of [page(0), page(0, 4_294_967_295)]) {
    const capped = await exchange(t, address.port, asked);
    t.match(capped, 'HEADER_NUMFOUND: 25000\r\nHEADER_START_RESULTS: 0\r\nHEADER_NUMRESULTS: 10000\r\n');
    t.same(idsOf(capped), all.slice(0, 10_000));
  }
  t.same(idsOf(await exchange(t, address.port, page(24_999))), all.slice(24_999));
});

t.test(
  'S-39: a flood of requests with unread replies costs one buffer, and every reply arrives',
  async (t) => {
    const { address, service } = await serveFixture(t, { data: await publishMany(t, 10_000) });
    const client = await RawClient.connect(t, address.port);
    client.socket.pause();
    const requests = 100;
    client.send('SSTP/1.0 081 X\r\nHEADER_URI_ID: 1\r\n\r\n'.repeat(requests));
    client.socket.end();
    const oneReply = 24 * 10_000;
    // The system's own buffers take some megabytes before the server sees that the client does not read.
    let before = -1;
    while (service.statistics.counts.bytes_out !== before || before === 0) {
      before = service.statistics.counts.bytes_out;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    t.ok(before < (requests * oneReply) / 2, `only ${before} octets were made`);
    client.socket.resume();
    const received = await client.rest();
    t.equal(received.slice(-4), '\r\n\r\n');
    t.equal(received.length, service.statistics.counts.bytes_out);
    t.equal(service.statistics.counts.REQ_GET_REFERENCES, requests);
  },
);

t.test('S-48, P-12, P-15, P-16: the first octets select the protocol, even one at a time', async (t) => {
  const { address } = await serveFixture(t);
  const client = await RawClient.connect(t, address.port);
  for (const octet of ASK) {
    client.send(octet);
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.equal(await client.until('\r\n\r\n'), ANSWER);
  const browser = await RawClient.connect(t, address.port);
  for (const octet of 'GET /nothing HTTP/1.0\r\n\r\n') {
    browser.send(octet);
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.match(await browser.rest(), /^HTTP\/1\.[01] 404 /);
  for (const garbage of ['\0\0\0', 'HELLO me\r\n', 'SSTQ', 'GET /']) {
    t.equal(await exchange(t, address.port, garbage), 'SSTP/1.0 400 BAD REQUEST\r\n\r\n', garbage);
  }
});

t.test('S-39: after an error reply the server closes, also while the client is still sending', async (t) => {
  const { address, service } = await serveFixture(t);
  const client = await RawClient.connect(t, address.port);
  client.send(`${ASK}SSTP/1.0 081 X\r\nno colon\r\n\r\n${ASK.repeat(5000)}`);
  t.equal(await client.rest(), `${ANSWER}SSTP/1.0 400 BAD REQUEST\r\n\r\n`);
  client.socket.end();
  await client.closed;
  t.equal(service.statistics.counts.bad_request, 1);
});

t.test('S-45, C-21, P-14: a silent and a slow client are disconnected without a reply', async (t) => {
  const { address, service } = await serveFixture(t, { readTimeoutMs: 60 });
  for (const begun of ['', 'SS', 'SSTP/1.0 081 X\r\n', 'GET / HTTP/1.0\r\n']) {
    const client = await RawClient.connect(t, address.port);
    if (begun !== '') client.send(begun);
    t.equal(await client.rest(), '', `after ${JSON.stringify(begun)}`);
  }
  const served = await RawClient.connect(t, address.port);
  served.send(`${ASK}SSTP/1.0`);
  t.equal(await served.rest(), ANSWER, 'the time runs from the last reply');
  t.equal(service.statistics.counts.timeouts_read, 5);
});

t.test('S-45, C-21: a client that does not read its replies is disconnected', async (t) => {
  const { address, service } = await serveFixture(t, {
    data: await publishMany(t, 10_000),
    sendTimeoutMs: 60,
  });
  const client = await RawClient.connect(t, address.port);
  client.socket.pause();
  client.send('SSTP/1.0 081 X\r\nHEADER_URI_ID: 1\r\n\r\n'.repeat(500));
  while (service.statistics.counts.timeouts_send === 0)
    await new Promise((resolve) => setTimeout(resolve, 10));
  t.equal(service.statistics.counts.timeouts_read, 0);
  while (service.clients > 0) await new Promise((resolve) => setTimeout(resolve, 10));
});

t.test('R-64, C-20: a connection above maxclients gets 503, its request unread', async (t) => {
  const { address, service } = await serveFixture(t, { maxClients: 2 });
  const first = await RawClient.connect(t, address.port);
  const second = await RawClient.connect(t, address.port);
  for (const client of [first, second]) {
    client.send(ASK);
    await client.until('\r\n\r\n');
  }
  const third = await RawClient.connect(t, address.port);
  t.equal(await third.rest(), 'SSTP/1.0 503 SERVICE UNAVAILABLE\r\n\r\n');
  t.equal(service.statistics.counts.refused_maxclients, 1);
  first.socket.destroy();
  while (service.clients > 1) await new Promise((resolve) => setImmediate(resolve));
  t.equal(await exchange(t, address.port, ASK), ANSWER);
});

t.test('R-35, R-46, S-44, C-04: a host outside the list gets 403 in its protocol', async (t) => {
  const directory = await temporary(t);
  const allowFile = await fileWith(directory, 'allow', '127.0.1.*\n');
  const { address, service, reload } = await serveFixture(t, { allowFile });
  t.equal(await exchange(t, address.port, 'SSTP/1.0 999 X\r\n'), 'SSTP/1.0 403 FORBIDDEN\r\n\r\n');
  for (const path of ['/', '/stat', '/nothing']) {
    t.equal((await http(t, address.port, `GET ${path} HTTP/1.1`)).status, 403, path);
  }
  t.equal(service.statistics.counts.forbidden, 4);
  await fileWith(directory, 'allow', '127.0.0.*\n');
  await reload();
  t.equal(await exchange(t, address.port, ASK), ANSWER);
});

t.test('R-42 to R-49, C-08, C-09: statistics', async (t) => {
  const directory = await temporary(t);
  const passwordFile = await fileWith(directory, 'pw', `${await userLine('anna', 'sesame')}\n`);
  const { address, memory } = await serveFixture(t, { passwordFile });
  const right = basic('anna', 'sesame');
  const stat = async () => {
    const { body } = await http(t, address.port, 'GET /stat?x HTTP/1.1', right);
    return Object.fromEntries(
      body
        .trimEnd()
        .split('\n')
        .map((line) => line.split(': ', 2)),
    );
  };
  for (const path of ['/stat', '/clean', '/reload']) {
    const without = await http(t, address.port, `GET ${path} HTTP/1.1`);
    t.equal(without.status, 401, path);
    t.match(without.head, /www-authenticate: Basic realm="refererd"/i);
    for (const wrong of [
      basic('anna', 'sesam'),
      basic('bob', 'sesame'),
      'Authorization: Basic =',
      'Authorization: X',
    ]) {
      t.equal((await http(t, address.port, `GET ${path} HTTP/1.1`, wrong)).status, 401, wrong);
    }
    for (const method of ['GET', 'POST', 'HEAD']) {
      t.equal(
        (await http(t, address.port, `${method} ${path} HTTP/1.1`, right)).status,
        200,
        `${method} ${path}`,
      );
    }
    for (const method of ['PUT', 'DELETE', 'PROPFIND']) {
      t.equal((await http(t, address.port, `${method} ${path} HTTP/1.1`, right)).status, 405, method);
    }
  }
  t.equal((await http(t, address.port, 'GET /other HTTP/1.1', right)).status, 404);
  await http(t, address.port, 'GET /clean HTTP/1.1', right);
  await exchange(t, address.port, ASK.repeat(3));
  await exchange(t, address.port, 'SSTP/1.0 084 X\r\nHEADER_URL: none.example\r\n\r\n');
  await exchange(t, address.port, 'SSTP/1.0 999 X\r\n\r\n');
  await exchange(t, address.port, 'SSTP/1.0 081 X\r\n\r\n');
  const counted = await stat();
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
  t.equal((await http(t, address.port, 'GET /clean HTTP/1.1', right)).status, 200);
  const cleaned = await stat();
  t.equal(cleaned.requests_total, '0');
  t.equal(cleaned.clients, '1');
  t.equal(
    (await http(t, address.port, 'POST /clean HTTP/1.1', right, 'Sec-Fetch-Site: cross-site')).status,
    403,
  );
  const head = (await http(t, address.port, 'GET /stat HTTP/1.1', right)).head;
  t.match(head, /connection: close/i, 'S-49');
  t.match(head, /content-type: text\/plain; charset=utf-8/i, 'R-47');
  t.notMatch(memory.text, /sesam|YW5uYTpzZXNhbWU/, 'R-69');
});

t.test('R-49: a list that cannot be read leaves the old one in effect', async (t) => {
  const directory = await temporary(t);
  const allowFile = await fileWith(directory, 'allow', '127.*\n');
  const passwordFile = await fileWith(directory, 'pw', `${await userLine('anna', 'sesame')}\n`);
  const { address } = await serveFixture(t, { passwordFile, allowFile });
  await rm(passwordFile);
  const answer = await http(t, address.port, 'GET /reload HTTP/1.1', basic('anna', 'sesame'));
  t.equal(answer.status, 500);
  t.equal((await http(t, address.port, 'GET /stat HTTP/1.1', basic('anna', 'sesame'))).status, 200);
});

t.test('C-23, R-66, R-69: log levels', async (t) => {
  const { address, memory } = await serveFixture(t);
  const secret = 'HEADER_AUTHORIZATION: Basic c2VjcmV0OnNlY3JldA==\r\n';
  await exchange(t, address.port, ASK.replace('\r\n\r\n', `\r\n${secret}\r\n`));
  await exchange(t, address.port, 'SSTP/1.0 008 X\r\nHEADER_URL: http://user:pass@a.example/\r\n\r\n');
  const at = (level: number) => memory.lines.filter((line) => line.level === level).map(({ text }) => text);
  t.match(at(LEVEL.protocol), /< HEADER_AUTHORIZATION: \[redacted\]/);
  t.match(at(LEVEL.protocol), /> HEADER_URI_ID: 10/);
  t.match(at(LEVEL.request), /127\.0\.0\.1 REQ_GET_REFERENCES 20 0\+all/);
  t.notMatch(memory.text, /c2VjcmV0|user:pass|pass@/);
  t.same(
    memory.lines.filter(({ level }) => level <= LEVEL.critical),
    [],
  );
});

t.test('R-60, C-13: stopping answers the received requests and refuses new connections', async (t) => {
  const { address, stop } = await serveFixture(t);
  const idle = await RawClient.connect(t, address.port);
  idle.send(ASK);
  await idle.until('\r\n\r\n');
  const slow = await RawClient.connect(t, address.port);
  slow.send(ASK.slice(0, 20));
  const fresh = await RawClient.connect(t, address.port);
  const probe = await RawClient.connect(t, address.port);
  probe.send(ASK);
  await probe.until('\r\n\r\n');
  const stopped = stop();
  t.equal(await idle.rest(), '', 'who has its answer is not waited for');
  await t.rejects(RawClient.connect(t, address.port), { code: 'ECONNREFUSED' });
  slow.send(ASK.slice(20));
  t.equal(await slow.rest(), ANSWER);
  fresh.send(ASK);
  t.equal(await fresh.rest(), ANSWER, 'a connection that was accepted is served once');
  for (const client of [idle, slow, fresh, probe]) client.socket.end();
  await stopped;
});

t.test('DESIGN 4: a new generation is served as soon as it is published', async (t) => {
  const { address, data, memory } = await serveFixture(t);
  t.equal(await exchange(t, address.port, ASK), ANSWER);
  await publishFixture(
    data,
    [{ id: 20, url: 'http://b.example/' }],
    [
      [20, 77],
      [20, 10],
    ],
  );
  while (!memory.text.includes('generation 2')) await new Promise((resolve) => setTimeout(resolve, 20));
  t.same(idsOf(await exchange(t, address.port, ASK)), [77, 10]);
});

t.test('R-27: nothing is found before the first publication', async (t) => {
  const { address } = await serveFixture(t, { data: await temporary(t) });
  t.equal(
    await exchange(t, address.port, ASK),
    'SSTP/1.0 404 REQ_PUT_NOT_FOUND\r\nHEADER_NUMFOUND: 0\r\n\r\n',
  );
  t.match((await http(t, address.port, 'GET / HTTP/1.1')).body, 'No links are published yet');
});
