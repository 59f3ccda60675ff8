// Who gets a place, who waits for one and who is refused.
import t from 'tap';
import { Admission, type AdmissionLimits } from '../../../servers/host/admission.js';
import type { ConnectionSlot } from '../../../servers/host/index.js';
import { ManualClock, nextTurn } from '../../helpers/manual-clock.js';

/** An admission and what became of each connection by name. */
class Newcomers {
  readonly clock = new ManualClock();
  readonly admission: Admission;
  readonly events: string[] = [];
  readonly slots = new Map<string, ConnectionSlot>();

  constructor(limits: AdmissionLimits) {
    this.admission = new Admission(() => limits, this.clock);
  }

  come(name: string, address = '127.0.0.1'): void {
    this.admission.request({
      address,
      admitted: (slot) => {
        this.slots.set(name, slot);
        this.events.push(`${name} admitted`);
      },
      evicted: (waitedMs) => this.events.push(`${name} evicted after ${waitedMs}`),
      refused: () => this.events.push(`${name} refused`),
    });
  }

  /** The events since the last call. */
  take(): string[] {
    return this.events.splice(0);
  }
}

t.test('a newcomer waits until a place is free, and is refused after its time', async (t) => {
  const newcomers = new Newcomers({ maxConnections: 1, graceMs: 60_000 });
  for (const name of ['a', 'b', 'c']) newcomers.come(name);
  t.same(newcomers.take(), ['a admitted']);
  newcomers.slots.get('a')?.release();
  t.same(newcomers.take(), ['b admitted'], 'in the order of their coming');
  newcomers.clock.advance(9999);
  t.same(newcomers.take(), []);
  newcomers.clock.advance(1);
  t.same(newcomers.take(), ['c refused']);
  t.equal(newcomers.admission.waiting, 0);
});

t.test('a place is taken from an idle connection only after all input was read', async (t) => {
  const newcomers = new Newcomers({ maxConnections: 1 });
  newcomers.come('a');
  newcomers.clock.advance(5000);
  newcomers.come('b');
  t.same(newcomers.take(), ['a admitted'], 'not at once: its request may have arrived');
  newcomers.slots.get('a')?.work();
  await nextTurn();
  t.same(newcomers.take(), [], 'it had');
  newcomers.slots.get('a')?.waitForInput(false);
  newcomers.clock.advance(100);
  await nextTurn();
  t.same(newcomers.take(), ['a evicted after 5100', 'b admitted']);
});

t.test('addresses that wait take turns', async (t) => {
  const newcomers = new Newcomers({ maxConnections: 1, maxPerAddress: 1, graceMs: 60_000 });
  newcomers.come('a', '192.0.2.1');
  for (const name of ['b1', 'b2', 'b3']) newcomers.come(name, '192.0.2.2');
  newcomers.come('c', '192.0.2.3');
  const order: string[] = newcomers.take();
  for (const name of ['a', 'b1', 'c', 'b2']) {
    newcomers.slots.get(name)?.release();
    order.push(...newcomers.take());
  }
  t.same(order, ['a admitted', 'b1 admitted', 'c admitted', 'b2 admitted', 'b3 admitted']);
});

t.test('the queue is bounded, for each address too, and one with many gives way', async (t) => {
  const newcomers = new Newcomers({ maxConnections: 1, maxWaiting: 8, graceMs: 60_000 });
  newcomers.come('a');
  for (let i = 1; i <= 3; i++) newcomers.come(`b${i}`, '192.0.2.2');
  t.same(newcomers.take(), ['a admitted', 'b3 refused'], 'a quarter of the queue for an address');
  for (let i = 1; i <= 7; i++) newcomers.come(`local ${i}`);
  t.same(newcomers.take(), ['local 7 refused'], 'all of it for this machine');
  newcomers.come('c', '192.0.2.3');
  t.same(newcomers.take(), ['local 6 refused']);
  newcomers.admission[Symbol.dispose]();
  t.equal(
    newcomers.take().filter((event) => event.endsWith('refused')).length,
    8,
    'at the end all are refused',
  );
  newcomers.come('late');
  t.same(newcomers.take(), ['late refused']);
  t.same([newcomers.admission.waiting, newcomers.admission.size], [0, 1]);
});

t.test('one at its own limit does not keep others waiting', async (t) => {
  const newcomers = new Newcomers({ maxConnections: 4, maxPerAddress: 1, graceMs: 60_000 });
  newcomers.come('a1', '192.0.2.1');
  newcomers.come('a2', '192.0.2.1');
  newcomers.come('b', '192.0.2.2');
  t.same(newcomers.take(), ['a1 admitted', 'b admitted']);
  newcomers.slots.get('b')?.release();
  newcomers.slots.get('a1')?.release();
  t.same(newcomers.take(), ['a2 admitted']);
});
