// Zip archives whose members overlap, lie about sizes and names, point outside, or are in each other.
import { crc32, deflateRawSync } from 'node:zlib';
import { zip } from '../archives.js';
import type { Random } from '../random.js';
import { type Bombs, joined, latin1Bytes, once } from './bomb.js';

const MIB = 1024 * 1024;

/** Names that must never lead out of an archive, or break a header or a line. */
export const UNSAFE_NAMES = [
  '../../../../etc/passwd',
  '/etc/passwd',
  'C:\\windows\\x.txt',
  '..\\..\\x.txt',
  'a\0b.txt',
  '\0',
  '',
  '.',
  '..',
  'a/../../b.txt',
  'CON',
  'new\nline.txt',
  '@FILE { http://b/\nURL{5}:\tother',
  '\x1b]0;title\x07.txt',
  '\xff\xfe\xc0\xaf.txt',
  `${'d/'.repeat(30_000)}x.txt`,
  'x'.repeat(65_000),
] as const;

/** One member of {@link rawZip}: every field of its headers may lie. */
interface RawMember {
  readonly name: string;
  readonly data: Uint8Array;
  readonly method: number;
  readonly crc: number;
  readonly size: number;
  readonly flags?: number;
  readonly packed?: number;
  readonly extra?: Uint8Array;
  /** Upper half: the mode of Unix. */
  readonly attributes?: number;
}

function localHeader(member: RawMember): Buffer {
  const { name, data, method, crc, size, flags = 0, packed = data.length, extra = new Uint8Array() } = member;
  const head = Buffer.alloc(30);
  head.write('PK\x03\x04\x14\0', 0, 'latin1');
  head.writeUInt16LE(flags, 6);
  head.writeUInt16LE(method, 8);
  head.writeUInt32LE(crc, 14);
  head.writeUInt32LE(packed, 18);
  head.writeUInt32LE(size, 22);
  head.writeUInt16LE(name.length, 26);
  head.writeUInt16LE(extra.length, 28);
  return Buffer.concat([head, Buffer.from(name, 'latin1'), extra]);
}

function directoryEntry(member: RawMember, offset: number): Buffer {
  const local = localHeader(member);
  const head = Buffer.alloc(46);
  head.write('PK\x01\x02\x14\x03', 0, 'latin1');
  local.copy(head, 6, 4, 30);
  head.writeUInt32LE((member.attributes ?? 0) >>> 0, 38);
  head.writeUInt32LE(offset, 42);
  return Buffer.concat([head, local.subarray(30)]);
}

