import { bufferOf } from '../ascii.js';
import { ProtocolError } from '../errors.js';
import {
  bytesOfUrl,
  decodeText,
  encodeSoif,
  escapeBlanks,
  type SoifIdentity,
  SoifObject,
  type SoifValue,
  urlOfBytes,
} from '../soif/index.js';
import type { UnixSeconds } from '../time.js';
import { isDigestPrefix, MAX_PREFIX } from './request.js';

/**
 * Digests of sets of objects: two Brokers find their differences without sending what they have in common. An
 * extension of this kit to Part B (BP-31), carried by STATS ("asked for by other means": BP-21, BP-24):
 *
 *     #BULK #interface 2 #digest PREFIX #END #ALLB
 *
 * PREFIX is 0 to 16 lower-case hex digits, `-` when empty: it selects the objects whose digest begins with it.
 * The reply has an empty Body and one SOIF object `@DIGEST { PREFIX` with `Count`, `Digest` (hex) and either
 * `Buckets`, 16 lines `H COUNT DIGEST` for the prefix with one more digit, or, where there are at most 256
 * objects, `Identities`, one line `DIGEST UPDATE-TIME URL` for each object.
 */

/** Bytes of a digest. */
export const DIGEST_BYTES = 16;

/** Up to this many objects are listed one by one. */
export const MAX_LEAF_OBJECTS = 256;

/** SHA-256. The caller supplies it, because protocols import no crypto. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array;

/**
 * The digest of one object's identity (REG-42): the first 16 bytes of SHA-256 over Gatherer-Name,
 * Gatherer-Host, Gatherer-Version, Update-Time (decimal), URL and MD5 (lower case, empty if absent), the URL as
 * its bytes and the others in UTF-8, each after its length as a 4-byte number.
 */
export function digestOfIdentity(identity: SoifIdentity, sha256: Sha256): Uint8Array {
  const { gathererName, gathererHost, gathererVersion, updateTime, url, md5 = '' } = identity;
  const before = [gathererName, gathererHost, gathererVersion, String(updateTime)];
  const parts = [...before, bytesOfUrl(url), md5.toLowerCase()];
  const lengths = parts.map((part) => (typeof part === 'string' ? Buffer.byteLength(part) : part.length));
  const bytes = Buffer.alloc(lengths.reduce((sum, length) => sum + 4 + length, 0));
  let offset = 0;
  parts.forEach((part, i) => {
    offset = bytes.writeUInt32BE(lengths[i]!, offset);
    if (typeof part === 'string') bytes.write(part, offset);
    else bytes.set(part, offset);
    offset += lengths[i]!;
  });
  return sha256(bytes).subarray(0, DIGEST_BYTES);
}

/**
 * The digest of a set: the XOR of its members' digests, and their number. XOR both adds and removes a member.
 */
export class SetDigest {
  readonly #bytes = new Uint8Array(DIGEST_BYTES);
  count = 0;

  add(digest: Uint8Array): void {
    this.#combine(digest, 1);
  }

  remove(digest: Uint8Array): void {
    this.#combine(digest, -1);
  }

  /** Adds the members of another, disjoint set. */
  addSet(other: SetDigest): void {
    this.#combine(other.#bytes, other.count);
  }

  /** The digest in hex. */
  get hex(): string {
    return hexOf(this.#bytes);
  }

  #combine(digest: Uint8Array, count: number): void {
    for (let i = 0; i < DIGEST_BYTES; i++) this.#bytes[i]! ^= digest[i]!;
    this.count += count;
  }
}

/** Bytes as lower-case hex digits. */
export function hexOf(bytes: Uint8Array): string {
  return bufferOf(bytes).toString('hex');
}

/** One object of a leaf. */
export interface DigestIdentity {
  /** 32 hex digits. */
  readonly digest: string;
  readonly updateTime: UnixSeconds;
  /** One character a byte. */
  readonly url: string;
}

/** The set below a prefix with one more digit: 16 of them, in the order of the digits. */
export interface DigestBucket {
  readonly count: number;
  /** 32 hex digits. */
  readonly digest: string;
}

