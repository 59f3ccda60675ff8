// Compressed files and archives that claim or contain far more than their size.
import { brotliCompressSync, crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { cpio, mail, zip } from '../archives.js';
import type { Random } from '../random.js';
import { type Bomb, bombsOf, joined, latin1Bytes, once } from './bomb.js';

const MIB = 1024 * 1024;

/** A Zstandard frame with this window descriptor or content size, and run-length blocks. */
function zstd(header: readonly number[], blocks: number): Uint8Array {
  // A block of 128 KiB of one byte: size and type in three bytes, then the byte.
  const block = (last: number): number[] => {
    const word = last | (1 << 1) | ((128 * 1024) << 3);
    return [word & 255, (word >> 8) & 255, (word >> 16) & 255, 0x61];
  };
  return Uint8Array.from([
    0x28,
    0xb5,
    0x2f,
    0xfd,
    ...header,
    ...Array.from({ length: blocks }, (_, index) => block(index === blocks - 1 ? 1 : 0)).flat(),
  ]);
}

/** The header of an .xz file with a dictionary of this size code, and garbage. */
function xz(dictionary: number): Uint8Array {
  const head = Uint8Array.from([2, 0, 0x21, 1, dictionary, 0, 0, 0]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(crc32(head));
  return joined('\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4\x46', head, sum, '\x01\0\0a\0\0\0\0');
}

function tarHeader(name: string, size: string, type: string): Uint8Array {
  const header = Buffer.alloc(512);
  header.write(name, 0, 'latin1');
  header.write('0000644\0', 100, 'latin1');
  header.write(size, 124, 'latin1');
  header.write('        ', 148, 'latin1');
  header.write(type, 156, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  header.write(
    `${header
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
    'latin1',
  );
  return new Uint8Array(header);
}

/** A zip archive whose central directory lies about one member. */
function lyingZip(change: (archive: Buffer, directory: number, end: number) => void): Uint8Array {
  const archive = Buffer.from(zip([['a.txt', new Uint8Array(100).fill(0x61)]]));
  change(archive, archive.indexOf('PK\x01\x02', 0, 'latin1'), archive.length - 22);
  return new Uint8Array(archive);
}

function nested(levels: number, width: number, innermost: Uint8Array): Uint8Array {
  let body = zip([['zeros.txt', innermost]]);
  for (let i = 0; i < levels; i++) {
    const inner = body;
    body = zip(Array.from({ length: width }, (_, n) => [`${n}.zip`, inner] as const));
  }
  return new Uint8Array(body);
}

/** Mail parts inside mail parts. */
function deepMail(levels: number): Uint8Array {
  const open = Array.from(
    { length: levels },
    (_, i) => `Content-Type: multipart/mixed; boundary="b${i}"\n\n--b${i}\n`,
  );
  return latin1Bytes(
    `From: a@b\nSubject: x\nMIME-Version: 1.0\n${open.join('')}Content-Type: text/plain\n\nx\n`,
  );
}

/** All bombs of compressed files and archives. */
export function packedBombs(random: Random): Bomb[] {
  const zeros = new Uint8Array((200 + random.below(50)) * MIB);
  const gz = once(() => gzipSync(zeros, { level: 9 }));
  return bombsOf({
    'x.zst: a window of 1.9 GB': () =>
      Uint8Array.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa7, 1, 0, 0, 0, 0, 0, 0, 0]),
    'w.zst: a window of 129 MB or more': () =>
      zstd([0x00, ((17 + random.below(4)) << 3) | (1 + random.below(7))], 50),
    'c.zst: one segment of 2 GB': () =>
      Uint8Array.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0xff, 0xff, 0xff, 0x7f, 1, 0, 0]),
    'l.zst: one segment of 2 to the power of 60': () =>
      Uint8Array.from([0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 0, 0, 16, 1, 0, 0]),
    'r.zst: runs of 128 KiB in four bytes': () => zstd([0x00, 0x58], 20_000),
    's.zst: a window of 1.9 GB after a frame and a frame to skip': () =>
      joined(
        zstd([0x00, 0x58], 2),
        '\x50\x2a\x4d\x18\x04\x00\x00\x00abcd',
        Uint8Array.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa7, 1, 0, 0]),
      ),
    'm.zst: windows of 128 MB, a thousand frames': () =>
      joined(...Array.from({ length: 1000 }, () => zstd([0x00, 17 << 3], 1))),
    'x.xz: a dictionary of 4 GB': () => xz(40),
    'y.xz: a dictionary of 1.5 GB': () => xz(37),
    'x.gz: zeros, once': () => new Uint8Array(gz()),
    'y.gz: zeros, three times': () => new Uint8Array(gzipSync(gzipSync(gz()))),
    'z.gz: ten thousand members': () =>
      joined(...Array.from({ length: 10_000 }, () => gzipSync(new Uint8Array(2000)))),
    't.tar.gz: a tar file of zeros': () => new Uint8Array(gz()),
    'x.gz: a file name of a megabyte in the header': () =>
      joined('\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x03', new Uint8Array(MIB).fill(0x61)),
    'x.Z: codes that grow by one byte each': () => joined('\x1f\x9d\x90', new Uint8Array(MIB).fill(0xff)),
    'y.Z: random codes': () => joined('\x1f\x9d\x90', random.bytes(200_000)),
    'x.bz2: no block after the header': () => joined('BZh9', random.bytes(100_000)),
    '42.zip: archives in archives': () => nested(4, 16, new Uint8Array(8 * MIB)),
    's.zip: a member that claims 4 GB': () =>
      lyingZip((archive, directory) => archive.writeUInt32LE(0xfffffff0, directory + 24)),
    'z.zip: zip64 sizes': () =>
      lyingZip((archive, directory) => {
        archive.writeUInt32LE(0xffffffff, directory + 24);
        archive.writeUInt32LE(0xffffffff, directory + 20);
      }),
    'e.zip: a directory of 65535 entries that are not there': () =>
      lyingZip((archive, _directory, end) => archive.writeUInt16LE(65535, end + 10)),
    'o.zip: a directory that begins in itself': () =>
      lyingZip((archive, directory, end) => archive.writeUInt32LE(directory + 1, end + 16)),
    'n.zip: a hundred thousand empty members': () =>
      zip(Array.from({ length: 60_000 }, (_, i) => [`${i}`, new Uint8Array()] as const)),
    'x.tar: a member of 8 GB': () => joined(tarHeader('a.txt', '77777777777\0', '0'), new Uint8Array(1024)),
    'y.tar: a long name of 8 GB': () =>
      joined(tarHeader('././@LongLink', '77777777777\0', 'L'), new Uint8Array(2048).fill(0x61)),
    'z.tar: extended headers of 1 GB': () =>
      joined(tarHeader('pax', '07777777777\0', 'x'), new Uint8Array(4096).fill(0x31)),
    's.tar: a sparse member': () =>
      joined(tarHeader('a.txt', '00000001000\0', 'S'), new Uint8Array(512).fill(0x37), new Uint8Array(1024)),
    'g.tar: extended headers in a row': () =>
      joined(
        ...Array.from({ length: 5000 }, () =>
          joined(tarHeader('pax', '00000001000\0', 'x'), `511 path=${'a'.repeat(501)}\n`),
        ),
      ),
    'b.tar: a size of base 256': () => [
      tarHeader('a.txt', '\x80\x7f\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff', '0'),
      new Uint8Array(1024),
    ],
    'x.cpio: a name of 4 GB': () => ['070701', '0'.repeat(80), 'ffffffff', '00000000', new Uint8Array(1000)],
    'y.cpio: fifty thousand members': () =>
      cpio(Array.from({ length: 50_000 }, (_, i) => [`${i}`, new Uint8Array()] as const)),
    'x.deb: a member of 9 GB': () =>
      joined('!<arch>\n', 'debian-binary   0           0     0     100644  9999999999`\n', '2.0\n'),
    'x.hqx: runs of 255 bytes': () =>
      joined('(This file must be converted with BinHex 4.0)\n\n:', 'r'.repeat(300_000), ':'),
    'x.uu: ten thousand files': () => latin1Bytes('begin 644 a.txt\n#0V%T\n`\nend\n'.repeat(20_000)),
    'x.shar: ten thousand files without an end': () =>
      latin1Bytes(`#!/bin/sh\n# This is a shell archive\n${"cat > a.txt << 'E'\nx\n".repeat(50_000)}`),
    'x.eml: parts in parts, ten thousand deep': () => deepMail(10_000),
    'y.eml: a hundred thousand parts': () =>
      joined(
        'From: a@b\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n',
        '--b\nContent-Type: text/plain; name=a.txt\n\nx\n'.repeat(100_000),
      ),
    'z.eml: a header of a megabyte of encoded words': () =>
      joined('From: a@b\nSubject: ', '=?utf-8?q?=41?= '.repeat(70_000), '\n\nx'),
    'h.eml: a hundred thousand headers': () => joined('From: a@b\n', 'X-A: b\n'.repeat(200_000), '\nx'),
    'a.eml: a million addresses': () => ['From: a@b\nTo: ', 'a <b@c>, '.repeat(150_000), '\nSubject: x\n\nx'],
    'q.eml: comments in comments in an address': () => ['From: ', '('.repeat(200_000), '\nSubject: x\n\nx'],
    'g.eml: a mail with a gzip bomb': () => mail([['a.gz', new Uint8Array(gz())]]),
    'p.eml: parameters of a content type without end': () => [
      'From: a@b\nContent-Type: multipart/mixed',
      '; a*0="b"'.repeat(100_000),
      '; boundary=b\n\n--b\n\nx',
    ],
    'm.mbox: a hundred thousand mails': () =>
      joined('From a@b Mon Jan 1 00:00:00 2001\nSubject: x\n\nx\n\n'.repeat(100_000)),
    'b.br: data of another compression': () => new Uint8Array(brotliCompressSync(zeros.subarray(0, MIB))),
    'd.zip: deflated data without its header': () => new Uint8Array(deflateRawSync(zeros.subarray(0, MIB))),
  });
}
