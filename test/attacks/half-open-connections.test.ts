// Hundreds of connections that are half open, send a byte now and then, read nothing, end their own direction
// or are reset at every stage of a reply: places, timers and file descriptors return to what they were, and a
// good client is served meanwhile.
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { steady, until } from '../helpers/manual-clock.js';
import { openBroker, serveBroker } from '../servers/broker/helpers.js';
import { consoleScene } from '../servers/crawler/console-scene.js';
import { entry, startGatherd } from '../servers/gatherd/helpers.js';
import { serveFixture } from '../servers/refererd/helpers.js';
import { fillBroker } from './filled-broker.js';
import { ask, dial } from './sockets.js';
import { serveBrokerPages } from './web-servers.js';

/** A thousand give the same result, but not within the time of a test. */
const CONNECTIONS = 300;

/** Milliseconds after which the servers of this test close what does not go on. */
const LIMIT_MS = 1000;

/**
 * Bytes that come now and then on a connection, and the milliseconds between them: together twice the limit.
 */
const TRICKLES = 8;
const TRICKLE_MS = LIMIT_MS / 4;

/** A server under attack. */
interface Target {
  readonly port: number;
  /** What a good client sends, and its reply. */
  readonly request: string;
  readonly reply: RegExp;
  /** Requests whose replies are reset, or not read. */
  readonly requests: readonly string[];
  /** Connections and other work in progress. */
  readonly open: () => number;
  /** Whether it closes connections that have sent nothing within {@link LIMIT_MS}. */
  readonly closesSilent?: true;
}

async function gatherd(t: Test): Promise<Target> {
  const entries = Array.from({ length: 50 }, (_, i) =>
    entry(`http://${i}.example/`, 100 + i, 'x'.repeat(40_000)),
  );
  const { port, server } = await startGatherd(t, entries, {
    idleTimeoutMs: LIMIT_MS,
    drainTimeoutMs: LIMIT_MS,
  });
  return {
    port,
    request: 'HELLO me\n',
    reply: /100 - HELLO me\n/,
    requests: ['SEND-UPDATE 0\n', 'SET compression\nSEND-UPDATE 0\n', 'INFO\nHELP\nSEND-UPDATE 1\n'],
    open: () => server.connections,
    closesSilent: true,
  };
}

async function brokerFixture(t: Test) {
  const fixture = await openBroker(t, { conf: 'Admin-Password open\n', points: [] });
  await fillBroker(fixture.broker, 100, (i) => ({ Title: `Doc ${i}`, Body: `wheat ${i}\n`.repeat(1000) }));
  return fixture;
}

async function broker(t: Test): Promise<Target> {
  const fixture = await brokerFixture(t);
  const server = await serveBroker(t, fixture, {
    maxConnections: 2 * CONNECTIONS,
    messageTimeoutMs: LIMIT_MS,
    drainTimeoutMs: LIMIT_MS,
    queueWaitMs: 100,
  });
  return {
    port: server.address.port,
    request: '#USER #END wheat\r\n',
    reply: /130 - object end|too busy/,
    requests: [
      '#USER #END wheat\r\n',
      '#USER #interface 2 #opaque #END wheat\r\n',
      '#BULK #SINCE 0 #END #allb\r\n',
      '#BULK #SINCE 0 #interface 2 #compress #END #allb\r\n',
      '#ADMIN #password open #do-stats\r\n',
      '#ADMIN #password wrong #do-stats\r\n',
    ],
    open: () => {
      const { running, waiting } = fixture.broker.queries.load;
      return server.connections + running + waiting;
    },
    closesSilent: true,
  };
}

async function brokerPages(t: Test): Promise<Target> {
  const fixture = await brokerFixture(t);
  const server = await serveBroker(t, fixture);
  const port = await serveBrokerPages(t, fixture.broker, {
    brokerAddress: server.address,
    maxConnections: 2 * CONNECTIONS,
    drainTimeoutMs: LIMIT_MS,
  });
  return {
    port,
    ...pageRequests(['/', '/Harvest/cgi-bin/BrokerQuery.cgi?query=wheat', '/stats.html']),
    open: () =>
      server.connections + fixture.broker.queries.load.running + fixture.broker.queries.load.waiting,
  };
}

