// The cache of file chunks that concurrent transfers share.
import t from 'tap';
import { ChunkCache, type ChunkSource } from '../../../servers/gatherd/chunk-cache.js';

/** A file in which each byte is the number of its chunk; counts the reads. */
class CountingSource implements ChunkSource {
  reads = 0;
  fail = false;

  constructor(
    readonly chunkBytes: number,
    readonly length: number,
  ) {}

  async read(target: Uint8Array, position: number): Promise<number> {
    this.reads++;
    await new Promise((resolve) => setImmediate(resolve));
    if (this.fail) throw new Error('disk');
    const filled = Math.min(target.length, this.length - position);
    target.fill(position / this.chunkBytes, 0, filled);
    return filled;
  }
}

const firstBytes = (leases: readonly { bytes: Uint8Array }[]) => leases.map(({ bytes }) => bytes[0]);

t.test('concurrent requests for a chunk read it once, and later ones use the cache', async (t) => {
  const cache = new ChunkCache({ chunkBytes: 10, maxBytes: 30 });
  const source = new CountingSource(10, 25);
  const leases = await Promise.all([cache.acquire(source, 1), cache.acquire(source, 1)]);
  t.equal(source.reads, 1);
  for (const { bytes, release } of leases) {
    t.same([...bytes], Array(10).fill(1));
    release();
  }
  const again = await cache.acquire(source, 1);
  t.equal(source.reads, 1);
  again.release();
  const last = await cache.acquire(source, 2);
  t.same([...last.bytes], Array(5).fill(2), 'the last chunk ends with the file');
  last.release();
});

t.test('the memory of a chunk is reused only after its release', async (t) => {
  const cache = new ChunkCache({ chunkBytes: 10, maxBytes: 20 });
  const source = new CountingSource(10, 1000);
  const held = await cache.acquire(source, 7);
  for (let chunk = 20; chunk < 40; chunk++) {
    const lease = await cache.acquire(source, chunk);
    t.same([...lease.bytes], Array(10).fill(chunk));
    lease.release();
  }
  t.same([...held.bytes], Array(10).fill(7));
  const more = await Promise.all([1, 2, 3, 4].map((chunk) => cache.acquire(source, chunk)));
  t.same(firstBytes(more), [1, 2, 3, 4], 'the cache exceeds its limit while all chunks are in use');
  t.same([...held.bytes], Array(10).fill(7));
  for (const { release } of more) release();
  held.release();
  held.release();
  const two = await Promise.all([50, 51].map((chunk) => cache.acquire(source, chunk)));
  t.same(firstBytes(two), [50, 51]);
});

t.test('sources have separate entries; a failed read throws and is not cached', async (t) => {
  const cache = new ChunkCache({ chunkBytes: 4, maxBytes: 40 });
  const one = new CountingSource(4, 100);
  const other = new CountingSource(2, 100);
  const [a, b] = await Promise.all([cache.acquire(one, 3), cache.acquire(other, 3)]);
  t.same([a.bytes[0], b.bytes[0]], [3, 6]);
  a.release();
  b.release();
  one.fail = true;
  await t.rejects(cache.acquire(one, 5), { message: 'disk' });
  one.fail = false;
  const lease = await cache.acquire(one, 5);
  t.equal(lease.bytes[0], 5);
});