/** A Broker's report on the objects below a prefix. It has either `buckets` or `identities`. */
export interface DigestReport {
  readonly prefix: string;
  readonly count: number;
  /** 32 hex digits. */
  readonly digest: string;
  readonly buckets?: readonly DigestBucket[];
  readonly identities?: readonly DigestIdentity[];
}

const NO_PREFIX = '-';

/**
 * Encodes a report as SOIF text, for STATS. @throws RangeError for an invalid prefix, or when there are not 16
 * buckets
 */
export function encodeDigest(report: DigestReport): Uint8Array {
  const { prefix, count, digest, buckets, identities } = report;
  if (!isDigestPrefix(prefix)) throw new RangeError(`not a prefix of a digest: ${prefix}`);
  const attributes: [string, SoifValue][] = [
    ['Count', String(count)],
    ['Digest', digest],
  ];
  if (buckets !== undefined) {
    if (buckets.length !== 16) throw new RangeError(`a prefix has 16 buckets, not ${buckets.length}`);
    const lines = buckets.map((bucket, i) => `${i.toString(16)} ${bucket.count} ${bucket.digest}`);
    attributes.push(['Buckets', lines.join('\n')]);
  }
  if (identities !== undefined) {
    const lines = identities.map((each) => `${each.digest} ${each.updateTime} ${escapeBlanks(each.url)}`);
    attributes.push(['Identities', bytesOfUrl(lines.join('\n'))]);
  }
  return encodeSoif(SoifObject.of('DIGEST', prefix === '' ? NO_PREFIX : prefix, attributes));
}

/** Decodes the object of STATS. @throws ProtocolError BP-31 when it is not a report */
export function decodeDigest(object: SoifObject): DigestReport {
  const prefix = object.url === NO_PREFIX ? '' : object.url;
  const count = object.number('Count');
  const digest = object.text('Digest')?.trim();
  if (object.type.toUpperCase() !== 'DIGEST' || !isDigestPrefix(prefix))
    throw malformed('it is not a @DIGEST');
  if (count === undefined || digest === undefined || !HEX.test(digest)) {
    throw malformed('Count or Digest is missing');
  }
  const common = { prefix, count, digest };
  const buckets = object.get('Buckets');
  if (buckets !== undefined) {
    if (prefix.length === MAX_PREFIX) throw malformed('a prefix of full length has no buckets');
    return { ...common, buckets: readBuckets(decodeText(buckets), count) };
  }
  return {
    ...common,
    identities: readIdentities(urlOfBytes(object.get('Identities') ?? new Uint8Array(0)), prefix, count),
  };
}

const HEX = /^[\da-f]{32}$/;

function readBuckets(text: string, count: number): DigestBucket[] {
  const buckets = text.split('\n').map((line, i): DigestBucket => {
    const match = /^([\da-f]) (\d{1,15}) ([\da-f]{32})$/.exec(line);
    if (match === null || match[1] !== i.toString(16)) throw malformed(`line ${i + 1} of Buckets`);
    return { count: Number(match[2]), digest: match[3]! };
  });
  const sum = buckets.reduce((total, bucket) => total + bucket.count, 0);
  if (buckets.length !== 16 || sum !== count) throw malformed('the Buckets do not add up to Count');
  return buckets;
}

function readIdentities(text: string, prefix: string, count: number): DigestIdentity[] {
  const lines = text === '' ? [] : text.split('\n');
  if (lines.length !== count) throw malformed(`${lines.length} Identities instead of ${count}`);
  return lines.map((line, i) => {
    const match = /^([\da-f]{32}) (\d{1,15}) ([^\t-\r ]+)$/.exec(line);
    if (match === null || !line.startsWith(prefix)) throw malformed(`line ${i + 1} of Identities`);
    return { digest: match[1]!, updateTime: Number(match[2]), url: match[3]! };
  });
}

function malformed(problem: string): ProtocolError {
  return new ProtocolError(`the digest cannot be read: ${problem}`, {
    protocol: 'bulk',
    rule: 'BP-31',
    offset: 0,
  });
}
