// The collection of garbage once the clients of a load are gone.
import t from 'tap';
import { IdleCollection } from '../../../servers/host/idle-collection.js';

const MEGABYTE = 1024 * 1024;

/** A process whose memory and load the test sets. */
class FakeProcess {
  resident = 250 * MEGABYTE;
  /** What a collection leaves. */
  inUse = 250 * MEGABYTE;
  busy = 0;
  collections = 0;
  check: (() => void) | undefined;
  readonly collection = new IdleCollection({
    residentBytes: () => this.resident,
    utilization: () => this.busy,
    collect: () => {
      this.collections += 1;
      this.resident = this.inUse;
    },
    repeat: (check) => {
      this.check = check;
      return () => {
        this.check = undefined;
      };
    },
  });
}

t.test('garbage is collected once the process is idle, and again only after another load', async (t) => {
  const fake = new FakeProcess();
  t.equal(fake.check, undefined, 'a process without clients is not looked at');
  fake.collection.used();
  fake.check?.();
  t.equal(fake.collections, 1, 'what the start has left');
  fake.check?.();
  t.equal(fake.check, undefined, 'nothing more to do');

  fake.collection.used();
  fake.resident = 600 * MEGABYTE;
  fake.busy = 0.5;
  fake.check?.();
  t.equal(fake.collections, 1, 'a busy process is not interrupted');
  fake.busy = 0.01;
  fake.check?.();
  t.equal(fake.collections, 2);
  fake.check?.();
  t.equal(fake.collections, 2);
  t.equal(fake.check, undefined);

  fake.collection.used();
  fake.resident += 40 * MEGABYTE;
  fake.check?.();
  t.equal(fake.collections, 2, 'a small growth is not worth a pause');
});

t.test('the process keeps its looks until it has been idle', async (t) => {
  const fake = new FakeProcess();
  fake.collection.used();
  fake.busy = 1;
  for (let i = 0; i < 5; i++) fake.check?.();
  t.ok(fake.check);
  t.equal(fake.collections, 0);
});

t.test('memory that stays in use is not collected again and again', async (t) => {
  const fake = new FakeProcess();
  fake.inUse = 900 * MEGABYTE;
  fake.resident = 900 * MEGABYTE;
  fake.collection.used();
  fake.check?.();
  fake.check?.();
  t.equal(fake.collections, 1);
  // Pages that another thread returns after the collection: the next load is compared with less.
  fake.collection.used();
  fake.resident = 300 * MEGABYTE;
  fake.check?.();
  fake.collection.used();
  fake.resident = 500 * MEGABYTE;
  fake.inUse = 300 * MEGABYTE;
  fake.check?.();
  t.equal(fake.collections, 2);
});
