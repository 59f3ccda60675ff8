// Connections that do nothing, or next to nothing: they take all places of a server, and a newcomer is served
// nevertheless, once they have had their first seconds.
import t, { type Test } from 'tap';
import { inputRead, ManualClock } from '../helpers/manual-clock.js';
import { SERVED } from './served.js';
import { ask, countOpen, dial, dialMany, settle } from './sockets.js';

/** Connections from different addresses of loopback are different clients. */
const ATTACKER = '127.0.0.2';
const OTHER = '127.0.0.3';

/** Milliseconds of a connection's life in which nothing makes it go. */
const GRACE_MS = 5000;

/** Time passes in steps, until everyone has had a place or waited in vain. */
async function passTurns(clock: ManualClock): Promise<void> {
  for (let ms = 0; ms < 20_000; ms += 100) {
    clock.advance(100);
    await inputRead();
  }
}

for (const [name, [serve, limit]] of Object.entries(SERVED)) {
  const scene = async (t: Test, maxConnections: number, maxPerAddress?: number) => {
    const clock = new ManualClock();
    return { clock, served: await serve(t, { maxConnections, maxPerAddress, clock }) };
  };

  t.test(`${name}: ${limit} idle connections do not keep a newcomer out`, async (t) => {
    const { clock, served } = await scene(t, limit);
    for (const text of ['', served.beginning]) {
      const idle = await dialMany(t, served.port, limit, { text });
      t.equal(countOpen(idle), limit, 'all are accepted');
      clock.advance(GRACE_MS);
      const newcomer = await dial(t, served.port);
      t.match(await ask(newcomer, served.request, served.reply), served.reply, 'the newcomer is served');
      t.ok(countOpen(idle) >= limit - 2, `${countOpen(idle)} of the others stay`);
      for (const socket of idle) socket.destroy();
      newcomer.destroy();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });

  t.test(`${name}: connections that send one byte after the other do not keep a newcomer out`, async (t) => {
    const { clock, served } = await scene(t, 20);
    const trickling = await dialMany(t, served.port, 20, { text: served.beginning });
    const timer = setInterval(() => {
      for (const socket of trickling) if (!socket.destroyed) socket.write('x');
    }, 10);
    t.teardown(() => clearInterval(timer));
    clock.advance(GRACE_MS);
    for (let i = 0; i < 10; i++) {
      const newcomer = await dial(t, served.port);
      t.match(await ask(newcomer, served.request, served.reply), served.reply);
      newcomer.destroy();
    }
    clearInterval(timer);
  });

  t.test(`${name}: one address does not take the places of another`, async (t) => {
    const { clock, served } = await scene(t, 20, 5);
    const other = await dialMany(t, served.port, 3, { from: OTHER });
    const attack = await dialMany(t, served.port, 100, { from: ATTACKER });
    const newcomer = await dial(t, served.port, OTHER);
    t.match(await ask(newcomer, served.request, served.reply), served.reply, 'it is served at once');
    await passTurns(clock);
    const rest = await settle(attack, 5);
    t.ok(rest <= 5, `${rest} of the address that opened a hundred`);
    t.equal(countOpen(other), 3, 'the connections of the other address stay');
  });

  t.test(`${name}: when all places are taken, the address with the most gives one up`, async (t) => {
    const { clock, served } = await scene(t, 20, 20);
    const other = await dialMany(t, served.port, 4, { from: OTHER });
    const attack = await dialMany(t, served.port, 100, { from: ATTACKER });
    await passTurns(clock);
    const rest = await settle(attack, 16);
    t.ok(rest <= 16, `${rest} of the attacker`);
    t.equal(countOpen(other), 4, 'the connections of the other address stay');
  });
}
