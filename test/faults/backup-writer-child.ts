// Writes batches of two rows each until it is killed, and says how many are on the disk.
import { GathererStore } from '../../storage/index.js';

const [directory = ''] = process.argv.slice(2);
const store = await GathererStore.open(directory);
const filling = 'x'.repeat(1500);
for (let number = 0; ; number++) {
  await store
    .batch()
    .putMeta(`first.${number}`, `${number} ${filling}`)
    .putMeta(`second.${number}`, number)
    .commit();
  if (number % 500 === 0) process.stdout.write(`${number}\n`);
}
