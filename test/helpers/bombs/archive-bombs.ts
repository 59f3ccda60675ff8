// Archives and mails that lie about sizes and names, point outside, or are layered without end.
import { spawnSync } from 'node:child_process';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { binhex, lzw, tar } from '../../servers/essence/unnest-fixtures.js';
import { ar, cpio, mail, uuencode, zip } from '../archives.js';
import type { Random } from '../random.js';
import { type Bomb, type Bombs, bombsOf, joined, latin1Bytes, once } from './bomb.js';
import { UNSAFE_NAMES, zipBombs } from './zip-bombs.js';

const MIB = 1024 * 1024;

/** Compresses by a program of the system; without it, the data as they are. */
function packedBy(program: string, data: Uint8Array): Uint8Array {
  const { error, stdout } = spawnSync(program, ['-c'], { input: data, maxBuffer: 64 * MIB });
  return error === undefined ? new Uint8Array(stdout) : data;
}

function repeated(times: number, pack: (data: Uint8Array) => Uint8Array, innermost: Uint8Array): Uint8Array {
  let data = innermost;
  for (let i = 0; i < times; i++) data = new Uint8Array(pack(data));
  return data;
}

/** A record of an extended tar header, with its own length in front. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length++;
  return `${length}${rest}`;
}

/** A header of the old GNU format for a sparse file, followed by blocks that each claim one more. */
function sparseChain(blocks: number): Uint8Array {
  const archive = Buffer.from(tar([['s.txt', '', 'S']]));
  archive.write('ustar  \0', 257, 'latin1');
  for (let i = 0; i < 4; i++) archive.write('77777777777\x0077777777777\0', 386 + 24 * i, 'latin1');
  archive[482] = 1;
  archive.write('77777777777\0', 483, 'latin1');
  archive.write('        ', 148, 'latin1');
  const sum = archive.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  archive.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  const block = Buffer.alloc(512, '77777777777\0', 'latin1');
  block[504] = 1;
  return joined(archive.subarray(0, 512), ...Array.from({ length: blocks }, () => block));
}

function paxBombs(): Bombs {
  const text = latin1Bytes('words\n');
  const huge = String(2n ** 63n - 1n);
  const sparse = [
    ['GNU.sparse.major', '1'],
    ['GNU.sparse.minor', '0'],
    ['GNU.sparse.name', 'x.txt'],
    ['GNU.sparse.realsize', huge],
  ] as const;
  const paxOf = (records: string) =>
    tar([
      ['x', records, 'x'],
      ['a.txt', text],
    ]);
  return {
    'sparse.tar: a sparse file of 8 EiB': () => paxOf(sparse.map(([k, v]) => paxRecord(k, v)).join('')),
    'chain.tar: a chain of sparse headers': () => sparseChain(20_000),
    'size.tar: an extended size of 8 EiB': () => paxOf(paxRecord('size', huge)),
    'record.tar: a record longer than its header': () => paxOf('99999999999999999999 path=x\n'),
    'zero.tar: records of no length': () => paxOf('0 path=x\n'.repeat(50_000)),
    'many.tar: a hundred thousand paths': () => paxOf(paxRecord('path', '../../x').repeat(100_000)),
    'long.tar: a path of 20 MB': () => paxOf(paxRecord('path', 'p/'.repeat(10 * MIB))),
    'links.tar: links, devices and pipes': () =>
      tar([
        ...['1', '2', '3', '4', '5', '6', '7'].flatMap((type) =>
          UNSAFE_NAMES.map((name) => [name.slice(0, 90), type === '1' ? '' : 'x', type] as const),
        ),
        ['a.txt', text],
      ]),
    'names.tar: long names of long names': () =>
      tar(Array.from({ length: 20_000 }, (_, i) => ['././@LongLink', 'x', i % 2 === 0 ? 'L' : 'K'] as const)),
    'empty.tar: sixty thousand empty members': () =>
      tar(Array.from({ length: 60_000 }, () => ['a', ''] as const)),
  };
}

function layerBombs(): Bombs {
  const text = latin1Bytes('words\n'.repeat(1000));
  const zeros = new Uint8Array(64 * MIB);
  const gz = once(() => new Uint8Array(gzipSync(zeros, { level: 9 })));
  const chain = () =>
    mail([
      [
        'a.zip',
        zip([
          [
            'a.tar.gz',
            gzipSync(
              tar([
                ['a.gz', gz()],
                ['b.txt', text],
              ]),
            ),
          ],
        ]),
      ],
    ]);
  return {
    'deep.gz: a thousand compressed files in each other': () =>
      repeated(1000, (data) => gzipSync(data), text),
    'deep.Z: compressed files in each other': () => repeated(12, (data) => lzw(data), text.subarray(0, 600)),
    'mixed.bz2: zeros by bzip2, twice': () => packedBy('bzip2', packedBy('bzip2', zeros)),
    'many.bz2: streams of bzip2 in a row': () => joined(...Array.from({ length: 5000 }, () => packedBytes())),
    'mixed.xz: zeros by xz, in gzip, in xz': () =>
      packedBy('xz', new Uint8Array(gzipSync(packedBy('xz', zeros)))),
    'pad.xz: padding without end': () => joined(packedBy('xz', text), new Uint8Array(20 * MIB)),
    'mixed.zst: zeros by zstd in gzip in zip': () => zip([['a.gz', gzipSync(packedBy('zstd', zeros))]]),
    'old.lzma: a dictionary of 4 GB of unknown size': () =>
      joined('\x5d\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff', text),
    'x.tar.br: zeros by brotli': () => new Uint8Array(brotliCompressSync(zeros)),
    'chain.eml: zeros in gzip in tar in gzip in zip in a mail': () => new Uint8Array(chain()),
    'chain.zip: a zip file in a tar file in gzip': () =>
      zip([['a.tgz', gzipSync(tar([['a.zip', zip([['z.txt', zeros]])]]))]]),
    'chain.deb: a package whose control file is a bomb': () =>
      ar([
        ['debian-binary', latin1Bytes('2.0\n')],
        ['control.tar.gz', gz()],
        ['data.tar.gz', gz()],
      ]),
    'deep.uu: uuencoded files in each other': () => repeated(15, (data) => uuencode([['a.uu', data]]), text),
    'deep.tar: tar files in each other': () => repeated(300, (data) => tar([['a.tar', data]]), text),
    'deep.cpio: cpio archives in each other': () => repeated(300, (data) => cpio([['a.cpio', data]]), text),
    'deep.eml: mails in each other': () => repeated(12, (data) => mail([['a.eml', data]]), text),
  };
}

