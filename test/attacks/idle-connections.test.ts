// Connections that do nothing, or next to nothing: they take all places of a server, and a newcomer is served
// nevertheless.
import t, { type Test } from 'tap';
import { sendLine } from '../../servers/web/replies.js';
import { openBroker, serveBroker } from '../servers/broker/helpers.js';
import { entry, startGatherd } from '../servers/gatherd/helpers.js';
import { serveFixture } from '../servers/refererd/helpers.js';
import { ask, countOpen, dial, dialMany, settle } from './sockets.js';
import { servePages } from './web-servers.js';

/**
 * A server, what a client that is served sends and receives, and what a client sends that never completes a
 * request.
 */
interface Served {
  readonly port: number;
  readonly limit: number;
  readonly request: string;
  readonly reply: RegExp;
  readonly beginning: string;
}

/** Connections from different addresses of loopback are different clients. */
const ATTACKER = '127.0.0.2';
const OTHER = '127.0.0.3';

async function gatherd(t: Test, limit: number, maxPerAddress?: number): Promise<Served> {
  const { port } = await startGatherd(t, [entry('http://a.example/', 100, 'a')], {
    maxConnections: limit,
    maxPerAddress,
  });
  return { port, limit, request: 'HELLO me\n', reply: /100 - HELLO me\n/, beginning: 'HEL' };
}

async function broker(t: Test, limit: number, maxPerAddress?: number): Promise<Served> {
  const fixture = await openBroker(t, { points: [] });
  const server = await serveBroker(t, fixture, { maxConnections: limit, maxPerAddress });
  return {
    port: server.address.port,
    limit,
    request: '#USER #END (\r\n',
    reply: /^1\d\d - /m,
    beginning: '#USER ',
  };
}

async function refererd(t: Test, limit: number, maxPerAddress?: number): Promise<Served> {
  const { address } = await serveFixture(t, { maxClients: limit, maxPerAddress });
  return {
    port: address.port,
    limit,
    request: 'SSTP/1.0 081 X\r\nHEADER_URI_ID: 20\r\n\r\n',
    reply: /HEADER_NUMFOUND: 1\r\n/,
    beginning: 'SSTP/1.0 081 X\r\nHEADER',
  };
}

async function pages(t: Test, limit: number, maxPerAddress?: number): Promise<Served> {
  const { port } = await servePages(t, {
    connections: { maxConnections: limit, maxPerAddress },
    routes: (app) => void app.get('/', (_request, reply) => sendLine(reply, 200, 'first')),
  });
  return {
    port,
    limit,
    request: 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    reply: /first/,
    beginning: 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ',
  };
}

const SERVERS = {
  gatherd: [gatherd, 2048],
  broker: [broker, 256],
  refererd: [refererd, 2048],
  pages: [pages, 256],
} as const;

for (const [name, [serve, limit]] of Object.entries(SERVERS)) {
  t.test(`${name}: ${limit} idle connections do not keep a newcomer out`, async (t) => {
    const served = await serve(t, limit);
    for (const text of ['', served.beginning]) {
      const idle = await dialMany(t, served.port, limit, { text });
      t.equal(countOpen(idle), limit, 'all are accepted');
      const newcomer = await dial(t, served.port);
      t.match(await ask(newcomer, served.request, served.reply), served.reply, 'the newcomer is served');
      t.ok(countOpen(idle) >= limit - 2, `${countOpen(idle)} of the others stay`);
      for (const socket of idle) socket.destroy();
      newcomer.destroy();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });

  t.test(`${name}: connections that send one byte after the other do not keep a newcomer out`, async (t) => {
    const served = await serve(t, 20);
    const trickling = await dialMany(t, served.port, 20, { text: served.beginning });
    const timer = setInterval(() => {
      for (const socket of trickling) if (!socket.destroyed) socket.write('x');
    }, 10);
    t.teardown(() => clearInterval(timer));
    for (let i = 0; i < 10; i++) {
      const newcomer = await dial(t, served.port);
      t.match(await ask(newcomer, served.request, served.reply), served.reply);
      newcomer.destroy();
    }
    clearInterval(timer);
  });

  t.test(`${name}: one address does not take the places of another`, async (t) => {
    const served = await serve(t, 20, 5);
    const other = await dialMany(t, served.port, 3, { from: OTHER });
    const attack = await dialMany(t, served.port, 100, { from: ATTACKER });
    t.equal(countOpen(other), 3, 'the connections of the other address stay');
    const rest = await settle(attack, 5);
    t.ok(rest <= 5, `${rest} of the address that opened a hundred`);
    const newcomer = await dial(t, served.port, OTHER);
    t.match(await ask(newcomer, served.request, served.reply), served.reply);
  });

  t.test(`${name}: when all places are taken, the address with the most gives one up`, async (t) => {
    const served = await serve(t, 20, 20);
    const other = await dialMany(t, served.port, 4, { from: OTHER });
    const attack = await dialMany(t, served.port, 100, { from: ATTACKER });
    t.equal(countOpen(other), 4, 'the connections of the other address stay');
    const rest = await settle(attack, 16);
    t.ok(rest <= 16, `${rest} of the attacker`);
  });
}
