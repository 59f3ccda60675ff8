// More clients than a server has places: each is served or gets an answer, and none is reset.
import { once } from 'node:events';
import { connect } from 'node:net';
import t, { type Test } from 'tap';
import { FairShare } from '../../servers/host/index.js';
import { sendLine } from '../../servers/web/replies.js';
import { ManualClock, nextTurn, passTime } from '../helpers/manual-clock.js';
import { SERVED, type Served } from './served.js';
import { ask, countOpen, dial, dialMany } from './sockets.js';
import { servePages } from './web-servers.js';

const LIMIT = 50;
/** From how many addresses they connect; Linux has all of 127.0.0.0/8. */
const ADDRESSES = process.platform === 'linux' ? [1, 5, 2 * LIMIT] : [1];

/** What became of a connection: everything it received, and whether it was reset. */
interface Outcome {
  readonly text: string;
  readonly error: string | undefined;
}

/** Resolves when the server, in this process, has accepted all connections: one in each turn of the event loop. */
async function acceptAll(): Promise<void> {
  for (let turns = 0; turns < 4 * LIMIT; turns++) await nextTurn();
}

/** Sends a request right after connecting, or after that; ends after the reply, or when the server closes. */
async function visit(
  t: Test,
  { port, request, reply }: Pick<Served, 'port' | 'request' | 'reply'>,
  ready: (connected: Promise<unknown>) => Promise<unknown> = async () => undefined,
  localAddress = '127.0.0.1',
): Promise<Outcome> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  t.teardown(() => void socket.destroy());
  let text = '';
  let error: string | undefined;
  socket.on('error', (failure: NodeJS.ErrnoException) => {
    error = failure.code;
  });
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    if (reply.test(text)) socket.destroy();
  });
  await ready(once(socket, 'connect'));
  if (!socket.destroyed) socket.write(request, 'latin1');
  if (!socket.closed) await once(socket, 'close').catch(() => undefined);
  return { text, error };
}

/** The outcomes by kind. */
function count(outcomes: readonly Outcome[], { reply, refusal, eviction }: Served) {
  const figures = { served: 0, refused: 0, reset: 0, silent: 0 };
  for (const { text, error } of outcomes) {
    if (reply.test(text)) figures.served += 1;
    else if (error !== undefined) figures.reset += 1;
    else if (refusal.test(text) || eviction.test(text)) figures.refused += 1;
    else figures.silent += 1;
  }
  return figures;
}

for (const [name, [serve]] of Object.entries(SERVED)) {
  for (const addresses of ADDRESSES)
    t.test(
      `${name}: twice as many clients as places, of ${addresses} addresses, with two requests`,
      async (t) => {
        // Time stands still: no client is refused for waiting, or closed for being idle.
        const served = await serve(t, { maxConnections: LIMIT, clock: new ManualClock() });
        const connections: Promise<unknown>[] = [];
        let begin: () => void = () => undefined;
        const all = new Promise<void>((resolve) => {
          begin = resolve;
        });
        const ready = (connected: Promise<unknown>): Promise<void> => {
          connections.push(connected);
          if (connections.length === 2 * LIMIT) void Promise.all(connections).then(acceptAll).then(begin);
          return all;
        };
        const clients = Array.from({ length: 2 * LIMIT }, async (_, i) => {
          const from = `127.0.0.${1 + (i % addresses)}`;
          const first = await visit(t, served, ready, from);
          return [first, await visit(t, served, undefined, from)];
        });
        const outcomes = (await Promise.all(clients)).flat();
        t.match(count(outcomes, served), { served: 4 * LIMIT, reset: 0, silent: 0 });
      },
    );

  t.test(`${name}: clients beyond the places wait, then they are refused with an answer`, async (t) => {
    const clock = new ManualClock();
    const served = await serve(t, { maxConnections: LIMIT, graceMs: 60_000, waitMs: 3000, clock });
    const holders = await dialMany(t, served.port, LIMIT);
    let done = 0;
    const newcomers = Array.from({ length: LIMIT }, async () => {
      const outcome = await visit(t, served);
      done += 1;
      return outcome;
    });
    await passTime(clock, 100, () => done === LIMIT);
    t.match(count(await Promise.all(newcomers), served), { served: 0, refused: LIMIT, reset: 0, silent: 0 });
    t.equal(countOpen(holders), LIMIT, 'the others stay');
    holders[0]?.destroy();
    const late = await visit(t, served);
    t.match(late.text, served.reply, 'a place that is free again is given to the next');
  });

  t.test(`${name}: attackers with all places lose them after some seconds, with an answer`, async (t) => {
    const clock = new ManualClock();
    const served = await serve(t, { maxConnections: LIMIT, clock });
    const attackers = Array.from({ length: LIMIT }, async (_, i) =>
      visit(t, { ...served, request: i % 2 === 0 ? '' : served.beginning }),
    );
    // One more, whose connection the server has accepted after theirs.
    await dial(t, served.port);
    let done = 0;
    const newcomers = Array.from({ length: LIMIT }, async () => {
      const outcome = await visit(t, served);
      done += 1;
      return outcome;
    });
    await passTime(clock, 100, () => done === LIMIT);
    t.match(count(await Promise.all(newcomers), served), { served: LIMIT, reset: 0, silent: 0 });
    const closed: Outcome[] = [];
    for (const attacker of attackers) void attacker.then((outcome) => closed.push(outcome));
    await passTime(clock, 100, () => closed.length > 0);
    t.match(count(closed, served), { refused: closed.length, reset: 0, silent: 0 });
  });
}

t.test(
  'pages: a kept connection whose next request waits for its turn is refused with an answer',
  async (t) => {
    const clock = new ManualClock();
    let time = 0;
    let hasTurns = true;
    const held: (() => void)[] = [];
    const fairShare = new FairShare({
      now: () => time,
      nextTurn: (turn) =>
        void setImmediate(() => {
          if (hasTurns) turn();
          else held.push(turn);
        }),
    });
    const { port } = await servePages(t, {
      connections: { maxConnections: 1, clock },
      fairShare,
      routes: (app) => void app.get('/', (_request, reply) => sendLine(reply, 200, 'a page')),
    });
    const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const kept = await dial(t, port);
    await ask(kept, request, /a page\n$/);
    // Others have used up this turn of the event loop, and the next one does not come.
    time = 1000;
    hasTurns = false;
    const closed = ask(kept, request, /^HTTP.1\.1 503 .*\n$/s);
    await dial(t, port);
    let text: unknown;
    void closed.then((answer) => {
      text = answer;
    });
    await passTime(clock, 100, () => text !== undefined);
    t.match(text, /there are too many connections/);
    hasTurns = true;
    for (const turn of held) turn();
  },
);
