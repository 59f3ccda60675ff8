// Writes a store in a process of its own, prints the length of its log after a flush, and waits until it is
// killed. Argument: the directory.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { GathererStore } from '../../storage/index.js';

const [directory = ''] = process.argv.slice(2);
const store = await GathererStore.open(directory);
const size = (): number => {
  const name = readdirSync(directory).find((file) => file.endsWith('.log')) ?? '';
  return statSync(join(directory, name)).size;
};
for (let step = 1; step <= 200; step++) await store.batch().putMeta('step', step).commit();
await store.batch().putMeta('flushed', 1).commit({ sync: true });
const flushed = size();
for (let step = 201; step <= 400; step++) await store.batch().putMeta('step', step).commit();
// The lengths are recorded a moment after the last write.
await pause(1000);
process.stdout.write(`${flushed}\n`);
setInterval(() => undefined, 1000);
