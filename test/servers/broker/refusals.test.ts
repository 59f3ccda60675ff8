// A refusal costs its client time when it is one of many, and no other client.
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { RefusalBrake } from '../../../servers/host/refusal-brake.js';
import { ManualClock, timerOf } from '../../helpers/manual-clock.js';
import { openBroker, serveBroker } from './helpers.js';

const NEVER = new AbortController().signal;

/** Sends a message from an address of loopback and returns the reply. */
async function exchangeFrom(localAddress: string, port: number, message: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.write(message);
  return (await buffer(socket)).toString('latin1');
}

/** Returns the milliseconds for which the brake holds each of some refusals. */
async function holdsOf(brake: RefusalBrake, clock: ManualClock, address: string, count: number) {
  const holds: number[] = [];
  for (let i = 0; i < count; i++) {
    brake.noteMessage('192.0.2.9');
    brake.noteMessage(address);
    const sent = brake.beforeRefusal(address, NEVER);
    const [hold = 0] = clock.waiting;
    clock.advance(hold);
    await sent;
    holds.push(hold);
  }
  return holds;
}

t.test('refusals of an address that was refused before are held, longer each time', async (t) => {
  const clock = new ManualClock();
  const brake = new RefusalBrake({ clock });
  const holds = await holdsOf(brake, clock, '192.0.2.1', 40);
  t.same(holds.slice(0, 6), [0, 0, 0, 50, 100, 200], 'three are a person’s');
  t.ok(Math.max(...holds) <= 1000, 'at most a second');
  t.ok(Math.min(...holds.slice(20)) >= 400, `${holds.slice(20)}`);
  t.same((await holdsOf(brake, clock, '192.0.2.2', 1))[0], 0, 'not those of another address');
  t.same((await holdsOf(brake, clock, '2001:db8::1', 4)).at(-1), 50);
  t.same((await holdsOf(brake, clock, '2001:db8::2', 1))[0], 100, 'a network of IPv6 is one address');
  clock.advance(60_000);
  t.same((await holdsOf(brake, clock, '192.0.2.1', 1))[0], 0, 'they are forgotten');
});

t.test('nothing is held for the only address, above the number, or when it is off', async (t) => {
  const clock = new ManualClock();
  const alone = new RefusalBrake({ clock });
  for (let i = 0; i < 20; i++) {
    alone.noteMessage('192.0.2.1');
    await alone.beforeRefusal('192.0.2.1', NEVER);
  }
  t.equal(alone.held, 0, 'the only address');
  alone.noteMessage('192.0.2.9');
  clock.advance(2000);
  alone.noteMessage('192.0.2.1');
  await alone.beforeRefusal('192.0.2.1', NEVER);
  t.equal(alone.held, 0, 'the other one is gone');

  const off = new RefusalBrake({ clock, maxHoldMs: 0 });
  t.same(new Set(await holdsOf(off, clock, '192.0.2.1', 20)), new Set([0]));

  const two = new RefusalBrake({ clock, maxHeld: 2 });
  two.noteMessage('192.0.2.9');
  two.noteMessage('192.0.2.1');
  const stop = new AbortController();
  const held = Array.from({ length: 5 }, () => two.beforeRefusal('192.0.2.1', stop.signal));
  await two.beforeRefusal('192.0.2.1', NEVER);
  t.equal(two.held, 2);
  stop.abort(new Error('gone'));
  const outcomes = await Promise.allSettled(held);
  t.equal(outcomes.filter(({ status }) => status === 'rejected').length, 2, 'a client that is gone');
  t.equal(two.held, 0);
});

const REFUSED: Readonly<Record<string, string>> = {
  'a query that is malformed': '#USER #END (',
  'an empty query': '#USER #END',
  'a query for nothing': '#USER #END ""',
  'more terms than a query may have': `#USER #END ${Array.from({ length: 600 }, (_, i) => `w${i}`).join(' or ')}`,
  'many negations': `#USER #END ${Array.from({ length: 300 }, (_, i) => `(not w${i})`).join(' or ')}`,
  'a long word': `#USER #END ${'a'.repeat(300)}`,
  'a broken expression': '#USER #END title regexp "("',
  'an expression of too many instructions': '#USER #END title regexp "([a-z]{30}){40}"',
  'too many spelling errors': '#USER #index error 9 #END word',
  'a flag without its value': '#USER #index maxfiles #END word',
  'the same in the interface of 1995': '#USER #interface 2 #END (',
  'no message': 'hello',
  'an unknown command': '#ADMIN #Password "open sesame" #frobnicate',
  'a wrong password': '#ADMIN #Password x #statistics',
  'a transfer that is malformed': '#BULK #SINCE yesterday #END #ALLB',
  'a transfer in the wrong interface': '#BULK #compress #END #ALLB',
  'a request of another protocol': 'GET / HTTP/1.1',
};

t.test('each refusal is held while others are served, and nothing of theirs', async (t) => {
  const clock = new ManualClock();
  const { port } = (await serveBroker(t, await openBroker(t), { clock })).address;
  const honest = () => exchangeFrom('127.0.0.1', port, '#USER #END word\r\n');
  const answer = await honest();
  let number = 1;
  for (const [name, message] of Object.entries(REFUSED)) {
    number += 1;
    const address = `127.0.0.${number}`;
    const ask = () => exchangeFrom(address, port, `${message}\r\n`);
    const refusal = await ask();
    t.match(refusal, /\b(?:111|400) - |ERROR/i, `${name}: ${refusal.slice(28, 110)}`);
    t.same([await ask(), await ask()], [refusal, refusal]);
    const held = ask();
    await timerOf(clock, 50);
    t.equal(await honest(), answer, 'another address is served meanwhile');
    clock.advance(50);
    t.equal(await held, refusal);
  }
});