function zipEnd(count: number, directory: number, offset: number, comment = ''): Buffer {
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(count & 0xffff, 8);
  end.writeUInt16LE(count & 0xffff, 10);
  end.writeUInt32LE(directory >>> 0, 12);
  end.writeUInt32LE(offset >>> 0, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([end, Buffer.from(comment, 'latin1')]);
}

function rawZip(members: readonly RawMember[], comment = ''): Uint8Array {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const member of members) {
    const local = Buffer.concat([localHeader(member), member.data]);
    locals.push(local);
    entries.push(directoryEntry(member, offset));
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  return joined(...locals, directory, zipEnd(members.length, directory.length, offset, comment));
}

function stored(name: string, data: Uint8Array, more: Partial<RawMember> = {}): RawMember {
  return { name, data, method: 0, crc: crc32(data), size: data.length, ...more };
}

/**
 * Members that overlap completely: each quotes the header of the next in a stored block, and all end in the
 * same kernel, so that every size and checksum is right.
 */
function quotedOverlap(count: number, kernelBytes: number): Uint8Array {
  let content: Buffer = Buffer.alloc(kernelBytes, 0x61);
  let packed: Buffer = deflateRawSync(content, { level: 9 });
  const tails: { readonly member: RawMember; readonly length: number }[] = [];
  let whole = packed;
  for (let i = count - 1; i >= 0; i--) {
    const member = { name: `${i}.txt`, data: packed, method: 8, crc: crc32(content), size: content.length };
    const header = localHeader(member);
    tails.unshift({ member, length: header.length + packed.length });
    whole = Buffer.concat([header, packed]);
    const quote = Buffer.alloc(5);
    quote.writeUInt16LE(header.length, 1);
    quote.writeUInt16LE(~header.length & 0xffff, 3);
    packed = Buffer.concat([quote, whole]);
    content = Buffer.concat([header, content]);
  }
  const directory = Buffer.concat(
    tails.map(({ member, length }) => directoryEntry(member, whole.length - length)),
  );
  return joined(whole, directory, zipEnd(count, directory.length, whole.length));
}

/** A zip archive whose zip64 records claim these numbers. */
function zip64(entries: bigint, bytes: bigint, offset: bigint): Uint8Array {
  const record = Buffer.alloc(56);
  record.write('PK\x06\x06', 0, 'latin1');
  record.writeBigUInt64LE(44n, 4);
  for (const [index, value] of [entries, entries, bytes, offset].entries())
    record.writeBigUInt64LE(value, 24 + 8 * index);
  const locator = Buffer.alloc(20);
  locator.write('PK\x06\x07', 0, 'latin1');
  locator.writeUInt32LE(1, 16);
  return joined(record, locator, zipEnd(0xffff, 0xffffffff, 0xffffffff));
}

function deepZip(levels: number, innermost: Uint8Array): Uint8Array {
  let data = innermost;
  for (let i = 0; i < levels; i++) data = new Uint8Array(zip([['a.zip', data]]));
  return data;
}

/** All bombs of zip archives. */
export function zipBombs(random: Random): Bombs {
  const zeros = new Uint8Array((100 + random.below(50)) * MIB);
  const packed = once(() => deflateRawSync(zeros, { level: 9 }));
  const text = latin1Bytes('words\n');
  return {
    'quoted.zip: members that overlap with right checksums': () => quotedOverlap(300, MIB / 4),
    'names.zip: unsafe names': () => rawZip(UNSAFE_NAMES.map((name) => stored(name, text))),
    'links.zip: symbolic links to files of the machine': () =>
      rawZip(
        ['/etc/passwd', '../../etc/passwd', '.'].map((target, i) =>
          stored(`${i}.txt`, latin1Bytes(target), { attributes: 0xa1ff0000 }),
        ),
      ),
    'full.zip: as many members as zip allows': () =>
      rawZip(Array.from({ length: 65_535 }, (_, i) => stored(`${i}.txt`, text))),
    'small.zip: a member that claims ten bytes': () =>
      rawZip([{ name: 'a.txt', data: packed(), method: 8, crc: crc32(zeros), size: 10 }]),
    'stream.zip: sizes that come later': () =>
      rawZip([{ name: 'a.txt', data: packed(), method: 8, crc: 0, size: 0, packed: 0, flags: 8 }]),
    'methods.zip: every method of compression': () =>
      rawZip(Array.from({ length: 100 }, (_, method) => stored(`${method}.txt`, text, { method }))),
    'secret.zip: encrypted members': () =>
      rawZip([stored('a.txt', text, { flags: 1 }), stored('b.txt', text, { flags: 65 })]),
    'extra.zip: extra fields of 64 KiB': () =>
      rawZip(Array.from({ length: 200 }, (_, i) => stored(`${i}`, text, { extra: new Uint8Array(65_535) }))),
    'comment.zip: ends of archives in its comment': () =>
      rawZip([stored('a.txt', text)], 'PK\x05\x06'.repeat(16_000)),
    'sixtyfour.zip: 2 to the power of 63 members': () => zip64(1n << 63n, 1n << 40n, 0n),
    'offset.zip: a directory beyond the file': () => zip64(5n, 100n, (1n << 64n) - 5n),
    'deep.zip: three hundred archives in each other': () => deepZip(300, text),
  };
}
