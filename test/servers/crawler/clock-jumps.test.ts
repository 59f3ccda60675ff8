// The clock of the system is set while a crawl runs: no worker is killed, or kept, for it.
import t, { type Test } from 'tap';
import { steadyTime } from '../../../clients/connection/monotonic-clock.js';
import type { CrawlUri } from '../../../servers/crawler/crawl-uri.js';
import { HostAddresses } from '../../../servers/crawler/servers/host-addresses.js';
import { WorkerSlots } from '../../../servers/crawler/worker-pool.js';

const YEAR_MS = 365 * 86_400_000;

/** Runs with the clock of the system off by this much. */
async function withJump(t: Test, milliseconds: number, run: () => Promise<void> | void): Promise<void> {
  const { now } = Date;
  t.intercept(Date, 'now', { value: () => now() + milliseconds });
  await run();
  t.intercept(Date, 'now', { value: now });
}
for (const jump of [60_000, 3_600_000, YEAR_MS].flatMap((milliseconds) => [milliseconds, -milliseconds])) {
  t.test(`the clock jumps by ${jump} ms`, async (t) => {
    const slots = new WorkerSlots(2);
    const [busy, stuck] = [slots.slot(1), slots.slot(2)];
    for (const slot of [busy, stuck]) slot.uri = { url: 'http://h.test/' } as CrawlUri;
    busy.begin = steadyTime();
    stuck.begin = steadyTime() - 50_000;
    let lookups = 0;
    const addresses = new HostAddresses({
      validitySeconds: 60,
      lookup: async () => {
        lookups++;
        return { addresses: ['192.0.2.1'], ttlSeconds: 3600 };
      },
    });
    await addresses.resolve(['h.test']);
    await withJump(t, jump, async () => {
      slots.killStuck(30_000);
      t.same([busy.killed, stuck.killed], [false, true], 'the worker that is stuck is killed, and no other');
      t.ok(slots.reports().every(({ milliseconds }) => milliseconds >= 0 && milliseconds < 60_000));
      t.ok(addresses.knows('h.test'), 'an address is valid for as long as before');
      await addresses.resolve(['h.test']);
    });
    t.equal(lookups, 1);
  });
}
