// The bytes of HTTP messages as they went over the wire (WARC 1.1, 6.3 and 6.5).
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { type BodyBytes, createFetcher, isStored } from '../../../clients/fetch/index.js';
import { scripted } from './scripted.js';

const latin1 = (bytes: BodyBytes | undefined): string | undefined =>
  bytes === undefined || isStored(bytes) ? undefined : Buffer.from(bytes).toString('latin1');

/** A server that answers each request with the next of these messages, and keeps its connections. */
async function wireServer(t: Test, ...answers: readonly (string | Uint8Array)[]) {
  const requests: string[] = [];
  const server = await scripted(t, (socket: Socket) => {
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      for (let end = received.indexOf('\r\n\r\n'); end !== -1; end = received.indexOf('\r\n\r\n')) {
        const answer = answers[requests.length % answers.length] ?? '';
        requests.push(received.slice(0, end + 4));
        received = received.slice(end + 4);
        socket.write(answer as string, 'latin1');
      }
    });
  });
  return { url: `http://127.0.0.1:${server.port}/a?b`, requests, connections: server.connections };
}

function fetcherFor(t: Test) {
  const fetcher = createFetcher({ userAgent: 'Wire/1', from: 'w@h.example' });
  t.teardown(() => fetcher.close());
  return fetcher;
}

const HEAD =
  'HTTP/1.1 200 All  Right\r\nSET-cookie: a=1\r\nSet-Cookie:   b=2  \r\nX-Latin: \xe9\r\nContent-Length: 5\r\n\r\n';

t.test('the heads are byte for byte those of the wire', async (t) => {
  const { url, requests } = await wireServer(t, `${HEAD}hello`);
  const { wire, body, setCookies } = await fetcherFor(t).fetch({ url, keepWire: 'framing' });
  t.equal(latin1(wire?.request), requests[0]);
  t.equal(latin1(wire?.head), HEAD);
  t.equal(latin1(wire?.body), 'hello');
  t.equal(wire?.framed, undefined, 'the body has no transfer coding');
  t.equal(latin1(body), 'hello');
  t.same(
    setCookies?.map((cookie) => cookie.trim()),
    ['a=1', 'b=2'],
  );
});

t.test('content coding stays, transfer coding is apart', async (t) => {
  const coded = gzipSync('hello, world');
  const head = 'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n';
  const half = coded.subarray(0, 9).toString('latin1');
  const rest = coded.subarray(9).toString('latin1');
  const framed = `9;ext=1\r\n${half}\r\n${(coded.length - 9).toString(16).toUpperCase()}\r\n${rest}\r\n0\r\nX-Trailer: t\r\n\r\n`;
  const { url } = await wireServer(t, head + framed);
  const fetcher = fetcherFor(t);
  for (const keepWire of ['messages', 'framing'] as const) {
    const { wire, body } = await fetcher.fetch({ url, keepWire });
    t.equal(latin1(body), 'hello, world');
    t.equal(latin1(wire?.head), head);
    t.equal(latin1(wire?.body), coded.toString('latin1'));
    t.equal(latin1(wire?.framed), keepWire === 'framing' ? framed : undefined);
  }
  t.equal((await fetcher.fetch({ url })).wire, undefined, 'only if requested');
});

t.test('a body whose chunks are longer than their limit is marked', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  const framed = `${'1\r\nx\r\n'.repeat(20_000)}0\r\n\r\n`;
  const { url } = await wireServer(t, head + framed);
  const { wire, body, truncated } = await fetcherFor(t).fetch({
    url,
    keepWire: 'framing',
    maxBytes: 20_000,
  });
  t.equal(body.length, 20_000);
  t.equal(truncated, false, 'the document is whole');
  t.equal(latin1(wire?.framed), framed.slice(0, 20_000 + 65_536));
  t.equal(wire?.truncated, true, 'what is written of it is not');
});

t.test('interim responses are no part of it, a cut body is marked', async (t) => {
  const early = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n';
  const { url } = await wireServer(t, `${early}${HEAD}hello`);
  const { wire } = await fetcherFor(t).fetch({ url, keepWire: 'framing', maxBytes: 2 });
  t.equal(latin1(wire?.head), HEAD);
  t.equal(latin1(wire?.body), 'he');
  t.equal(wire?.truncated, true);
});

t.test('responses on one connection do not mix, whether they are kept or not', async (t) => {
  const bodies = ['one', 'second', 'third!!', 'four'];
  const answers = bodies.map(
    (text) => `HTTP/1.1 200 OK\r\nX-B: ${text}\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
  );
  const { url, connections } = await wireServer(t, ...answers);
  const fetcher = fetcherFor(t);
  const kept: (string | undefined)[] = [];
  for (const keepWire of ['framing', undefined, 'messages', 'framing'] as const)
    kept.push(latin1((await fetcher.fetch({ url, keepWire })).wire?.head));
  t.match(kept, [/X-B: one\r/, undefined, /X-B: third!!\r/, /X-B: four\r/]);
  t.equal(connections(), 1);
});

t.test('a response without a head', async (t) => {
  const server = await scripted(t, (socket: Socket) => {
    socket.once('data', () => socket.end('just text'));
  });
  const { wire, body } = await fetcherFor(t).fetch({
    url: `http://127.0.0.1:${server.port}/`,
    keepWire: 'framing',
  });
  t.equal(latin1(body), 'just text');
  t.equal(wire?.head.length ?? 0, 0);
});
