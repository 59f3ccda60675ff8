import { latin } from '../bytes.js';
import { NameDecoder } from '../charset/decode.js';
import { UnnestError } from '../errors.js';
import { ByteReader, type Chunks, decodeName, emptyContent, type Member } from './chunks.js';

/** Maximum size of a table of long names, and of a name. */
const MAX_NAME_TABLE_BYTES = 4 * 1024 * 1024;
const MAX_NAME_BYTES = 64 * 1024;

/**
 * Yields the members of an ar archive (E-44), e.g. a Debian package, with the long names of GNU and BSD. Symbol
 * tables are skipped.
 */
export async function* arMembers(chunks: Chunks): AsyncIterable<Member> {
  const reader = new ByteReader(chunks);
  if (latin(await reader.read(8)) !== '!<arch>\n') throw new UnnestError('not an ar archive', 'E-44');
  const names = new NameDecoder();
  let longNames = '';
  for (;;) {
    const head = latin(await reader.read(60));
    if (head.trim() === '') return;
    const size = Number(head.slice(48, 58));
    if (head.slice(58) !== '`\n' || !Number.isSafeInteger(size) || size < 0) {
      throw new UnnestError(
        `no member of an ar archive begins at byte ${reader.position - head.length}`,
        'E-44',
      );
    }
    const end = reader.position + size;
    const written = head.slice(0, 16).trimEnd();
    const bsd = /^#1\/(\d{1,5})$/.exec(written);
    if (written === '//' && size <= MAX_NAME_TABLE_BYTES) longNames = latin(await reader.exactly(size));
    let raw = written.replace(/\/$/, '');
    if (bsd !== null) raw = latin(await reader.exactly(Math.min(size, Number(bsd[1]))));
    else if (/^\/\d+$/.test(written))
      raw = longNames.slice(Number(written.slice(1))).split(/\/?\n/, 1)[0] ?? '';
    const name = decodeName(Buffer.from(raw, 'latin1'), names);
    if (!isTable(written) && !name.startsWith('__.SYMDEF')) {
      yield { name, content: reader.take(end - reader.position) };
    }
    await reader.skip(end - reader.position);
    if (size % 2 === 1) await reader.read(1);
  }
}

function isTable(name: string): boolean {
  return name === '/' || name === '//' || name === '/SYM64/';
}

interface CpioHead {
  readonly mode: number;
  readonly nameSize: number;
  readonly size: number;
  /** Header, name and content are padded to a multiple of this. */
  readonly align: number;
}

/** Yields the members of a cpio archive (E-44): new ASCII format, with and without checksums, old ASCII and binary format. */
export async function* cpioMembers(chunks: Chunks): AsyncIterable<Member> {
  const reader = new ByteReader(chunks);
  const names = new NameDecoder();
  for (;;) {
    const begin = reader.position;
    const { mode, nameSize, size, align } = await cpioHead(reader);
    if (nameSize > MAX_NAME_BYTES) throw new UnnestError(`a cpio name of ${nameSize} bytes`, 'E-44');
    const name = decodeName(await reader.exactly(nameSize), names);
    await reader.skip((align - ((reader.position - begin) % align)) % align);
    if (name === 'TRAILER!!!') return;
    const end = reader.position + size;
    const kind = mode & 0o170000;
    if (kind === 0o100000 || kind === 0) yield { name, content: reader.take(size) };
    else if (kind !== 0o040000) {
      yield { name, content: emptyContent(), special: kind === 0o120000 ? 'a link' : 'a special file' };
    }
    await reader.skip(end - reader.position);
    await reader.read((align - (size % align)) % align);
  }
}

async function cpioHead(reader: ByteReader): Promise<CpioHead> {
  const offset = reader.position;
  const magic = Buffer.from(await reader.peek(6));
  const text = magic.toString('latin1');
  if (text === '070701' || text === '070702') {
    const head = Buffer.from(await reader.exactly(110)).toString('latin1');
    const field = (n: number) => Number.parseInt(head.slice(6 + n * 8, 14 + n * 8), 16);
    return checkHead({ mode: field(1), size: field(6), nameSize: field(11), align: 4 }, offset);
  }
  if (text === '070707') {
    const head = Buffer.from(await reader.exactly(76)).toString('latin1');
    const field = (from: number, to: number) => Number.parseInt(head.slice(from, to), 8);
    return checkHead({ mode: field(18, 24), nameSize: field(59, 65), size: field(65, 76), align: 1 }, offset);
  }
  const little = magic[0] === 0xc7 && magic[1] === 0x71;
  if (little || (magic[0] === 0x71 && magic[1] === 0xc7)) {
    const head = Buffer.from(await reader.exactly(26));
    const word = (n: number) => (little ? head.readUInt16LE(n * 2) : head.readUInt16BE(n * 2));
    return { mode: word(3), nameSize: word(10), size: word(11) * 0x10000 + word(12), align: 2 };
  }
  throw new UnnestError(`no member of a cpio archive begins at byte ${offset}`, 'E-44');
}

/** Returns the header. @throws UnnestError if a field is not a number */
function checkHead(head: CpioHead, offset: number): CpioHead {
  if (Object.values(head).every((value) => Number.isSafeInteger(value) && value >= 0)) return head;
  throw new UnnestError(`a damaged member of a cpio archive at byte ${offset}`, 'E-44');
}