const packedBytes = once(() => packedBy('bzip2', latin1Bytes('x')));

/** All bombs of archives that lie about names, sizes and layers. */
export function archiveBombs(random: Random): Bomb[] {
  const text = latin1Bytes('words\n');
  const line = `${'M'.padEnd(61, '!')}\n`;
  const newc = (fields: string, name: string): string => `070701${fields}${name}\0`;
  return bombsOf({
    ...zipBombs(random),
    ...layerBombs(),
    ...paxBombs(),
    'names.cpio: unsafe names': () => cpio(UNSAFE_NAMES.map((name) => [name, text] as const)),
    'size.cpio: a name and a size of 4 GB': () => latin1Bytes(newc('f'.repeat(104), 'x')),
    'mode.cpio: links and devices': () =>
      latin1Bytes(newc(`00000001${'0000a1ff'.repeat(12)}`, '/etc/passwd').repeat(5000)),
    'old.cpio: octal sizes of 8 GB': () => latin1Bytes(`070707${'7'.repeat(70)}x\0`.repeat(1000)),
    'binary.cpio: a binary header with the greatest sizes': () =>
      joined('\xc7\x71', new Uint8Array(24).fill(0xff), 'x'),
    'names.deb: a name beyond the table': () =>
      latin1Bytes(`!<arch>\n${'/99999999999'.padEnd(48)}${'10'.padEnd(10)}\`\nx`),
    'bsd.deb: a BSD name of 4 GB': () => `!<arch>\n${'#1/4294967295'.padEnd(48)}${'10'.padEnd(10)}\`\nx`,
    'minus.deb: a size below zero': () =>
      latin1Bytes(`!<arch>\n${`${'a/'.padEnd(48)}${'-60'.padEnd(10)}\`\n`.repeat(1000)}`),
    'begin.uu: files that begin in files': () => latin1Bytes(`begin 644 a.txt\n${line}`.repeat(5000)),
    'lines.uu: lines that claim more than they have': () =>
      latin1Bytes(`begin 644 a.txt\n${'~\n_#\n'.repeat(200_000)}end\n`),
    'fork.hqx: forks of 4 GB': () => latin1Bytes(binhex('a.txt', 0xff, text)),
    'open.hqx: a file that does not end': () =>
      latin1Bytes(`(This file must be converted with BinHex 4.0)\n:${'!'.repeat(4 * MIB)}`),
    'deep.shar: archives in here-documents': () =>
      latin1Bytes(`#!/bin/sh\n# shar\n${"sed 's/^X//' > a.shar << 'E'\nX#!/bin/sh\n".repeat(100_000)}`),
    'messages.eml: messages in messages': () =>
      latin1Bytes(`From: a@b\n${'Content-Type: message/rfc822\n\n'.repeat(10_000)}Subject: x\n\nx`),
    'base64.eml: a body of base64 that is not': () =>
      latin1Bytes(`From: a@b\nContent-Transfer-Encoding: base64\n\n${'=A==\n'.repeat(MIB)}`),
    'references.eml: a hundred thousand folded lines': () =>
      latin1Bytes(`From: a@b\nReferences: <x@y>\n${' <x@y>\n'.repeat(100_000)}\nx`),
    'boundary.eml: a boundary of a megabyte': () =>
      latin1Bytes(`From: a@b\nContent-Type: multipart/mixed; boundary="${'b'.repeat(MIB)}"\n\n--b\n\nx`),
    'x.arj: an archive that is not unpacked': () => joined('\x60\xea\xff\xff', random.bytes(5000)),
    'x.lzh: a header of level 255': () => joined('\xff\xff-lh5-', new Uint8Array(50).fill(0xff)),
    'x.zoo: a directory that is a circle': () =>
      joined('ZOO 2.10 Archive.\x1a\0\0\xdc\xa7\xc4\xfd', new Uint8Array(200)),
    'x.sit: an archive that is not unpacked': () => ['SIT!\xff\xff\xff\xff\xff\xffrLau', random.bytes(500)],
  });
}
