// Finds the differences between the objects of two Brokers.

import { createHash } from 'node:crypto';
import { sortedIndexOf } from '../../protocols/binary-search.js';
import {
  CHANGE_KINDS,
  type DigestIdentity,
  type DigestReport,
  digestOfIdentity,
  hexOf,
  SetDigest,
  type Sha256,
} from '../../protocols/bulk/index.js';
import { ConnectionError, KitError } from '../../protocols/errors.js';
import { identityOf } from '../../protocols/soif/index.js';
import {
  ABORT_OPTIONS,
  type Check,
  checkArgument,
  checkOptions,
  optional,
  whole,
} from '../connection/arguments.js';
import type { AbortOptions } from '../connection/index.js';
import { BulkClient } from './client.js';

export interface CompareOptions extends AbortOptions {
  /** Differences to list, both sides together. Default 1000. The comparison stops when they are found. */
  readonly maxDifferences?: number;
}

/** The differences of two Brokers. An object that changed is in both lists, with its two identities. */
export interface BrokerDifference {
  readonly equal: boolean;
  readonly onlyA: readonly DigestIdentity[];
  readonly onlyB: readonly DigestIdentity[];
  /** Whether there may be more differences than are listed. */
  readonly truncated: boolean;
  /** Number of objects in each. */
  readonly objects: { readonly a: number; readonly b: number };
  /** Bytes received from both. */
  readonly bytes: number;
  /** By digests, or by two complete transfers because one Broker does not know digests. */
  readonly method: 'digests' | 'transfer';
}

const DEFAULT_MAX_DIFFERENCES = 1000;

const isClient: Check = (value, name) =>
  value instanceof BulkClient ? undefined : `${name} must be a BulkClient`;

/**
 * Compares two Brokers. Brokers of this kit report digests; the comparison goes from the whole down into the
 * prefixes that differ, which costs a few kilobytes per difference. If one Broker does not know digests, both
 * are read completely, with 8 bytes of memory per object. Changes during the comparison may appear as
 * differences.
 * @throws ConnectionError, PeerError, ProtocolError; the signal's reason; UsageError for wrong arguments
 */
export async function compareBrokers(
  a: BulkClient,
  b: BulkClient,
  options: CompareOptions = {},
): Promise<BrokerDifference> {
  checkArgument('the first Broker', a, isClient);
  checkArgument('the second Broker', b, isClient);
  checkOptions('compareBrokers', options, { ...ABORT_OPTIONS, maxDifferences: optional(whole(0)) });
  const before = a.bytesReceived + b.bytesReceived;
  const { maxDifferences = DEFAULT_MAX_DIFFERENCES, ...requestOptions } = options;
  const found = new Differences(maxDifferences);
  const [rootA, rootB] = await Promise.all([
    requestDigest(a, '', requestOptions),
    requestDigest(b, '', requestOptions),
  ]);
  const byDigests = rootA !== undefined && rootB !== undefined;
  const objects = byDigests
    ? { a: rootA.count, b: rootB.count }
    : await compareTransfers(a, b, found, requestOptions);
  if (byDigests) await new DigestWalk(a, b, found, requestOptions).compare(rootA, rootB);
  return {
    equal: found.equal,
    onlyA: found.onlyA,
    onlyB: found.onlyB,
    truncated: found.full,
    objects,
    bytes: a.bytesReceived + b.bytesReceived - before,
    method: byDigests ? 'digests' : 'transfer',
  };
}

/** The differences found so far. */
class Differences {
  readonly onlyA: DigestIdentity[] = [];
  readonly onlyB: DigestIdentity[] = [];
  /** Whether a difference was found that is not listed. */
  full = false;
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get equal(): boolean {
    return !this.full && this.onlyA.length + this.onlyB.length === 0;
  }

  add(side: 'a' | 'b', identity: DigestIdentity): void {
    if (this.onlyA.length + this.onlyB.length >= this.#max) this.full = true;
    else (side === 'a' ? this.onlyA : this.onlyB).push(identity);
  }
}

/** One side below a prefix: a Broker's report, or its objects if a shorter prefix listed them. */
type Side = Pick<DigestReport, 'count' | 'digest' | 'buckets' | 'identities'>;

/** Compares two Brokers by their digests, from the empty prefix down into the prefixes that differ. */
class DigestWalk {
  readonly #clients: readonly [BulkClient, BulkClient];
  readonly #found: Differences;
  readonly #options: AbortOptions;

  constructor(a: BulkClient, b: BulkClient, found: Differences, options: AbortOptions) {
    this.#clients = [a, b];
    this.#found = found;
    this.#options = options;
  }

  compare(a: DigestReport, b: DigestReport): Promise<void> {
    return this.#compare('', a, b);
  }

