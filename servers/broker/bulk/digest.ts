// Digests of the stored objects, by which two Brokers compare themselves.
import { createHash } from 'node:crypto';
import {
  type DigestIdentity,
  type DigestReport,
  digestOfIdentity,
  hexOf,
  MAX_LEAF_OBJECTS,
  MAX_PREFIX,
  SetDigest,
} from '../../../protocols/bulk/index.js';
import { hasExpired, lastValidSecond } from '../../../protocols/soif/index.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import type { BrokerStore, RegistryEntry } from '../../../storage/index.js';
import { threadShare } from '../../host/fair-share.js';
import { walkEntries } from '../walk-entries.js';

/** Hex digits that select a bucket: 65 536 buckets. */
const DIGITS = 4;
const BUCKETS = 16 ** DIGITS;
/** Buckets below a node of the tree of sums. */
const CHILDREN = 16;
/** Entries of a leaf that are read together, a quarter of a millisecond of work, and the cost of each. */
const PAGE_ENTRIES = 32;
const ENTRY_COST_MS = 0.008;
/** Buckets that are summed up, or OIDs that are sorted, in a turn, and the cost of each. */
const STEP_BUCKETS = 4096;
const STEP_OIDS = 16_384;
const STEP_COST_MS = 0.2;
/** Seconds for which a snapshot is used although objects have expired since. */
const MAX_AGE_SECONDS = 60;

/** The result of a walk over the store. */
interface DigestSnapshot {
  readonly sequence: number;
  /** Objects that had expired at this time are left out, as in a transfer (REG-48). */
  readonly takenAt: UnixSeconds;
  /** The last second at which all other objects are valid. */
  readonly validUntil: UnixSeconds;
  /** By length of the prefix, 0 to {@link DIGITS}: the sums of the objects below each prefix. */
  readonly sums: readonly (readonly (SetDigest | undefined)[])[];
  /** OIDs by bucket. */
  readonly oids: Uint32Array;
  /** Index of each bucket's first OID; one more entry has the end of the last bucket. */
  readonly starts: Uint32Array;
}

/**
 * Digests of the objects of a store, for `#digest` (protocols/bulk/digest.ts). A request costs a walk over the
 * entries if the store has changed or objects have expired since the last one. The snapshot takes six bytes of
 * memory per object; leaves are read on request.
 */
export class DigestCache {
  readonly #store: BrokerStore;
  readonly #now: () => UnixSeconds;
  #snapshot: DigestSnapshot | undefined;
  #running: Promise<DigestSnapshot> | undefined;

  constructor(store: BrokerStore, now: () => UnixSeconds) {
    this.#store = store;
    this.#now = now;
  }

  /** Reports the objects below a prefix of hex digits. */
  async report(prefix: string, signal: AbortSignal): Promise<DigestReport> {
    const snapshot = await this.#current();
    signal.throwIfAborted();
    const [from, to] = bucketsOf(prefix);
    if (prefix.length >= DIGITS) return this.#below(prefix, snapshot, from, to);
    const whole = sumOf(snapshot, prefix.length, from);
    if (whole.count <= MAX_LEAF_OBJECTS) return this.#below(prefix, snapshot, from, to);
    const step = (to - from) / CHILDREN;
    const children = Array.from({ length: CHILDREN }, (_, i) =>
      sumOf(snapshot, prefix.length + 1, from + i * step),
    );
    return {
      prefix,
      count: whole.count,
      digest: whole.hex,
      buckets: children.map(({ count, hex }) => ({ count, digest: hex })),
    };
  }

  /** Reads the objects of some buckets and reports those below the prefix. */
  async #below(prefix: string, snapshot: DigestSnapshot, from: number, to: number): Promise<DigestReport> {
    const oids = snapshot.oids.subarray(snapshot.starts[from], snapshot.starts[to]);
    const share = threadShare.join();
    const whole = new SetDigest();
    const children = Array.from({ length: CHILDREN }, () => new SetDigest());
    const identities: DigestIdentity[] = [];
    for (let at = 0; at < oids.length; at += PAGE_ENTRIES) {
      if (!share.mayContinue()) await share.turn();
      share.charge(PAGE_ENTRIES * ENTRY_COST_MS);
      for (const entry of await this.#store.entries.getMany([...oids.subarray(at, at + PAGE_ENTRIES)])) {
        if (entry === undefined || hasExpired(entry, snapshot.takenAt)) continue;
        const digest = digestOf(entry);
        const hex = hexOf(digest);
        if (!hex.startsWith(prefix)) continue;
        whole.add(digest);
        if (prefix.length < MAX_PREFIX) children[Number.parseInt(hex.charAt(prefix.length), 16)]?.add(digest);
        if (identities.length <= MAX_LEAF_OBJECTS) {
          identities.push({ digest: hex, updateTime: entry.updateTime, url: entry.url });
        }
      }
    }
    const common = { prefix, count: whole.count, digest: whole.hex };
    if (whole.count > MAX_LEAF_OBJECTS && prefix.length < MAX_PREFIX) {
      return { ...common, buckets: children.map(({ count, hex }) => ({ count, digest: hex })) };
    }
    identities.sort((a, b) => (a.digest < b.digest ? -1 : 1));
    return { ...common, identities };
  }

  /** The current snapshot. Concurrent callers share a walk. */
  async #current(): Promise<DigestSnapshot> {
    for (;;) {
      const { lastSequence } = this.#store;
      const now = this.#now();
      if (this.#snapshot?.sequence === lastSequence && !isOutdated(this.#snapshot, now))
        return this.#snapshot;
      this.#running ??= takeSnapshot(this.#store, now).finally(() => {
        this.#running = undefined;
      });
      const found = await this.#running;
      this.#snapshot = found;
      // A walk during which the store changed is accepted: during a collection every walk is like that.
      if (found.sequence >= lastSequence) return found;
    }
  }
}

