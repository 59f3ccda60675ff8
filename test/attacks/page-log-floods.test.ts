// Requests to web pages that fail each time: the log stays short, and says how many were left out. After floods
// of pages the memory returns.
import t, { type Test } from 'tap';
import { StorageError } from '../../protocols/errors.js';
import { createLoggerOn } from '../../servers/host/index.js';
import { usedMemory } from '../helpers/used-memory.js';
import { waitUntil } from '../helpers/wait-until.js';
import { openBroker, serveBroker } from '../servers/broker/helpers.js';
import { consoleScene } from '../servers/crawler/console-scene.js';
import { startFlood } from './fairness.js';
import { ask, dial } from './sockets.js';
import { serveBrokerPages, servePages } from './web-servers.js';

const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;

t.test('pages that fail do not fill the log', async (t) => {
  const failures: unknown[] = [];
  const sentences: string[] = [];
  const { app, port } = await servePages(t, {
    logFailure: (error) => failures.push(error),
    logSuppressed: (sentence) => sentences.push(sentence),
    logLimits: { address: { burst: 20, perSecond: 1 } },
    routes: (app) =>
      void app.get('/*', () => {
        throw new StorageError('the store is damaged');
      }),
  });
  const socket = await dial(t, port);
  for (let i = 0; i < 300; i++) t.match(await ask(socket, get('/'), /failed\n$/), /^HTTP\/1\.1 503 /);
  t.ok(failures.length >= 20 && failures.length < 60, `${failures.length} lines`);
  await app.close();
  t.match(sentences.join('\n'), /^127\.0\.0\.1: 2\d\d further lines suppressed$/m);
});

t.test('passwords that the console refuses do not fill its log', async (t) => {
  const lines: string[] = [];
  const log = createLoggerOn({ write: (line) => void lines.push(line) }, { program: 'console' });
  const { crawlConsole } = await consoleScene(t, { log });
  const { port } = crawlConsole.address;
  const body = 'password=guess';
  const more = `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n`;
  const socket = await dial(t, port);
  for (let i = 0; i < 200; i++) {
    const reply = await ask(
      socket,
      `POST /login HTTP/1.1\r\nHost: localhost\r\n${more}\r\n${body}`,
      /<\/html>/,
    );
    t.match(reply, /^HTTP\/1\.1 (?:403|429) /);
  }
  t.ok(lines.length > 0 && lines.length < 20, `${lines.length} lines`);
  t.notMatch(lines.join('\n'), /guess/);
});

/** Bytes that may be in use beyond those before a round of floods. */
const MAX_GROWTH = 12 << 20;

async function openServers(t: Test) {
  const fixture = await openBroker(t, { points: [] });
  const broker = await serveBroker(t, fixture);
  const webPort = await serveBrokerPages(t, fixture.broker, { brokerAddress: broker.address });
  const { crawlConsole, bearer } = await consoleScene(t);
  return { fixture, broker, webPort, crawlConsole, bearer };
}

t.test('Broker, its pages, the console: after floods they hold no more memory than before', async (t) => {
  const { fixture, broker, webPort, crawlConsole, bearer } = await openServers(t);
  const authorization = `Authorization: ${bearer.authorization}\r\n`;
  const floods = [
    [broker.address.port, { connections: 20, text: '#USER #END (\r\n', reconnect: true }],
    [broker.address.port, { connections: 20, text: '#USER #END nothing\r\n', reconnect: true }],
    [webPort, { connections: 20, text: get('/') }],
    [webPort, { connections: 20, text: get('/search?query=nothing'), reconnect: true }],
    [crawlConsole.address.port, { connections: 20, text: get('/api/queues', authorization) }],
    [
      crawlConsole.address.port,
      { connections: 20, text: get('/events?parts=1', authorization), reconnect: true },
    ],
  ] as const;
  const round = async (): Promise<void> => {
    for (const [port, flood] of floods) {
      const stop = await startFlood(t, port, flood);
      await new Promise((resolve) => setTimeout(resolve, 700));
      await stop();
    }
    await waitUntil(() => {
      crawlConsole.feed.tick();
      return crawlConsole.feed.followers === 0;
    });
    await new Promise((resolve) => setTimeout(resolve, 1000));
    fixture.log.length = 0;
  };
  // The first round fills caches and compiles code.
  await round();
  const before = await usedMemory();
  let growth = Number.POSITIVE_INFINITY;
  // Caches that are not yet full may grow once more.
  for (let attempt = 0; attempt < 3 && growth > MAX_GROWTH; attempt++) {
    await round();
    growth = (await usedMemory()) - before;
  }
  t.ok(growth <= MAX_GROWTH, `${growth} bytes more than before, of ${before}`);
  t.equal(crawlConsole.feed.followers, 0);
  const client = await dial(t, webPort);
  t.match(await ask(client, get('/'), /<\/html>/), /^HTTP\/1\.1 200 /, 'the pages are served');
});
