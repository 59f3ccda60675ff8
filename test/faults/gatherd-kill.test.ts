// kill -9 of gatherd during transfers: the collectors continue with the next daemon and receive every object
// once.
import { createHash } from 'node:crypto';
import t from 'tap';
import { collectChanges } from '../../clients/gatherd/index.js';
import { CliProcess } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { EventCount } from '../helpers/event-count.js';
import { Random } from '../helpers/random.js';
import { byTier, SEED } from '../helpers/seed.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { Database, entry } from '../servers/gatherd/helpers.js';

const OBJECTS = byTier(2500, 5000);
const KILLS = byTier(2, 4);
/** Number of objects that a collector reads before the last kill; the rest exceeds the socket buffers. */
const OBJECTS_BEFORE_KILLS = OBJECTS / 5;

/**
 * Returns three kilobytes that compress badly, so that a compressed transfer exceeds the socket buffers too.
 */
function noise(seed: number): string {
  return Array.from({ length: 70 }, (_, i) =>
    createHash('sha256').update(`${seed} ${i}`).digest('base64'),
  ).join('\n');
}

t.test(`GATHERD-3.11, 13.6: after kill -9 each object is received once (seed ${SEED})`, async (t) => {
  const random = new Random(SEED);
  const directory = await temporaryDirectory(t);
  const entries = Array.from({ length: OBJECTS }, (_, i) =>
    // Ten objects share an Update-Time, so that many transfers break between objects of the same time.
    entry(`http://host.example/${i}`, 1000 + Math.floor(i / 10), noise(i)),
  );
  await new Database(directory).publish(entries);
  const expected = entries.map(({ url }) => url).sort();

  const port = await freePort();
  const start = () => new CliProcess(['gatherd', '-d', directory, '--json-log', String(port)]);
  let daemon = start();
  t.teardown(() => daemon.kill('SIGKILL'));
  await daemon.output(/^ready gatherd=/m);

  const received = new EventCount();
  const kills = new EventCount();
  const collectors = [false, true, false, true].map(async (compression, i) => {
    const collection = collectChanges({
      host: '127.0.0.1',
      port,
      compression,
      // Collectors without SET changes start over after each kill.
      sections: i < 2,
      pauseMs: 20,
      maxPauseMs: 200,
      maxFailures: 1000,
      maxConnections: 1000,
    });
    const urls: string[] = [];
    for await (const { object } of collection) {
      urls.push(object.url);
      received.add();
      if (urls.length === OBJECTS_BEFORE_KILLS) await kills.reached(KILLS);
    }
    return { urls, totals: collection.totals };
  });
  const all = Promise.all(collectors);
  // A rejection is handled at the await below.
  all.catch(() => {});

  for (let killed = 0; killed < KILLS; killed++) {
    // When all collectors wait, their transfers are incomplete.
    const target = Math.min(
      received.count + random.between(1, OBJECTS_BEFORE_KILLS),
      collectors.length * OBJECTS_BEFORE_KILLS,
    );
    await Promise.race([received.reached(target), all]);
    daemon.kill('SIGKILL');
    await daemon.finished;
    daemon = start();
    await daemon.output(/^ready gatherd=/m);
    kills.add();
  }
  const newest = 1000 + OBJECTS / 10 - 1;
  for (const [i, { urls, totals }] of (await all).entries()) {
    t.comment(JSON.stringify(totals));
    t.equal(totals.complete, true);
    // GATHERD-4.9: a collector that resumed has not received later deletions, and requests them in the next
    // transfer.
    t.ok(i < 2 ? totals.next <= newest : totals.next === newest, `next ${totals.next}`);
    t.ok(totals.connections > 1, `${totals.connections} connections`);
    t.same(urls.sort(), expected);
  }
  daemon.kill('SIGTERM');
  t.equal((await daemon.finished).code, 0, 'the last daemon stops with status 0');
});
