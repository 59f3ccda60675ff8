// Stores on a disk that becomes full at the nth change, for every n. After the error there is space again, and
// the work continues in the same process. Prints one JSON object for each subject. Arguments: ROOT CONTROL
// CHANGES-THAT-FAIL-OF-EACH.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { KitError, messageOf } from '../../../protocols/errors.js';
import { DatabaseFile } from '../../../storage/databases/index.js';
import { BrokerStore, GathererStore } from '../../../storage/index.js';
import { RegistryFile } from '../../../storage/original-registry/index.js';
import { Random } from '../../helpers/random.js';
import { SEED } from '../../helpers/seed.js';
import { recordOf } from '../../storage/original-registry/helpers.js';
import { checkBrokerStore, collectStep } from '../broker-steps.js';
import { checkDatabase, databaseStep } from '../database-steps.js';
import { checkGeneration, checkReferences, checkStore, gatherStep } from '../gatherer-steps.js';
import { type Control, programArguments } from './acknowledge.js';

/** One life of a store. */
class Life {
  readonly errors: string[] = [];

  constructor(
    readonly directory: string,
    readonly control: Control,
  ) {}

  /**
   * Runs one change; after an error, which must be a sentence of this kit, there is space again. @returns
   * undefined after an error
   */
  async attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof KitError))
        throw new Error(`not an error of the kit: ${messageOf(error)}`, { cause: error });
      this.errors.push(error.message);
      this.control.ok();
      return undefined;
    }
  }

  /** The same until it succeeds: with space it must. */
  async insist<T>(work: () => Promise<T>): Promise<T> {
    for (let i = 0; ; i++) {
      const result = await this.attempt(work);
      if (result !== undefined) return result;
      if (i >= 2) throw new Error(`it does not go on with space: ${this.errors.at(-1)}`);
    }
  }
}

const STEPS = 6;

async function gatherer(life: Life): Promise<void> {
  const place = join(life.directory, 'working');
  {
    await using store = await life.insist(() => GathererStore.open(place, { writeBufferBytes: 64 * 1024 }));
    for (let step = 0; step < STEPS; ) {
      const next = step + 1;
      const done = await life.attempt(async () => {
        await gatherStep(store, next, next % 3 === 0, 12_000);
        return next;
      });
      // Both are right after an error: the batch as a whole, or nothing of it.
      step = await checkStore(store, done ?? step);
      if (step > next) throw new Error(`step ${step} was never written`);
    }
  }
  life.control.ok();
  await using store = await GathererStore.open(place, { create: false });
  await checkStore(store, STEPS);
}

async function publication(life: Life): Promise<void> {
  const generations = join(life.directory, 'generations');
  life.control.ok();
  await using store = await GathererStore.open(join(life.directory, 'working'));
  await gatherStep(store, 1, false);
  await store.publish(generations);
  await store.publishReferences(life.directory);
  await gatherStep(store, 2, false);
  life.control.failAgain();
  const published = await life.attempt(() => store.publish(generations));
  const linked = await life.attempt(async () => (await store.publishReferences(life.directory)) ?? true);
  // Readers copy small files: they need space, too.
  life.control.ok();
  const is = [await checkGeneration(generations), await checkReferences(life.directory)];
  if ((is[0] ?? 0) < (published === undefined ? 1 : 2)) throw new Error(`the summaries have step ${is[0]}`);
  if ((is[1] ?? 0) < (linked === undefined ? 1 : 2)) throw new Error(`the references have step ${is[1]}`);
  await checkStore(store, 2);
  await gatherStep(store, 3, false);
  await store.publish(generations);
  await store.publishReferences(life.directory);
  const steps = [await checkGeneration(generations), await checkReferences(life.directory)];
  if (steps.some((step) => step !== 3)) throw new Error(`step 3 was published, ${steps} are there`);
}

async function broker(life: Life): Promise<void> {
  const place = join(life.directory, 'broker');
  {
    await using store = await life.insist(() =>
      BrokerStore.open(place, { sync: true, writeBufferBytes: 64 * 1024 }),
    );
    for (let step = 0; step < STEPS; ) {
      const next = step + 1;
      const done = await life.attempt(async () => {
        await collectStep(store, next);
        return next;
      });
      step = await checkBrokerStore(store, done ?? step);
      if (step > next) throw new Error(`step ${step} was never written`);
    }
  }
  life.control.ok();
  await using store = await BrokerStore.open(place, { create: false });
  await checkBrokerStore(store, STEPS);
}

async function registry(life: Life): Promise<void> {
  const path = join(life.directory, 'Registry');
  const open = (): Promise<RegistryFile> => RegistryFile.open(path, { writable: true, sync: true });
  const created = await life.attempt(() => RegistryFile.create(path, { sync: true }));
  await created?.close();
  const acknowledged = new Set<number>();
  {
    await using file = await life.insist(() => open().catch(() => RegistryFile.create(path, { sync: true })));
    for (let i = 0; i < 4; i++) {
      const oid = file.nextOid;
      const done = await life.attempt(() => file.append([recordOf(oid), recordOf(oid + 1)]));
      if (done === undefined) continue;
      acknowledged.add(oid).add(oid + 1);
      if (i !== 1) continue;
      // After an error, deleted and not deleted are both right.
      acknowledged.delete(oid);
      await life.attempt(() => file.markDeleted(done[0] ?? 0));
    }
    await life.attempt(() => file.compress());
    const oid = file.nextOid;
    await life.insist(() => file.append([recordOf(oid)]));
    acknowledged.add(oid);
  }
  life.control.ok();
  await using file = await open();
  const valid = new Set<number>();
  for await (const { state, record } of file.records()) if (state === 'valid') valid.add(record?.oid ?? 0);
  for (const oid of acknowledged) if (!valid.has(oid)) throw new Error(`record ${oid} is lost`);
}

async function database(life: Life): Promise<void> {
  const path = join(life.directory, 'annotations.gdbm');
  for (let step = 0; step < STEPS; ) {
    using file = await life.insist(async () => DatabaseFile.open(path, { create: true }));
    const next = step + 1;
    const done = await life.attempt(async () => {
      await databaseStep(file, next);
      return next;
    });
    step = checkDatabase(file, done ?? step);
  }
  life.control.ok();
  using file = DatabaseFile.open(path);
  checkDatabase(file, STEPS);
}

const { root, control, options } = programArguments();
const [count = 10] = options.map(Number);
const random = new Random(SEED);
for (const [name, live] of Object.entries({ gatherer, publication, broker, registry, database })) {
  const directory = join(root, name);
  mkdirSync(directory);
  const before = control.count();
  await live(new Life(directory, control));
  const changes = control.count() - before;
  const sentences = new Set<string>();
  const sample = random.sample(changes, count);
  for (const index of sample) {
    const nth = index + 1;
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory);
    control.fail(nth);
    const life = new Life(directory, control);
    try {
      await live(life);
    } catch (error) {
      throw new Error(
        `${name}, full at change ${nth}: ${messageOf(error)} (after: ${life.errors.join('; ')})`,
        { cause: error },
      );
    }
    for (const sentence of life.errors) sentences.add(sentence.replaceAll(root, 'ROOT').replace(/\d+/g, 'N'));
  }
  process.stdout.write(
    `${JSON.stringify({ name, changes, lives: sample.length, sentences: [...sentences] })}\n`,
  );
}
