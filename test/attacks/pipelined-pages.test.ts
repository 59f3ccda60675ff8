// Floods of pipelined HTTP requests: the pages of refererd, of the Broker and any other application of the kit.
import { connect } from 'node:net';
import t, { type Test } from 'tap';
import { MAX_PIPELINED } from '../../servers/web/request-gate.js';
import { assertFair } from './fairness.js';
import { startBroker, startReferences } from './programs.js';
import { ask, dial } from './sockets.js';
import { servePages } from './web-servers.js';

/** Megabytes of resident memory beyond that at the start. */
const MAX_GROWTH_MB = 200;

async function openApplication(t: Test, begun: string[]): Promise<number> {
  const { port } = await servePages(t, {
    connections: { maxConnections: 10 },
    routes: (app) => {
      app.get('/*', async ({ url }) => {
        begun.push(url);
        await new Promise((resolve) => setTimeout(resolve, 5));
        return `reply to ${url}\n`;
      });
    },
  });
  return port;
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

t.test('requests of a connection are handled one after another', async (t) => {
  const begun: string[] = [];
  const port = await openApplication(t, begun);
  const socket = await dial(t, port);
  const paths = Array.from({ length: MAX_PIPELINED }, (_, i) => `/${i}`);
  const received = await ask(socket, paths.map(get).join(''), /reply to \/31\n/);
  t.strictSame(
    received.match(/reply to \/\d+/g),
    paths.map((path) => `reply to ${path}`),
  );
  t.strictSame(begun, paths);
  t.match(
    await ask(socket, get('/again'), /reply to \/again\n/),
    /reply to \/again/,
    'the connection is kept',
  );
});

t.test('a client that pipelines thousands is cut, and what it has left is not handled', async (t) => {
  const begun: string[] = [];
  const port = await openApplication(t, begun);
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.resume();
  socket.write(get('/flood').repeat(5000));
  await new Promise((resolve) => socket.once('close', resolve));
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.ok(begun.length <= MAX_PIPELINED, `${begun.length} requests handled`);
  const other = await dial(t, port);
  t.match(await ask(other, get('/other'), /reply to \/other\n/), /reply to \/other/);
});

t.test('refererd: SSTP beside pipelined pages', async (t) => {
  const { port, residentMegabytes } = await startReferences(t, 2000);
  const client = await dial(t, port);
  const sstp = (): Promise<string> => ask(client, 'SSTP/1.0 081 X\r\nHEADER_URI_ID: 2\r\n\r\n', /\r\n\r\n/);
  const before = await residentMegabytes();
  for (const path of ['/?q=1', '/?q=1&format=json'])
    await assertFair(t, port, `SSTP, ${path}`, sstp, { connections: 4, text: get(path) });
  const growth = (await residentMegabytes()) - before;
  t.ok(growth < MAX_GROWTH_MB, `${growth.toFixed(0)} MB more memory`);
});

t.test('Broker: the page of its searches beside pipelined pages', async (t) => {
  const { port, residentMegabytes } = await startBroker(
    t,
    /^ready broker=.* web=http:\/\/127\.0\.0\.1:(\d+)/m,
  );
  const page = async (): Promise<void> => {
    const socket = await dial(t, port);
    await ask(socket, get('/'), /<\/html>/);
    socket.destroy();
  };
  const before = await residentMegabytes();
  const floods = {
    pages: get('/'),
    searches: get('/search?query=doc'),
    names: get('/').replace('localhost', 'x.example'),
  };
  for (const [name, text] of Object.entries(floods))
    await assertFair(t, port, `a page, ${name}`, page, { connections: 4, text });
  const growth = (await residentMegabytes()) - before;
  t.ok(growth < MAX_GROWTH_MB, `${growth.toFixed(0)} MB more memory`);
});
