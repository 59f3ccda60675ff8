// gzip members with every optional field, right or nearly right; several members one after the other.
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import type { Random } from '../../helpers/random.js';
import { splice } from '../mutate.js';

/** One member, or a few. */
export function gzipMember(random: Random): Uint8Array {
  if (random.once(5)) return Buffer.concat(random.list(3, () => Buffer.from(oneMember(random))));
  return oneMember(random);
}

function oneMember(random: Random): Uint8Array {
  const plain = Buffer.alloc(random.below(300), random.pick(['a', '@FILE { u\n}\n', 'xyz']));
  if (random.once(3)) return new Uint8Array(gzipSync(plain));
  const flags = random.next() & 0x1f;
  const parts = [
    Buffer.from([0x1f, 0x8b, random.once(9) ? 7 : 8, random.once(9) ? 0xff : flags, 1, 2, 3, 4, 0, 3]),
  ];
  if ((flags & 4) !== 0) {
    const extra = random.below(9);
    parts.push(Buffer.from([random.once(5) ? 0xff : extra, 0]), Buffer.alloc(extra, 1));
  }
  if ((flags & 8) !== 0) parts.push(Buffer.from('name\0'));
  if ((flags & 16) !== 0) parts.push(Buffer.from('comment\0'));
  if ((flags & 2) !== 0) parts.push(Buffer.from([0, 0]));
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(random.once(4) ? 0 : crc32Of(plain));
  trailer.writeUInt32LE(random.once(4) ? 1 : plain.length, 4);
  parts.push(deflateRawSync(plain), trailer);
  const whole = new Uint8Array(Buffer.concat(parts));
  return random.once(4) ? splice(whole, random.below(whole.length), 1, random.bytes(1)) : whole;
}

const crc32Of = (bytes: Uint8Array): number => crc32(bytes);
