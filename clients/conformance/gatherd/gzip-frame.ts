import { crc32, createInflateRaw, type InflateRaw } from 'node:zlib';
import { GzipHeaderReader } from '../../../protocols/gatherd/index.js';
import { Mismatch } from '../case.js';
import { printable } from '../printable.js';
import type { Status, Wire } from '../wire.js';

/*
 * Reads compressed data from a raw connection, with the trailer of each gzip member and the bytes after it.
 */

/** The values in the trailer of a member, and those of its data. */
export interface MemberFacts {
  readonly crc: number;
  readonly trailerCrc: number;
  /** Number of inflated bytes. */
  readonly size: number;
  readonly trailerSize: number;
}

/** Compressed data up to its end line. */
export interface CompressedFacts {
  readonly members: readonly MemberFacts[];
  /** Bytes between the last member and the end line; GATHERD-6.3 allows one LF. */
  readonly gap: string;
  readonly end: Status;
}

const GZIP_MAGIC = 0x1f;
/** The search for the end line stops after this many lines. */
const MAX_GAP_LINES = 16;

/**
 * Reads the compressed data after the 400 line, of any number of members, and the end line (GATHERD-6.3, 6.6).
 * @param content receives the inflated bytes
 * @throws Mismatch if there is no readable member or no end line
 */
export async function readCompressed(
  wire: Wire,
  content: (bytes: Uint8Array) => void,
): Promise<CompressedFacts> {
  const members: MemberFacts[] = [];
  while ((await wire.peek()) === GZIP_MAGIC) members.push(await readMember(wire, content));
  if (members.length === 0) {
    const bytes = await wire.read();
    throw new Mismatch('the data is not compressed', {
      expected: 'a gzip member: \\x1f\\x8b...',
      received: bytes === undefined ? 'end of the connection' : printable(bytes),
    });
  }
  return { members, ...(await readEndLine(wire)) };
}

/** Reads the end line, and the bytes before it, of which there should be none. */
async function readEndLine(wire: Wire): Promise<Pick<CompressedFacts, 'gap' | 'end'>> {
  let gap = '';
  for (let lines = 0; lines < MAX_GAP_LINES; lines++) {
    const line = await wire.line();
    // The form of the line is not checked here, so that a defect in it is not the lack of an end.
    const at = line.search(/\d{3}(?!\d)/);
    if (at >= 0) {
      const end = { code: Number(line.slice(at, at + 3)), line: line.slice(at) };
      return { gap: gap + line.slice(0, at), end };
    }
    gap += `${line}\n`;
    // Anything but line ends: the end line cannot be told from it.
    if (line.trim() !== '') break;
  }
  throw new Mismatch('no end line after the member', { expected: '499 - ...', received: printable(gap) });
}

export async function readMember(wire: Wire, content: (bytes: Uint8Array) => void): Promise<MemberFacts> {
  const header = new GzipHeaderReader();
  while (!header.done) wire.unread(header.push(await readMore(wire, 'header')));
  let crc = 0;
  let size = 0;
  await inflate(wire, (bytes) => {
    crc = crc32(bytes, crc);
    size += bytes.length;
    content(bytes);
  });
  const trailer = await wire.take(8);
  if (trailer.length < 8) throw closedInside('trailer');
  return {
    crc,
    size: size % 2 ** 32,
    trailerCrc: trailer.readUInt32LE(0),
    trailerSize: trailer.readUInt32LE(4),
  };
}

async function readMore(wire: Wire, part: string): Promise<Uint8Array> {
  const bytes = await wire.read();
  if (bytes === undefined) throw closedInside(part);
  return bytes;
}

function closedInside(part: string): Mismatch {
  return new Mismatch(`the connection was closed inside the member's ${part}`, {
    expected: 'a whole gzip member',
    received: 'end of the connection',
  });
}

/** Inflates up to the end of the deflate data and puts back what follows (GATHERD-6.7). */
async function inflate(wire: Wire, content: (bytes: Uint8Array) => void): Promise<void> {
  const stream = createInflateRaw();
  let failure: Error | undefined;
  let ended = false;
  let written = 0;
  stream.on('data', content);
  stream.on('error', (error: Error) => {
    failure = error;
  });
  stream.on('end', () => {
    ended = true;
  });
  try {
    while (!ended) {
      const chunk = await readMore(wire, 'deflate data');
      written += chunk.length;
      await writeAndWait(stream, chunk);
      if (failure !== undefined) {
        const details = { expected: 'deflate data', received: failure.message };
        throw new Mismatch('the deflate data is damaged', details);
      }
      // The stream does not count the bytes after the end of the data.
      wire.unread(chunk.subarray(chunk.length - (written - stream.bytesWritten)));
      ended ||= written > stream.bytesWritten;
    }
  } finally {
    stream.destroy();
  }
}

/** Waits until the stream has processed a chunk. After its end the stream does not call the callback. */
function writeAndWait(stream: InflateRaw, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('end', done).off('error', done);
      resolve();
    };
    stream.on('end', done).on('error', done);
    stream.write(chunk, done);
  });
}
