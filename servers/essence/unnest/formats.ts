import { describeContent } from '../magic.js';
import { isTarHead } from '../tar-head.js';
import type { UnnestLimits } from '../unnest-limits.js';
import { arMembers, cpioMembers } from './ar-cpio.js';
import { binhexMembers } from './binhex.js';
import { decompressBzip2 } from './bzip2.js';
import type { Chunks } from './chunks.js';
import { decompressXz, decompressZstd, gunzip } from './decompress.js';
import { decompressLzw } from './lzw.js';
import type { Member } from './member.js';
import type { UnnestMeter } from './meter.js';
import { mimeMembers } from './mime.js';
import { sharMembers } from './shar.js';
import { tarMembers } from './tar.js';
import { uuencodedMembers } from './uuencode.js';
import { zipMembers } from './zip.js';

/** A format of nested files: how one layer is unpacked. */
export interface Format {
  readonly name: string;
  /** Whether it is a compression or an encoding of one file, which adds nothing to the path of its content (E-56). */
  readonly transparent: boolean;
  members(chunks: Chunks, meter: UnnestMeter): AsyncIterable<Member>;
}

function compression(name: string, decode: (chunks: Chunks, limits: UnnestLimits) => Chunks): Format {
  return {
    name,
    transparent: true,
    async *members(chunks, meter) {
      yield { name: '', content: meter.unpacked(decode(chunks, meter.limits)) };
    },
  };
}

function container(name: string, members: Format['members'], transparent = false): Format {
  return { name, transparent, members };
}

/** Counts the content of members that are larger than in the archive (E-45). */
function expanding(name: string, members: Format['members'], transparent = false): Format {
  return container(
    name,
    async function* (chunks, meter) {
      for await (const member of members(chunks, meter))
        yield { ...member, content: meter.unpacked(member.content) };
    },
    transparent,
  );
}

const GZIP = compression('gzip', gunzip);
const COMPRESS = compression('compress', decompressLzw);
const BZIP2 = compression('bzip2', decompressBzip2);
const XZ = compression('xz', decompressXz);
const ZSTD = compression('zstd', (chunks, { maxWindowBytes }) => decompressZstd(chunks, maxWindowBytes));
const TAR = container('tar', tarMembers);
const AR = container('ar', arMembers);
const CPIO = container('cpio', cpioMembers);
const ZIP = expanding('zip', (chunks, meter) => zipMembers(chunks, meter.limits.maxArchiveBytes));
const UUENCODE = container('uuencode', uuencodedMembers, true);
const SHAR = container('shar', sharMembers);
const BINHEX = expanding('BinHex', binhexMembers, true);
const MIME = container('MIME', (chunks, meter) => mimeMembers(chunks, meter.limits.maxArchiveBytes));

/** Nested types (E-40, E-43, E-44) and the possible formats of their files, the most frequent one first. */
export const FORMATS: ReadonlyMap<string, readonly Format[]> = new Map([
  ['GNUCompressed', [GZIP]],
  ['GNUCompressedTar', [GZIP]],
  ['Compressed', [COMPRESS]],
  ['CompressedTar', [COMPRESS]],
  ['Bzip2Compressed', [BZIP2, XZ, ZSTD]],
  ['Bzip2CompressedTar', [BZIP2, XZ, ZSTD]],
  ['Tar', [TAR]],
  ['PCCompressed', [ZIP]],
  ['MacCompressed', [BINHEX]],
  ['Uuencoded', [UUENCODE]],
  ['ShellArchive', [SHAR]],
  ['DebianPackage', [AR]],
  ['CpioArchive', [CPIO]],
]);

/** Types with attachments, which also have a summary themselves. */
export const MESSAGE_TYPES: ReadonlySet<string> = new Set(['Mail', 'News']);
/** Their format. */
export const MESSAGE_FORMAT = MIME;

/** Formats by the start of the description of their content. */
const BY_DESCRIPTION: readonly (readonly [start: string, format: Format])[] = [
  ['gzip compressed', GZIP],
  ["compress'd", COMPRESS],
  ['bzip2 compressed', BZIP2],
  ['XZ compressed', XZ],
  ['Zstandard compressed', ZSTD],
  ['Zip archive', ZIP],
  ['Debian binary package', AR],
  ['current ar archive', AR],
  ['BinHex', BINHEX],
  ['ASCII cpio archive', CPIO],
  ['cpio archive', CPIO],
  ['shell archive', SHAR],
  ['uuencoded', UUENCODE],
];

/** Returns the format by the first bytes, regardless of the file's name. */
export function formatByContent(head: Uint8Array): Format | undefined {
  if (isTarHead(head)) return TAR;
  const description = describeContent(head);
  return BY_DESCRIPTION.find(([start]) => description.startsWith(start))?.[1];
}

/** Whether the name decides the format: other text may precede an encoded file, so its first bytes do not identify it. */
export function isTextFormat(format: Format): boolean {
  return format === UUENCODE || format === SHAR || format === BINHEX;
}
