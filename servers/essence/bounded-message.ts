// A mail or news message within limits that do not depend on its size: an address or a part of a few bytes
// costs the parser kilobytes (E-45).

/** Maximum number of bytes of one header field. */
const MAX_FIELD_BYTES = 16 * 1024;
/** Maximum number of boundaries of one message: the parser's time grows faster than the number of parts. */
const MAX_BOUNDARIES = 2000;
/** Maximum number of bytes of a boundary that are compared; RFC 2046 allows 70. */
const MAX_BOUNDARY_BYTES = 1000;
const LINE_END = new Uint8Array([0x0a]);

/** The start of a message, and what it contains. */
export interface BoundedMessage {
  readonly bytes: Uint8Array;
  /** Bytes of the header. */
  readonly headerBytes: number;
  /** Lines that begin or end a part. */
  readonly boundaries: number;
  /** What was left out, as a sentence for a warning; undefined if nothing. */
  readonly problem?: string;
}

/**
 * Cuts header fields at {@link MAX_FIELD_BYTES}, and the message at {@link MAX_BOUNDARIES} boundaries (E-45).
 */
export function boundedMessage(bytes: Uint8Array): BoundedMessage {
  const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { kept, end, shortened } = boundedHeader(message);
  const { boundaries, stop } = boundedBody(message, end);
  const problems = [
    ...(shortened ? [`header fields beyond ${MAX_FIELD_BYTES} bytes`] : []),
    ...(stop < message.length ? [`parts beyond the first ${MAX_BOUNDARIES} boundaries`] : []),
  ];
  const headerBytes = kept.reduce((sum, part) => sum + part.length, 0);
  if (problems.length === 0) return { bytes, headerBytes, boundaries };
  return {
    bytes: Buffer.concat([...kept, message.subarray(end, stop)]),
    headerBytes,
    boundaries,
    problem: `${problems.join(' and ')} left out (E-45)`,
  };
}

/**
 * Returns the lines of the header, each field within its limit, and the offset of the blank line after them.
 */
function boundedHeader(message: Buffer): { kept: Uint8Array[]; end: number; shortened: boolean } {
  const kept: Uint8Array[] = [];
  let field = 0;
  let shortened = false;
  let offset = 0;
  while (offset < message.length) {
    const first = message[offset];
    if (first === 0x0a || (first === 0x0d && message[offset + 1] === 0x0a)) break;
    const next = nextLine(message, offset);
    if (first !== 0x20 && first !== 0x09) field = 0;
    const length = Math.min(next - offset, MAX_FIELD_BYTES - field);
    if (length > 0) kept.push(message.subarray(offset, offset + length));
    if (length < next - offset) {
      if (length > 0) kept.push(LINE_END);
      shortened = true;
    }
    field += length;
    offset = next;
  }
  return { kept, end: offset, shortened };
}

/** Counts the boundaries after the header, and returns the offset of the first one beyond the limit. */
function boundedBody(message: Buffer, start: number): { boundaries: number; stop: number } {
  let known: ReadonlySet<string> | 'any' | undefined;
  let boundaries = 0;
  for (let offset = start; offset < message.length; offset = nextLine(message, offset)) {
    if (message[offset] !== 0x2d || message[offset + 1] !== 0x2d) continue;
    known ??= declaredBoundaries(message);
    if (known !== 'any' && !known.has(boundaryOf(message, offset))) continue;
    if (++boundaries > MAX_BOUNDARIES) return { boundaries: MAX_BOUNDARIES, stop: offset };
  }
  return { boundaries, stop: message.length };
}

function nextLine(message: Buffer, offset: number): number {
  const end = message.indexOf(0x0a, offset);
  return end < 0 ? message.length : end + 1;
}

/** The boundary of a line `--boundary` or `--boundary--`. */
function boundaryOf(message: Buffer, offset: number): string {
  const end = Math.min(nextLine(message, offset), offset + 2 + MAX_BOUNDARY_BYTES);
  return message
    .toString('latin1', offset + 2, end)
    .trimEnd()
    .replace(/--$/, '');
}

/** The boundaries that any part declares; `any` if one is written in a way that only the parser understands. */
function declaredBoundaries(message: Buffer): ReadonlySet<string> | 'any' {
  const found = new Set<string>();
  for (const [, mark, quoted, word] of message
    .toString('latin1')
    .matchAll(/\bboundary(\*)?[^\s=]{0,9}\s*=\s*(?:"([^"\r\n]{0,1000})|([^\s;"]{0,1000}))/gi)) {
    const value = quoted ?? word ?? '';
    if (mark !== undefined || /[\\()]/.test(value)) return 'any';
    found.add(value.trimEnd().replace(/--$/, ''));
  }
  return found;
}
