// Requests and reads updates and single objects over a raw connection.
import { SectionDecoder } from '../../../protocols/soif/index.js';
import { Mismatch } from '../case.js';
import { printable } from '../printable.js';
import type { Status, Wire } from '../wire.js';
import { type MemberFacts, readCompressed } from './gzip-frame.js';
import { StreamCheck, type StreamFacts, type StreamObject } from './stream-check.js';

/** A SEND-UPDATE from its 400 line to its end line. */
export interface Transfer extends StreamFacts {
  readonly start: Status;
  readonly end: Status;
}

export interface CompressedTransfer extends Transfer {
  readonly members: readonly MemberFacts[];
  /** Bytes between the data and the end line. */
  readonly gap: string;
}

const LF = 0x0a;
const NOTHING = new Uint8Array(0);
/** A longer piece without a line end is not an end line. */
const MAX_END_LINE = 4096;

/**
 * Requests an update in clear and reads it. @throws Mismatch if the answer is not an update that ends in 499
 */
export async function receiveUpdate(
  wire: Wire,
  since: number | string,
  onObject?: (object: StreamObject) => void,
): Promise<Transfer> {
  await wire.send(`SEND-UPDATE ${since}\n`);
  return readUpdate(wire, `SEND-UPDATE ${since}`, onObject);
}

/** Reads an update that was requested. */
export async function readUpdate(
  wire: Wire,
  command: string,
  onObject?: (object: StreamObject) => void,
): Promise<Transfer> {
  const start = await wire.expect(400, command);
  const check = new StreamCheck(onObject);
  const end = await readClear(wire, check);
  expectUpdateEnd(end, command);
  return { ...check.facts(), start, end };
}

/** Requests an update in a session with compression and reads it. @throws Mismatch */
export async function receiveCompressed(
  wire: Wire,
  since: number,
  onObject?: (object: StreamObject) => void,
): Promise<CompressedTransfer> {
  const command = `SEND-UPDATE ${since}`;
  await wire.send(`${command}\n`);
  const start = await wire.expect(400, command);
  const check = new StreamCheck(onObject);
  const decoder = new SectionDecoder();
  const { members, gap, end } = await readCompressed(wire, (bytes) => {
    check.bytes(bytes);
    check.items(decoder.push(bytes));
  });
  check.items(decoder.end());
  expectUpdateEnd(end, command);
  return { ...check.facts(), start, end, members, gap };
}

/** GATHERD-3.3: 099 is an end line too. */
function expectUpdateEnd(end: Status, command: string): void {
  if (end.code === 499 || end.code === 99) return;
  throw new Mismatch(`${command}: the data is not followed by its end line`, {
    expected: '499 - ...',
    received: printable(end.line),
  });
}

/** GATHERD-3.7: the end line is the first line between objects that looks like one. */
async function readClear(wire: Wire, check: StreamCheck): Promise<Status> {
  const decoder = new SectionDecoder({ endLine: true });
  /** Bytes that may be part of the end line, and the number of bytes before them. */
  let held: Uint8Array = NOTHING;
  let before = 0;
  for (;;) {
    const chunk = await wire.read();
    if (chunk === undefined) {
      throw new Mismatch('closed inside the data', {
        expected: '499 - ...',
        received: 'end of the connection',
      });
    }
    const items = decoder.push(chunk);
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const last = items.findLast((item) => item.kind === 'end-line');
    const upTo = last === undefined ? certainDataLength(held) : last.offset - before;
    check.bytes(held.subarray(0, upTo));
    check.items(items);
    if (last !== undefined) {
      const { rest } = decoder;
      wire.unread(Uint8Array.from(rest));
      const line = Buffer.from(held.subarray(upTo, held.length - rest.length)).toString('latin1');
      return { code: last.code, line: line.replace(/\n$/, '') };
    }
    held = Uint8Array.from(held.subarray(upTo));
    before += upTo;
  }
}

/** Returns the number of bytes that are certainly data. */
function certainDataLength(held: Uint8Array): number {
  const line = held.lastIndexOf(LF) + 1;
  return held.length - line > MAX_END_LINE ? held.length : line;
}

/** One object without wrappers, and the defects around it. */
export interface LoneObject {
  readonly object: StreamObject['object'];
  readonly bytes: Uint8Array;
  /** First deviation from SOIF-2.2; a wrapper is one too (GATHERD-5.2). */
  readonly malformed: string | undefined;
}

/** Bytes of the largest object that is read. */
const MAX_LONE_OBJECT = 64 * 1024 * 1024;

/**
 * Reads one object of SEND-OBJECT or INFO; the bytes after it stay unread. @throws Mismatch if no object
 * follows
 */
export async function readObject(wire: Wire): Promise<LoneObject> {
  const decoder = new SectionDecoder();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let malformed: string | undefined;
  while (size < MAX_LONE_OBJECT) {
    const chunk = await wire.read();
    if (chunk === undefined) break;
    chunks.push(chunk);
    size += chunk.length;
    for (const item of decoder.push(chunk)) {
      if (item.kind === 'warning') malformed ??= `${item.message} (${item.rule}, offset ${item.offset})`;
      else if (item.kind === 'section') malformed ??= 'a section wrapper';
      else if (item.kind === 'object') {
        const all = Buffer.concat(chunks);
        const end = item.offset + item.bytes.length;
        wire.unread(all.subarray(end));
        if (item.offset > 0) malformed ??= `"${printable(all.subarray(0, item.offset))}" before the object`;
        if (!item.exact) malformed ??= 'not in the layout of SOIF-2.2';
        return { object: item.object, bytes: all.subarray(item.offset, end), malformed };
      }
    }
  }
  throw new Mismatch('no object', {
    expected: '@TYPE { URL ... }',
    received: printable(Buffer.concat(chunks)),
  });
}
