import { UnnestError } from '../errors.js';
import { ByteReader, type Chunks, type Member } from './chunks.js';

/**
 * Yields the files of a uuencoded text (E-43), also of `uuencode -m`; mail headers and signatures around them
 * are skipped.
 */
export async function* uuencodedMembers(chunks: Chunks): AsyncIterable<Member> {
  const reader = new ByteReader(chunks);
  let found = false;
  for (let line = await reader.line(); line !== undefined; line = await reader.line()) {
    const begin = /^begin(-base64)? [0-7]{3,4} (\S.*)$/.exec(line);
    if (begin === null) continue;
    found = true;
    const state = { ended: false };
    const decode = begin[1] === undefined ? decodeLine : decodeBase64Line;
    const name = Buffer.from(begin[2]!.trim(), 'latin1').toString('utf8');
    yield { name, content: body(reader, decode, state) };
    while (!state.ended) for await (const _ of body(reader, decode, state));
  }
  if (!found) throw new UnnestError('it contains no uuencoded file', 'E-43');
}

async function* body(
  reader: ByteReader,
  decode: (line: string) => Uint8Array | undefined,
  state: { ended: boolean },
): Chunks {
  let parts: Uint8Array[] = [];
  let before = '';
  for (;;) {
    const line = await reader.line();
    if (line === undefined || line === 'end' || line === '====') {
      state.ended = true;
      // A truncated line is not padded with zeros, because they would make a text binary.
      const last = line === undefined ? parts.pop() : undefined;
      if (last !== undefined) parts.push(last.subarray(0, Math.floor((before.length - 1) / 4) * 3));
      if (parts.length > 0) yield Buffer.concat(parts);
      if (line === undefined) throw new UnnestError('the uuencoded file has no end', 'E-43');
      return;
    }
    const bytes = decode(line);
    if (bytes !== undefined) {
      parts.push(bytes);
      before = line;
    }
    if (parts.length === 256) {
      yield Buffer.concat(parts);
      parts = [];
    }
  }
}

/**
 * Decodes one line: its length, then four characters for three bytes. Undefined for other lines, e.g. of mail
 * between parts.
 */
function decodeLine(line: string): Uint8Array | undefined {
  const length = (line.charCodeAt(0) - 32) & 63;
  const digits = Math.ceil(length / 3) * 4;
  // Trailing blanks may have been removed in transit; an extra checksum character may follow.
  if (line === '' || length === 0 || line.length > 1 + digits + 2 || /[^ -`]/.test(line)) return undefined;
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) {
    const quad = 1 + Math.floor(i / 3) * 4 + (i % 3);
    const a = digit(line, quad);
    const b = digit(line, quad + 1);
    const shift = (i % 3) * 2;
    bytes[i] = (a << (2 + shift)) | (b >> (4 - shift));
  }
  return bytes;
}

function digit(line: string, index: number): number {
  return index < line.length ? (line.charCodeAt(index) - 32) & 63 : 0;
}

function decodeBase64Line(line: string): Uint8Array | undefined {
  return /^[A-Za-z0-9+/=]+$/.test(line) ? Buffer.from(line, 'base64') : undefined;
}

/** Maximum length of a command line, in bytes. */
const MAX_LINE = 64 * 1024;
/** Bytes of text that are passed on together. */
const PIECE = 16 * 1024;

/** A here-document that is written to a file. */
interface HereDocument {
  readonly name: string;
  readonly delimiter: string;
  /** The prefix that `sed` removes from each line. */
  readonly prefix: string;
  /** Whether the whole prefix is required or only its first character. */
  readonly uuencoded: boolean;
}

/**
 * Yields the files of a shell archive (E-43): the here-documents of its `cat` and `sed` commands. No command is
 * ever executed; files that other commands create are not found.
 */
export async function* sharMembers(chunks: Chunks): AsyncIterable<Member> {
  const reader = new ByteReader(chunks);
  let found = false;
  for (let line = await reader.line(MAX_LINE); line !== undefined; line = await reader.line(MAX_LINE)) {
    const here = hereDocument(line);
    if (here === undefined) continue;
    const state = { ended: false };
    const text = documentLines(reader, here, state);
    if (here.uuencoded) {
      found = true;
      yield* uuencodedMembers(text);
    } else if (here.name !== '') {
      found = true;
      yield { name: here.name, content: text };
    }
    while (!state.ended) for await (const _ of documentLines(reader, here, state));
  }
  if (!found) throw new UnnestError('it contains no here-document for a file', 'E-43');
}

/** Parses the command that begins a here-document; its words can be in any order. */
function hereDocument(line: string): HereDocument | undefined {
  const operator = /<<-?\s*(?:'([^']+)'|"([^"]+)"|\\?([^\s'"\\;&|<>]+))/.exec(line);
  if (operator === null || /^\s*#/.test(line)) return undefined;
  const command = line.slice(0, operator.index);
  const rest = command + line.slice(operator.index + operator[0].length);
  const target = /(?:^|[^0-9&>])>{1,2}\s*(?:'([^']+)'|"([^"]+)"|([^\s'";&|<>]+))/.exec(rest);
  const sed =
    /\bsed\s+(?:-e\s*)?(?:'s[/,@]\^([^/,@]*)[/,@]{2}'|"s[/,@]\^([^/,@]*)[/,@]{2}"|s[/,@]\^([^/,@\s]*)[/,@]{2})/.exec(
      line,
    );
  return {
    delimiter: operator[1] ?? operator[2] ?? operator[3] ?? '',
    name: target?.[1] ?? target?.[2] ?? target?.[3] ?? '',
    prefix: sed?.[1] ?? sed?.[2] ?? sed?.[3] ?? '',
    uuencoded: /\buudecode\b/.test(line),
  };
}

/**
 * The lines of a here-document, several in a piece: archives in archives pass each piece through all layers.
 */
async function* documentLines(reader: ByteReader, here: HereDocument, state: { ended: boolean }): Chunks {
  let text = '';
  for (;;) {
    const line = await reader.line(MAX_LINE);
    if (line === undefined || line === here.delimiter) {
      state.ended = true;
      if (text !== '') yield Buffer.from(text, 'latin1');
      if (line === undefined) throw new UnnestError(`the here-document of ${here.name} has no end`, 'E-43');
      return;
    }
    text += `${here.prefix !== '' && line.startsWith(here.prefix) ? line.slice(here.prefix.length) : line}\n`;
    if (text.length < PIECE) continue;
    yield Buffer.from(text, 'latin1');
    text = '';
  }
}