/**
 * Whether objects have expired since. The minimum age prevents a walk for each of many objects that expire one
 * by one. After the clock was set back, objects that had expired are valid again.
 */
function isOutdated({ takenAt, validUntil }: DigestSnapshot, now: UnixSeconds): boolean {
  return now < takenAt || (now > validUntil && now - takenAt >= MAX_AGE_SECONDS);
}

async function takeSnapshot(store: BrokerStore, takenAt: UnixSeconds): Promise<DigestSnapshot> {
  const sequence = store.lastSequence;
  const sets: (SetDigest | undefined)[] = Array.from({ length: BUCKETS });
  const starts = new Uint32Array(BUCKETS + 1);
  let oids = new Uint32Array(1024);
  let buckets = new Uint16Array(1024);
  let count = 0;
  let validUntil = Number.POSITIVE_INFINITY;
  for await (const page of walkEntries(store)) {
    for (const entry of page) {
      if (hasExpired(entry, takenAt)) continue;
      validUntil = Math.min(validUntil, lastValidSecond(entry));
      const digest = digestOf(entry);
      const bucket = ((digest[0] ?? 0) << 8) | (digest[1] ?? 0);
      const set = sets[bucket] ?? new SetDigest();
      set.add(digest);
      sets[bucket] = set;
      if (count === oids.length) {
        oids = copyInto(new Uint32Array(count * 2), oids);
        buckets = copyInto(new Uint16Array(count * 2), buckets);
      }
      oids[count] = entry.oid;
      buckets[count] = bucket;
      count += 1;
      starts[bucket + 1] = (starts[bucket + 1] ?? 0) + 1;
    }
  }
  const share = threadShare.join();
  const turn = async (): Promise<void> => {
    if (!share.mayContinue()) await share.turn();
    share.charge(STEP_COST_MS);
  };
  await turn();
  for (let i = 1; i <= BUCKETS; i++) starts[i] = (starts[i] ?? 0) + (starts[i - 1] ?? 0);
  const next = starts.slice();
  const sorted = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    if (i % STEP_OIDS === 0) await turn();
    const bucket = buckets[i] ?? 0;
    const index = next[bucket] ?? 0;
    sorted[index] = oids[i] ?? 0;
    next[bucket] = index + 1;
  }
  const sums = [sets];
  while (sums.length <= DIGITS) sums.unshift(await sumsAbove(sums[0] ?? [], turn));
  return { sequence, takenAt, validUntil, sums, oids: sorted, starts };
}

/** The sums of prefixes that are a digit shorter. */
async function sumsAbove(
  below: readonly (SetDigest | undefined)[],
  turn: () => Promise<void>,
): Promise<(SetDigest | undefined)[]> {
  const above: (SetDigest | undefined)[] = Array.from({ length: below.length / CHILDREN });
  for (const [i, set] of below.entries()) {
    if (i % STEP_BUCKETS === 0) await turn();
    if (set === undefined) continue;
    const at = Math.floor(i / CHILDREN);
    const whole = above[at] ?? new SetDigest();
    whole.addSet(set);
    above[at] = whole;
  }
  return above;
}

function copyInto<T extends Uint32Array | Uint16Array>(larger: T, old: T): T {
  larger.set(old);
  return larger;
}

/** The sum below the prefix of some digits whose first bucket this is. */
function sumOf({ sums }: DigestSnapshot, digits: number, firstBucket: number): SetDigest {
  return sums[digits]?.[firstBucket / CHILDREN ** (DIGITS - digits)] ?? new SetDigest();
}

/** Returns the range of buckets whose digests begin with the prefix. */
function bucketsOf(prefix: string): readonly [from: number, to: number] {
  const head = prefix.slice(0, DIGITS);
  const first = head === '' ? 0 : Number.parseInt(head, 16);
  const width = 16 ** (DIGITS - head.length);
  return [first * width, (first + 1) * width];
}

function digestOf(entry: RegistryEntry): Uint8Array {
  return digestOfIdentity(entry, (bytes) => createHash('sha256').update(bytes).digest());
}
