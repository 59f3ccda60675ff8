import { latin } from '../bytes.js';
import { NameDecoder } from '../charset/decode.js';
import { UnnestError } from '../errors.js';
import { isTarHead, parseOctal, TAR_BLOCK_BYTES } from '../recognition/magic.js';
import { ByteReader, type Chunks, decodeName, emptyContent, type Member } from './chunks.js';

/** Maximum size of a long name and of extended headers; larger ones are skipped. */
const MAX_HEADER_BYTES = 1024 * 1024;

/**
 * Type flags of headers that describe the next member: POSIX extended header for one member, and for all of
 * them.
 */
const EXTENDED = 'x';
const EXTENDED_GLOBAL = 'g';
/** GNU: the content is the name of the next member, or the target of its link, which is not needed. */
const LONG_NAME = 'L';
const LONG_LINK = 'K';
const DESCRIPTIONS = new Set([EXTENDED, EXTENDED_GLOBAL, LONG_NAME, LONG_LINK]);
const HARD_LINK = '1';
const SYMBOLIC_LINK = '2';
const DIRECTORY = '5';
/** A V7 archive has NUL for files, and for directories, whose names end with a slash. */
const V7_FILE = '\0';
/**
 * Flags with content: files of POSIX, V7 and old programs (blank), contiguous files (`7`), GNU's files with
 * holes (`S`).
 */
const FILES = new Set(['0', V7_FILE, ' ', '7', 'S']);

/**
 * Yields the members of a tar archive (E-43): V7, POSIX with extended headers, GNU with long names and large
 * sizes.
 */
export async function* tarMembers(chunks: Chunks): AsyncIterable<Member> {
  const reader = new ByteReader(chunks);
  const names = new NameDecoder();
  let longName: string | undefined;
  let extended = new Map<string, string>();
  for (;;) {
    const head = Uint8Array.from(await reader.read(TAR_BLOCK_BYTES));
    if (head.length === 0 || head.every((byte) => byte === 0)) return;
    if (!isTarHead(head)) {
      throw new UnnestError(
        `no member of a tar archive begins at byte ${reader.position - head.length}`,
        'E-43',
      );
    }
    const flag = String.fromCharCode(head[156]!);
    const size = Number(extended.get('size') ?? sizeOf(head.subarray(124, 136)));
    const padding = (TAR_BLOCK_BYTES - (size % TAR_BLOCK_BYTES)) % TAR_BLOCK_BYTES;
    if (DESCRIPTIONS.has(flag)) {
      const small = size <= MAX_HEADER_BYTES;
      const bytes = small ? await reader.exactly(size) : new Uint8Array();
      if (!small) await reader.skip(size);
      if (flag === EXTENDED) extended = parseRecords(bytes);
      if (flag === LONG_NAME) longName = decodeName(bytes, names);
    } else {
      const name = extended.get('path') ?? longName ?? shortName(head, names);
      const end = reader.position + size;
      if (flag === DIRECTORY || (flag === V7_FILE && name.endsWith('/'))) {
        // A directory: its files are separate entries.
      } else if (FILES.has(flag)) {
        yield { name, content: reader.take(size) };
      } else {
        yield {
          name,
          content: emptyContent(),
          special: flag === HARD_LINK || flag === SYMBOLIC_LINK ? 'a link' : 'a special file',
        };
      }
      await reader.skip(end - reader.position);
      longName = undefined;
      extended = new Map();
    }
    await reader.skip(padding);
  }
}

function shortName(head: Uint8Array, names: NameDecoder): string {
  const name = decodeName(head.subarray(0, 100), names);
  const posix = decodeName(head.subarray(257, 263)) === 'ustar' && head[262] === 0;
  const prefix = posix ? decodeName(head.subarray(345, 500), names) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

/** Parses octal digits, or GNU's binary number, which has the first bit set. */
function sizeOf(field: Uint8Array): number {
  if ((field[0]! & 0x80) === 0) return parseOctal(field);
  const size = field.subarray(1).reduce((sum, byte) => sum * 256 + byte, field[0]! & 0x7f);
  if (!Number.isSafeInteger(size)) throw new UnnestError('a member of an impossible size', 'E-43');
  return size;
}

/** Parses extended headers: `LENGTH KEY=VALUE\n`, where LENGTH is that of the whole record. */
function parseRecords(bytes: Uint8Array): Map<string, string> {
  const found = new Map<string, string>();
  for (let offset = 0; offset < bytes.length; ) {
    const length = Number.parseInt(latin(bytes, offset, offset + 12), 10);
    if (!(length > 0)) break;
    const record = decodeName(bytes.subarray(offset, offset + length - 1));
    const text = record.slice(record.indexOf(' ') + 1);
    const equals = text.indexOf('=');
    if (equals > 0) found.set(text.slice(0, equals), text.slice(equals + 1));
    offset += length;
  }
  if (!/^\d{1,15}$/.test(found.get('size') ?? '0')) found.delete('size');
  return found;
}
