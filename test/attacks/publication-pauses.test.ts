// A Gatherer publishes hundreds of thousands of links while the same process serves: its event loop does not
// wait for the sorting or the disk.
import { existsSync, readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { GathererStore } from '../../storage/index.js';
import { ThreadedReferencesBuilder } from '../../storage/references/index.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';

const ATTEMPTS = 3;
/** Processor time that may be added by garbage collection, milliseconds. */
const NOISE_MS = 30;
/**
 * Nanoseconds that this thread has run, and other numbers. Other programs do not change them, as they change
 * pauses on the clock.
 */
const THREAD_TIME = '/proc/thread-self/schedstat';

async function storeOf(t: Test, documents: number, links: number): Promise<GathererStore> {
  const store = await GathererStore.open(await temporaryDirectory(t));
  t.teardown(() => store.close());
  for (let from = 0; from < documents; from += 100) {
    const batch = store.batch();
    for (let i = from; i < Math.min(documents, from + 100); i++) {
      batch.putReferences({
        url: `http://server-${i % 50}.test/${i}`,
        links: Array.from(
          { length: links },
          (_, n) => `http://server-${n % 50}.test/${(i * 7 + n * 13) % documents}`,
        ),
        time: 1,
        checkTime: 1,
        length: 1,
      });
    }
    await batch.commit();
  }
  return store;
}

function threadMs(): number {
  return Number(readFileSync(THREAD_TIME, 'utf8').split(' ')[0]) / 1e6;
}

/**
 * The most processor time that the event loop's thread takes between two timers during a publication,
 * milliseconds.
 */
async function longestPause(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = threadMs();
  const look = (): void => {
    const now = threadMs();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, 1);
  try {
    await work();
    look();
  } finally {
    clearInterval(timer);
  }
  return longest;
}

/** Publishes a store into a new directory. */
async function publish(t: Test, store: GathererStore): Promise<void> {
  const published = await store.publishReferences(await temporaryDirectory(t));
  t.ok((published?.links ?? 0) > 0);
}

/** Publishes links alone: sorting and writing without reading. */
async function publishLinks(t: Test, links: number): Promise<void> {
  await using builder = new ThreadedReferencesBuilder(await temporaryDirectory(t));
  const pairs = new Uint32Array(2 * 4096);
  for (let done = 0; done < links; done += 4096) {
    for (let i = 0; i < 4096; i++) {
      pairs[2 * i] = (done + i) % 100_003;
      pairs[2 * i + 1] = ((done + i) * 7919) % 1_000_003;
    }
    await builder.addLinks(pairs);
  }
  t.ok((await builder.publish()).links > links / 2);
}

const skip = !existsSync(THREAD_TIME) && 'the system does not tell the processor time of a thread';

t.test('the pauses of a large publication are those of a small one', { skip }, async (t) => {
  const small = await storeOf(t, 10, 5);
  const large = await storeOf(t, 2000, 100);
  const cases: readonly (readonly [name: string, work: () => Promise<void>])[] = [
    ['200 thousand links of a store', () => publish(t, large)],
    ['2 million links', () => publishLinks(t, 2_000_000)],
  ];
  for (const [name, work] of cases) {
    const found: string[] = [];
    let isFair = false;
    for (let i = 0; i < ATTEMPTS && !isFair; i++) {
      const few = await longestPause(() => publish(t, small));
      const many = await longestPause(work);
      found.push(`${many.toFixed(0)} ms, ${few.toFixed(0)} ms for 50 links`);
      isFair = many <= 3 * few + NOISE_MS;
    }
    t.ok(isFair, `${name}: ${found.join('; ')}`);
  }
});
