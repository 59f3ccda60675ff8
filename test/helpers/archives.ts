// Writes archives of several formats from the same files, for tests that unpack them.
import { spawnSync } from 'node:child_process';
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { lzw, tar } from '../servers/essence/unnest-fixtures.js';

/** A file of an archive. */
export type ArchiveMember = readonly [name: string, body: Uint8Array];

/** A zip archive: deflated members, the central directory, its end. */
export function zip(files: readonly ArchiveMember[]): Uint8Array {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, body] of files) {
    const packed = deflateRawSync(body);
    // Version, flags, method, time, date, CRC, sizes, sizes of name and extra field: equal in both headers.
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(body), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(body.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([latin1('PK\x03\x04'), common, latin1(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([latin1('PK\x01\x02\x14\0'), common, rest, latin1(name)]));
    locals.push(local);
    offset += local.length;
  }
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(
    directory.reduce((sum, { length }) => sum + length, 0),
    8,
  );
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, ...directory, latin1('PK\x05\x06'), end]);
}

/** A cpio archive of the new ASCII format. */
export function cpio(files: readonly ArchiveMember[]): Uint8Array {
  const parts: Buffer[] = [];
  const add = (name: string, body: Uint8Array, mode: number) => {
    const fields = [1, mode, 0, 0, 1, 0, body.length, 0, 0, 0, 0, name.length + 1, 0];
    const head = `070701${fields.map((n) => n.toString(16).padStart(8, '0')).join('')}${name}\0`;
    parts.push(
      latin1(head),
      Buffer.alloc(-head.length & 3),
      Buffer.from(body),
      Buffer.alloc(-body.length & 3),
    );
  };
  for (const [name, body] of files) add(name, body, 0o100644);
  add('TRAILER!!!', new Uint8Array(), 0);
  return Buffer.concat(parts);
}

/** An ar archive; names of at most 15 characters. */
export function ar(files: readonly ArchiveMember[]): Uint8Array {
  const parts = [latin1('!<arch>\n')];
  for (const [name, body] of files) {
    const head = `${`${name}/`.padEnd(16)}${'0'.padEnd(12)}${'0'.padEnd(6)}${'0'.padEnd(6)}${'100644'.padEnd(8)}`;
    parts.push(
      latin1(`${head}${String(body.length).padEnd(10)}\`\n`),
      Buffer.from(body),
      latin1('\n'.repeat(body.length & 1)),
    );
  }
  return Buffer.concat(parts);
}

/** Uuencoded files in sequence. */
export function uuencode(files: readonly ArchiveMember[]): Uint8Array {
  const digit = (n: number) => String.fromCharCode(n === 0 ? 0x60 : n + 0x20);
  const lines: string[] = [];
  for (const [name, body] of files) {
    lines.push(`begin 644 ${name}`);
    for (let start = 0; start < body.length; start += 45) {
      const part = body.subarray(start, start + 45);
      let line = digit(part.length);
      for (let i = 0; i < part.length; i += 3) {
        const three = (part[i]! << 16) | ((part[i + 1] ?? 0) << 8) | (part[i + 2] ?? 0);
        for (const shift of [18, 12, 6, 0]) line += digit((three >> shift) & 63);
      }
      lines.push(line);
    }
    lines.push('`', 'end');
  }
  return latin1(`${lines.join('\n')}\n`);
}

/** A shell archive of texts that end with a newline. */
export function shar(files: readonly ArchiveMember[]): Uint8Array {
  const parts = ['#!/bin/sh\n# This is a shell archive\n'];
  for (const [name, body] of files) {
    const text = Buffer.from(body).toString('latin1').replace(/^/gm, 'X').replace(/X$/, '');
    parts.push(`sed 's/^X//' > '${name}' << 'END_OF_FILE'\n${text}END_OF_FILE\n`);
  }
  return latin1(`${parts.join('')}exit 0\n`);
}

/** A message with the files attached. */
export function mail(files: readonly ArchiveMember[]): Uint8Array {
  const parts = files.map(
    ([name, body]) =>
      `--=-=\nContent-Type: application/octet-stream; name="${name}"\nContent-Disposition: attachment; filename="${name}"\n` +
      `Content-Transfer-Encoding: base64\n\n${Buffer.from(body).toString('base64').replace(/.{76}/g, '$&\n')}\n`,
  );
  const head =
    'From: a@a.test\nSubject: files\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="=-="\n\n';
  return latin1(`${head}--=-=\nContent-Type: text/plain\n\nHere they are.\n${parts.join('')}--=-=--\n`);
}

/** All formats, each with the name of an archive and its writer. */
export const ARCHIVE_FORMATS: readonly {
  readonly name: string;
  /** The format cannot store binary files. */
  readonly textOnly?: true;
  /** Returns undefined if the compression program is not installed. */
  readonly pack: (files: readonly ArchiveMember[]) => Uint8Array | undefined;
}[] = [
  { name: 'x.tar', pack: tar },
  { name: 'x.tar.gz', pack: (files) => gzipSync(tar(files)) },
  { name: 'x.tar.Z', pack: (files) => lzw(tar(files)) },
  { name: 'x.tar.bz2', pack: (files) => compress('bzip2', tar(files)) },
  { name: 'x.tar.xz', pack: (files) => compress('xz', tar(files)) },
  { name: 'x.zip', pack: zip },
  { name: 'x.cpio', pack: cpio },
  { name: 'x.deb', pack: ar },
  { name: 'x.uu', pack: uuencode },
  { name: 'x.shar', textOnly: true, pack: shar },
  { name: 'x.eml', pack: mail },
];

function compress(program: string, input: Uint8Array): Uint8Array | undefined {
  const { error, stdout } = spawnSync(program, ['-c'], { input, maxBuffer: 64 * 1024 * 1024 });
  return error === undefined ? stdout : undefined;
}

function latin1(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}
