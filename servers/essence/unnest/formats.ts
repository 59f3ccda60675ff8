import type { UnnestLimits } from '../model.js';
import type { FormatName } from '../recognition/document-type.js';
import { describeContent, isTarHead } from '../recognition/magic.js';
import { TYPES } from '../recognition/types.js';
import { arMembers, cpioMembers } from './ar-cpio.js';
import { binhexMembers } from './binhex.js';
import { decompressBzip2 } from './bzip2.js';
import type { Chunks, Member } from './chunks.js';
import { decompressXz, decompressZstd, gunzip } from './decompress.js';
import { decompressLzw } from './lzw.js';
import type { UnnestMeter } from './meter.js';
import { mimeMembers } from './mime.js';
import { tarMembers } from './tar.js';
import { sharMembers, uuencodedMembers } from './uuencode.js';
import { zipMembers } from './zip.js';

/** A format of nested files: how one layer is unpacked. */
export interface Format {
  readonly name: string;
  /**
   * Whether it is a compression or an encoding of one file, which adds nothing to the path of its content
   * (E-56).
   */
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

/** Text may precede these: the name of a file decides that it has this format, not its first bytes. */
const TEXT_FORMATS: ReadonlySet<string> = new Set<FormatName>(['uuencode', 'shar', 'BinHex']);

const BY_NAME: Readonly<Record<FormatName, Format>> = {
  gzip: compression('gzip', gunzip),
  compress: compression('compress', decompressLzw),
  bzip2: compression('bzip2', decompressBzip2),
  xz: compression('xz', decompressXz),
  zstd: compression('zstd', (chunks, { maxWindowBytes }) => decompressZstd(chunks, maxWindowBytes)),
  tar: container('tar', tarMembers),
  ar: container('ar', arMembers),
  cpio: container('cpio', cpioMembers),
  zip: expanding('zip', (chunks, meter) => zipMembers(chunks, meter.limits.maxArchiveBytes)),
  uuencode: container('uuencode', uuencodedMembers, true),
  shar: container('shar', sharMembers),
  BinHex: expanding('BinHex', binhexMembers, true),
};

/**
 * Nested types with a format (E-40, E-43, E-44) and the possible formats of their files, the most frequent one
 * first.
 */
export const FORMATS: ReadonlyMap<string, readonly Format[]> = new Map(
  [...TYPES].flatMap(([type, { nested = [] }]) =>
    nested.length === 0 ? [] : [[type, nested.map((name) => BY_NAME[name])] as const],
  ),
);

/** Types with attachments, which also have a summary themselves. */
export const MESSAGE_TYPES: ReadonlySet<string> = new Set(['Mail', 'News']);
/** Their format. */
export const MESSAGE_FORMAT = container('MIME', (chunks, meter) =>
  mimeMembers(chunks, meter.limits.maxArchiveBytes),
);

/** Formats by the start of the description of their content. */
const BY_DESCRIPTION: readonly (readonly [start: string, format: FormatName])[] = [
  ['gzip compressed', 'gzip'],
  ["compress'd", 'compress'],
  ['bzip2 compressed', 'bzip2'],
  ['XZ compressed', 'xz'],
  ['Zstandard compressed', 'zstd'],
  ['Zip archive', 'zip'],
  ['Debian binary package', 'ar'],
  ['current ar archive', 'ar'],
  ['BinHex', 'BinHex'],
  ['ASCII cpio archive', 'cpio'],
  ['cpio archive', 'cpio'],
  ['shell archive', 'shar'],
  ['uuencoded', 'uuencode'],
];

/** Returns the format by the first bytes, regardless of the file's name. */
export function formatByContent(head: Uint8Array): Format | undefined {
  if (isTarHead(head)) return BY_NAME.tar;
  const description = describeContent(head);
  const found = BY_DESCRIPTION.find(([start]) => description.startsWith(start));
  return found && BY_NAME[found[1]];
}

/**
 * Whether the name decides the format: other text may precede an encoded file, so its first bytes do not
 * identify it.
 */
export function isTextFormat({ name }: Format): boolean {
  return TEXT_FORMATS.has(name);
}