/** The requests of a target with pages. */
function pageRequests(
  paths: readonly string[],
  headers = '',
): Pick<Target, 'request' | 'reply' | 'requests'> {
  const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}`;
  return {
    request: `${request(paths[0] ?? '/')}Connection: close\r\n\r\n`,
    reply: /^HTTP\/1\.1 \d{3} .*(?:<\/html>|\}$)/s,
    requests: paths.map((path) => `${request(path)}\r\n`.repeat(3)),
  };
}

const references =
  (requests: 'sstp' | 'pages') =>
  async (t: Test): Promise<Target> => {
    const { address, service } = await serveFixture(t, {
      maxClients: 2 * CONNECTIONS,
      readTimeoutMs: LIMIT_MS,
      sendTimeoutMs: LIMIT_MS,
    });
    const common = { port: address.port, open: () => service.clients, closesSilent: true } as const;
    if (requests === 'pages') return { ...common, ...pageRequests(['/', '/?q=20', '/stat']) };
    const request = 'SSTP/1.0 081 X\r\nHEADER_URI_ID: 20\r\n\r\n';
    return {
      ...common,
      request,
      reply: /HEADER_NUMFOUND: 1\r\n/,
      requests: [request, request.repeat(3000), 'SSTP/1.0 081 X\r\nHEADER_URL: http://a.example/\r\n\r\n'],
    };
  };

async function crawlConsole(t: Test): Promise<Target> {
  const scene = await consoleScene(t, { maxConnections: 2 * CONNECTIONS, intervalMs: 50 });
  const authorization = `Authorization: ${scene.bearer.authorization}\r\n`;
  return {
    port: scene.crawlConsole.address.port,
    ...pageRequests(['/api/snapshot', '/events?parts=1', '/login'], authorization),
    open: () => scene.crawlConsole.feed.followers,
  };
}

const TARGETS: Readonly<Record<string, (t: Test) => Promise<Target>>> = {
  gatherd,
  Broker: broker,
  'pages of the Broker': brokerPages,
  refererd: references('sstp'),
  'pages of the references server': references('pages'),
  'console of a crawl': crawlConsole,
};

/** File descriptors and timers of this process, where the system shows them. */
function resources(): { readonly files: number; readonly timers: number } {
  const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  try {
    return { files: readdirSync('/proc/self/fd').length, timers };
  } catch {
    return { files: 0, timers };
  }
}

/** Opens connections a hundred at a time. */
async function dialInTurn(t: Test, port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count)
    sockets.push(...(await Promise.all(Array.from({ length: 100 }, () => dial(t, port)))));
  return sockets;
}

for (const [name, start] of Object.entries(TARGETS)) {
  t.test(`${name}: ${CONNECTIONS} odd connections leave nothing behind`, async (t) => {
    const target = await start(t);
    const { port, request, reply, requests } = target;
    const assertServed = async (when: string): Promise<void> => {
      const good = await dial(t, port);
      t.match(await ask(good, request, reply), reply, `a good client is served ${when}`);
      good.destroy();
    };
    await assertServed('at first');
    for (const text of requests) {
      const warm = await dial(t, port);
      await ask(warm, text, /./s);
      warm.destroy();
    }
    await until(() => target.open() === 0);
    await steady(() => resources().timers + resources().files);
    const before = resources();

    const crowd = await dialInTurn(t, port, CONNECTIONS);
    // A fifth each: silent; a byte now and then; a half request and FIN; requests that are not read; requests
    // and FIN.
    for (const [i, socket] of crowd.entries()) {
      const text = requests[i % requests.length] ?? request;
      if (i % 5 === 2) socket.end(text.slice(0, Math.floor(text.length / 2)), 'latin1');
      else if (i % 5 === 3) socket.pause().write(text, 'latin1');
      else if (i % 5 === 4) socket.end(text, 'latin1');
      if (i % 5 !== 3) socket.resume();
    }
    let trickles = 0;
    const trickle = setInterval(() => {
      trickles++;
      for (const [i, socket] of crowd.entries())
        if (i % 5 === 1 && socket.writable) socket.write(request.slice(0, 1));
    }, TRICKLE_MS);
    t.teardown(() => clearInterval(trickle));
    await assertServed('beside them');
    await until(() => trickles >= TRICKLES);
    const isClosed = (socket: Socket): boolean => socket.closed || socket.readableEnded;
    if (target.closesSilent) await until(() => crowd.every((socket, i) => i % 5 !== 0 || isClosed(socket)));
    await assertServed('after a while');
    clearInterval(trickle);

    // Resets at every stage: in the request, right after it, in the reply.
    for (let round = 0; round < 3; round++) {
      const wave = await dialInTurn(t, port, 100);
      await Promise.all(
        wave.map(async (socket, i) => {
          const text = requests[i % requests.length] ?? request;
          if (i % 4 === 0) socket.write(text.slice(0, 1 + (i % text.length)), 'latin1');
          else socket.write(text, 'latin1');
          if (i % 4 === 2) await Promise.race([once(socket, 'data'), once(socket, 'close'), sleep(100 + i)]);
          else if (i % 4 === 3) await sleep((round * 37 + i) % 50);
          socket.resetAndDestroy();
        }),
      );
    }
    await assertServed('after the resets');
    for (const socket of crowd) socket.destroy();
    await until(() => target.open() === 0);
    t.pass('no connection or reply is left');
    await until(() => resources().timers <= before.timers + 1);
    await until(() => resources().files <= before.files + 4);
    t.pass('timers and open files are as many as before');
  });
}