  async #compare(prefix: string, a: Side, b: Side): Promise<void> {
    if (this.#found.full || (a.count === b.count && a.digest === b.digest)) return;
    if (a.buckets === undefined && b.buckets === undefined) {
      this.#compareLists(a.identities ?? [], b.identities ?? []);
      return;
    }
    for (let digit = 0; digit < 16; digit++) {
      const below = prefix + digit.toString(16);
      const [childA, childB] = [childOf(a, digit, below), childOf(b, digit, below)];
      if (childA.count === childB.count && childA.digest === childB.digest) continue;
      const [fullA, fullB] = await Promise.all([
        this.#fetchSide(0, childA, below),
        this.#fetchSide(1, childB, below),
      ]);
      await this.#compare(below, fullA, fullB);
      if (this.#found.full) return;
    }
  }

  /** Requests a Broker's report about a prefix of which only the sum is known. */
  async #fetchSide(client: 0 | 1, side: Side, prefix: string): Promise<Side> {
    if (side.identities !== undefined) return side;
    if (side.count === 0) return { ...side, identities: [] };
    const report = await requestDigest(this.#clients[client], prefix, this.#options);
    if (report !== undefined) return report;
    throw new ConnectionError('a Broker that reported digests no longer does');
  }

  #compareLists(a: readonly DigestIdentity[], b: readonly DigestIdentity[]): void {
    const [inA, inB] = [new Set(a.map(({ digest }) => digest)), new Set(b.map(({ digest }) => digest))];
    for (const identity of a) if (!inB.has(identity.digest)) this.#found.add('a', identity);
    for (const identity of b) if (!inA.has(identity.digest)) this.#found.add('b', identity);
  }
}

/** Returns one side below a prefix that is one digit longer. */
function childOf(side: Side, digit: number, prefix: string): Side {
  if (side.buckets !== undefined) return side.buckets[digit]!;
  const identities = (side.identities ?? []).filter(({ digest }) => digest.startsWith(prefix));
  const sum = new SetDigest();
  for (const { digest } of identities) sum.add(Buffer.from(digest, 'hex'));
  return { count: identities.length, digest: sum.hex, identities };
}

const sha256: Sha256 = (bytes) => createHash('sha256').update(bytes).digest();

/**
 * Reads both Brokers. Only the keys of A are kept, so A is read again for the URLs of objects that only A has.
 */
async function compareTransfers(
  a: BulkClient,
  b: BulkClient,
  found: Differences,
  options: AbortOptions,
): Promise<{ a: number; b: number }> {
  const inA = new KeyList();
  for await (const { digest } of receiveIdentities(a, options)) inA.add(keyOf(digest));
  const keys = inA.sorted();
  const seen = new Uint8Array(keys.length);
  let count = 0;
  for await (const identity of receiveIdentities(b, options)) {
    count++;
    const index = sortedIndexOf(keys, keyOf(identity.digest));
    if (index < 0) found.add('b', identity);
    else seen[index] = 1;
  }
  if (seen.includes(0)) {
    for await (const identity of receiveIdentities(a, options)) {
      const index = sortedIndexOf(keys, keyOf(identity.digest));
      if (index < 0 || seen[index] === 1) continue;
      found.add('a', identity);
      seen[index] = 1;
      if (found.full) break;
    }
  }
  return { a: keys.length, b: count };
}

/**
 * The identities of all objects of a Broker. Objects without one are left out, as every receiver does (BT-24).
 */
async function* receiveIdentities(client: BulkClient, options: AbortOptions): AsyncGenerator<DigestIdentity> {
  const changes = client.changes({ since: 0, ...options })[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await changes.next().catch((error: unknown) => {
        throw withBrokerName(client, error);
      });
      if (next.done === true) return;
      const { kind, object } = next.value;
      if (kind === DELETED) continue;
      const identity = identityOf(object);
      if (identity === undefined) continue;
      const { updateTime, url } = identity;
      yield { digest: hexOf(digestOfIdentity(identity, sha256)), updateTime, url };
    }
  } finally {
    await changes.return(undefined);
  }
}

async function requestDigest(
  client: BulkClient,
  prefix: string,
  options: AbortOptions,
): Promise<DigestReport | undefined> {
  try {
    return await client.digest(prefix, options);
  } catch (error) {
    throw withBrokerName(client, error);
  }
}

/** Adds to an error which of the two Brokers it is about. */
function withBrokerName({ host, port }: BulkClient, error: unknown): unknown {
  const address = `${host}:${port}`;
  if (error instanceof KitError && !error.message.includes(address)) {
    error.message = `broker at ${address}: ${error.message}`;
  }
  return error;
}

const [DELETED] = CHANGE_KINDS;

/**
 * The first 8 bytes of a digest: among a million objects the chance of a collision is below one in ten million.
 */
function keyOf(digest: string): bigint {
  return BigInt(`0x${digest.slice(0, 16)}`);
}

/** A growing list of keys of 8 bytes. */
class KeyList {
  #keys = new BigUint64Array(1024);
  #length = 0;

  add(key: bigint): void {
    if (this.#length === this.#keys.length) {
      const grown = new BigUint64Array(2 * this.#length);
      grown.set(this.#keys);
      this.#keys = grown;
    }
    this.#keys[this.#length++] = key;
  }

  sorted(): BigUint64Array {
    return this.#keys.subarray(0, this.#length).sort();
  }
}
