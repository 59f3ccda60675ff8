// Reads a news server's replies from chunks of any size.
import { CR, LF } from '../ascii.js';

/** An event of a server's replies, in order. */
export type NntpEvent =
  /** The line that answers a command. */
  | { readonly kind: 'status'; readonly code: number; readonly text: string }
  /** A piece of the block after it: dots at line beginnings undone, line ends unchanged. */
  | { readonly kind: 'data'; readonly bytes: Uint8Array }
  /** The last line of the block, a single dot, was read. */
  | { readonly kind: 'end' }
  /** The server does not speak NNTP; the rest of the input is ignored. */
  | { readonly kind: 'broken'; readonly reason: string };

const DOT = 0x2e;

/** RFC 3977 3.1 gives 512 bytes; servers exceed it. */
const MAX_STATUS_BYTES = 4096;

/**
 * Reads a server's replies in chunks of any size (RFC 3977 3.1, 3.1.1). The codes that have a block depend on
 * the command, so call {@link expect} before the command is sent. A block is passed on in pieces; the decoder
 * holds only the two or three bytes that may be its end.
 */
export class NntpReplyDecoder {
  #blockCodes: ReadonlySet<number> = new Set();
  #status: number[] = [];
  /** Bytes at the beginning of a line of a block that were not passed on yet. */
  #held: 'nothing' | 'line' | 'dot' | 'dot-cr' = 'nothing';
  #state: 'status' | 'block' | 'broken' = 'status';

  /** @param codes status codes of the next command that have a block */
  expect(codes: readonly number[]): void {
    this.#blockCodes = new Set(codes);
  }

  push(chunk: Uint8Array): NntpEvent[] {
    const events: NntpEvent[] = [];
    let at = 0;
    while (at < chunk.length && this.#state !== 'broken') {
      at =
        this.#state === 'status' ? this.#readStatus(chunk, at, events) : this.#readBlock(chunk, at, events);
    }
    return events;
  }

  #readStatus(chunk: Uint8Array, from: number, events: NntpEvent[]): number {
    const end = chunk.indexOf(LF, from);
    const stop = end < 0 ? chunk.length : end;
    if (this.#status.length + stop - from > MAX_STATUS_BYTES) {
      this.#break('the status line is too long', events);
      return chunk.length;
    }
    this.#status.push(...chunk.subarray(from, stop));
    if (end < 0) return chunk.length;
    const line = new TextDecoder().decode(Uint8Array.from(this.#status)).replace(/\r$/, '');
    this.#status = [];
    const match = /^([1-5]\d\d)(?: (.*))?$/s.exec(line);
    if (match === null) {
      this.#break(`${JSON.stringify(line.slice(0, 80))} is not an NNTP status line`, events);
      return chunk.length;
    }
    const code = Number(match[1]);
    events.push({ kind: 'status', code, text: match[2] ?? '' });
    if (this.#blockCodes.has(code)) {
      this.#state = 'block';
      this.#held = 'line';
    }
    return end + 1;
  }

  /** Passes on runs of bytes; examines only the beginning of each line. */
  #readBlock(chunk: Uint8Array, from: number, events: NntpEvent[]): number {
    let start = from;
    let at = from;
    while (at < chunk.length) {
      const byte = chunk[at]!;
      if (this.#held === 'nothing') {
        const end = chunk.indexOf(LF, at);
        if (end < 0) break;
        this.#held = 'line';
        at = end + 1;
      } else if (this.#held === 'line') {
        this.#held = byte === DOT ? 'dot' : 'nothing';
        if (byte === DOT) {
          // The dot itself is never data: it marks the end, or another dot.
          pushData(events, chunk.subarray(start, at));
          start = at + 1;
          at += 1;
        }
      } else if (this.#held === 'dot') {
        if (byte === LF) return this.#endBlock(at, events);
        this.#held = byte === CR ? 'dot-cr' : 'nothing';
        if (byte === CR) {
          at += 1;
          start = at;
        }
      } else {
        if (byte === LF) return this.#endBlock(at, events);
        pushData(events, Uint8Array.of(CR));
        start = at;
        this.#held = 'nothing';
      }
    }
    pushData(events, chunk.subarray(start));
    return chunk.length;
  }

  #endBlock(at: number, events: NntpEvent[]): number {
    events.push({ kind: 'end' });
    this.#state = 'status';
    this.#held = 'nothing';
    return at + 1;
  }

  #break(reason: string, events: NntpEvent[]): void {
    this.#state = 'broken';
    events.push({ kind: 'broken', reason });
  }
}

function pushData(events: NntpEvent[], bytes: Uint8Array): void {
  if (bytes.length > 0) events.push({ kind: 'data', bytes });
}
