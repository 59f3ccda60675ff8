// Floods of everything that the grammars allow, input that yields nothing included: how much of it a server takes
// while another client, of the same server or of another one in the process, has one request answered.
import type { Server, Socket } from 'node:net';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { FairShare, type ListenRequest, listenTcp, type SessionShare } from '../../servers/host/index.js';
import { byTier } from '../helpers/seed.js';
import { openBroker, serveBroker } from '../servers/broker/helpers.js';
import { entry, startGatherd } from '../servers/gatherd/helpers.js';
import { serveFixture } from '../servers/refererd/helpers.js';
import { type Flood, grammarFloods, HTTP_FLOODS } from './grammar-floods.js';
import { ask, dial } from './sockets.js';
import { servePages } from './web-servers.js';

/** Sentences of each rule of a grammar. */
const PER_RULE = byTier(1, 4);
const EXCHANGES = 6;
/**
 * Work that the sessions of the process may do for one exchange of a client, as they are charged for it: an
 * exchange takes a few turns, and a turn at most five steps. The dearest step, a page, costs 1.
 */
const MAX_WORK_MS = 40;
/** Bytes that a connection may hold before a session is charged for them: the buffer of its socket, twice. */
const HELD_BYTES = 2 * 64 * 1024;
/** The least that a session is charged for each of these bytes, milliseconds. */
const BYTE_MS = 0.000_02;

/** Shares a clock that only steps move, because each looks at it once, and adds up what sessions are charged. */
class CountedShare extends FairShare {
  work = 0;

  constructor() {
    let time = 0;
    super({ now: () => (time += 0.1) });
  }

  override join(address?: string): SessionShare {
    const share = super.join(address);
    const charge = share.charge.bind(share);
    share.charge = (milliseconds) => {
      this.work += milliseconds;
      charge(milliseconds);
    };
    return share;
  }
}

/** A server, and the sockets that it has accepted. */
interface Target {
  readonly port: number;
  readonly accepted: Set<Socket>;
  /** A cheap request of a client that stays connected, or of a new one. */
  readonly request: () => Promise<unknown>;
  readonly floods: ReadonlyMap<string, Flood>;
}

function recording(accepted: Set<Socket>): (request: ListenRequest) => Promise<Server> {
  return (request) =>
    listenTcp({
      ...request,
      onConnection(socket) {
        accepted.add(socket);
        request.onConnection(socket);
      },
    });
}

async function openTargets(t: Test, fairShare: FairShare): Promise<Record<string, Target>> {
  const sets = Array.from({ length: 4 }, () => new Set<Socket>());
  const [ofGatherd, ofBroker, ofReferences, ofPages] = sets as [
    Set<Socket>,
    Set<Socket>,
    Set<Socket>,
    Set<Socket>,
  ];
  const gatherd = await startGatherd(t, [entry('http://1.example/', 100, 'x')], {
    fairShare,
    listen: recording(ofGatherd),
  });
  const broker = await serveBroker(t, await openBroker(t, { points: [] }), {
    fairShare,
    listen: recording(ofBroker),
    lingerMs: 100,
  });
  const references = await serveFixture(t, { fairShare, listen: recording(ofReferences) });
  const pages = await servePages(t, {
    fairShare,
    bodies: 'form',
    routes: (app) => void app.post('/form', () => 'a form'),
  });
  pages.app.server.prependListener('connection', (socket: Socket) => void ofPages.add(socket));
  const kept = async (port: number, text: string, end: RegExp, first = true) => {
    const client = await dial(t, port);
    if (first) await ask(client, '', /\n$/);
    return () => ask(client, text, end);
  };
  return {
    gatherd: {
      port: gatherd.port,
      accepted: ofGatherd,
      request: await kept(gatherd.port, 'HELLO me\n', /^100 - .*\n$/),
      floods: grammarFloods('gatherd', PER_RULE),
    },
    Broker: {
      port: broker.address.port,
      accepted: ofBroker,
      request: async () => {
        const client = await dial(t, broker.address.port);
        await ask(client, '#USER #END (\r\n', /\n111 - .*\n$/);
        client.destroy();
      },
      floods: grammarFloods('broker', PER_RULE),
    },
    references: {
      port: references.address.port,
      accepted: ofReferences,
      request: await kept(
        references.address.port,
        'SSTP/1.0 081 X\r\nHEADER_URI_ID: 999999\r\n\r\n',
        /\r\n\r\n$/,
        false,
      ),
      floods: new Map([...grammarFloods('sstp', PER_RULE), ...HTTP_FLOODS]),
    },
    pages: {
      port: pages.port,
      accepted: ofPages,
      request: await kept(
        pages.port,
        'GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n',
        /\r\n\r\nnot found\n$/,
        false,
      ),
      floods: HTTP_FLOODS,
    },
  };
}

/** Bytes that one write passes to the system, about. */
const PIECE = 64 * 1024;

/** Floods a server until the returned function is called. */
function startFlood(port: number, { head = '', text }: Flood): () => Promise<void> {
  const piece = Buffer.from(text.repeat(Math.ceil(PIECE / text.length)), 'latin1');
  let socket: Socket;
  let ended = false;
  const open = (): void => {
    socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const send = (): void => {
      while (!socket.destroyed && socket.write(piece));
    };
    socket.on('error', () => {});
    socket.resume();
    socket.on('connect', () => {
      socket.write(head, 'latin1');
      send();
      socket.on('drain', send);
    });
    socket.on('close', () => {
      if (!ended) setImmediate(open);
    });
  };
  open();
  return async () => {
    ended = true;
    const closed = new Promise((resolve) => socket.once('close', resolve));
    if (socket.destroyed) return;
    socket.destroy();
    await closed;
  };
}

/** Bytes that a server has read of connections, beyond those that may wait to be worked off. */
function bytesWorkedOff(sockets: Iterable<Socket>): number {
  let sum = 0;
  for (const { bytesRead } of sockets) sum += Math.max(0, bytesRead - HELD_BYTES);
  return sum;
}

t.test('no flood takes more than its turns, in its server and in the others of the process', async (t) => {
  const share = new CountedShare();
  const targets = await openTargets(t, share);
  for (const [name, { port, accepted, floods }] of Object.entries(targets))
    for (const [kind, flood] of floods) {
      accepted.clear();
      const begin = share.work;
      const stop = startFlood(port, flood);
      for (let i = 0; i < 20; i++) await nextTurn();
      const results: string[] = [];
      let most = 0;
      for (const [served, { request }] of Object.entries(targets)) {
        const before = share.work;
        for (let i = 0; i < EXCHANGES; i++) await request();
        const mean = (share.work - before) / EXCHANGES;
        most = Math.max(most, mean);
        results.push(`${served} ${mean.toFixed(1)}`);
      }
      await stop();
      t.ok(most <= MAX_WORK_MS, `${name}, ${kind}: ${results.join(', ')} ms of work for a request`);
      const charged = share.work - begin;
      const least = bytesWorkedOff(accepted) * BYTE_MS;
      t.ok(
        charged >= least,
        `${name}, ${kind}: ${charged.toFixed(1)} ms charged, at least ${least.toFixed(1)}`,
      );
    }
});
