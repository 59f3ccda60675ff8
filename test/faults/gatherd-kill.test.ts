import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { collectChanges } from '../../clients/gatherd/index.js';
import { CliProcess } from '../helpers/cli.js';
import { Database, entry } from '../servers/gatherd/support.js';

const OBJECTS = 5000;
const KILLS = 4;
/** Objects that a collector receives before the last kill: so few that more remain than socket buffers hold. */
const HALT = OBJECTS / 5;

/** Three kilobytes that compress badly, so that a compressed transfer does not fit into the sockets' buffers either. */
function noise(seed: number): string {
  return Array.from({ length: 70 }, (_, i) =>
    createHash('sha256').update(`${seed} ${i}`).digest('base64'),
  ).join('\n');
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

t.test(
  'GATHERD-3.11, 13.6 kill -9 of the daemon during transfers: every collector gets everything once',
  async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'gatherd-kill-'));
    t.teardown(() => rm(directory, { recursive: true, force: true }));
    const entries = Array.from({ length: OBJECTS }, (_, i) =>
      // Ten objects share a time, so that many transfers break between objects of the same time.
      entry(`http://host.example/${i}`, 1000 + Math.floor(i / 10), noise(i)),
    );
    await new Database(directory).publish(entries);
    const expected = entries.map(({ url }) => url).sort();

    const port = await freePort();
    const start = () => new CliProcess(['gatherd', '-d', directory, '--json-log', String(port)]);
    let daemon = start();
    t.teardown(() => daemon.kill('SIGKILL'));
    await daemon.output(/^ready gatherd=/m);

    let given = 0;
    let allKilled: () => void = () => {};
    const lastKill = new Promise<void>((resolve) => {
      allKilled = resolve;
    });
    const collectors = [false, true, false, true].map(async (compression, i) => {
      const collection = collectChanges({
        host: '127.0.0.1',
        port,
        compression,
        // Two of them do not send SET changes and therefore start over each time.
        sections: i < 2,
        pauseMs: 20,
        maxPauseMs: 200,
        maxFruitless: 1000,
        maxConnections: 1000,
      });
      const urls: string[] = [];
      for await (const { object } of collection) {
        urls.push(object.url);
        given += 1;
        // A collector that stores objects is slower than the daemon, which therefore waits during the transfer.
        if (urls.length % 40 === 0) await pause(2);
        if (urls.length === HALT) await lastKill;
      }
      return { urls, totals: collection.totals };
    });
    const all = Promise.all(collectors);
    // A failure is reported where it is awaited.
    all.catch(() => {});

    for (let killed = 0; killed < KILLS; killed++) {
      // When all have stopped, their transfers are incomplete.
      const target = Math.min(given + 1 + Math.floor(Math.random() * HALT), collectors.length * HALT);
      while (given < target) await pause(1);
      daemon.kill('SIGKILL');
      await daemon.finished;
      daemon = start();
      await daemon.output(/^ready gatherd=/m);
    }
    allKilled();
    const newest = 1000 + OBJECTS / 10 - 1;
    for (const [i, { urls, totals }] of (await all).entries()) {
      t.comment(JSON.stringify(totals));
      t.equal(totals.complete, true);
      // GATHERD-4.9: a collector that resumed has not received later deletions, and requests them the next time.
      t.ok(i < 2 ? totals.next <= newest : totals.next === newest, `next ${totals.next}`);
      t.ok(totals.connections > 1, `${totals.connections} connections`);
      t.same(urls.sort(), expected);
    }
    daemon.kill('SIGTERM');
    t.equal((await daemon.finished).code, 0, 'and the last one stops as it should');
  },
);
