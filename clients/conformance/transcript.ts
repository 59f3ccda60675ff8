import { printable } from './printable.js';

/** One turn of a dialogue. */
export interface TranscriptEntry {
  readonly direction: 'sent' | 'received' | 'note';
  /** Printable: see {@link printable}. */
  readonly text: string;
}

/** Bytes of a turn that are kept, and turns that are kept: a report holds what explains a verdict, not the database. */
const KEPT_BYTES = 1024;
const KEPT_ENTRIES = 100;

interface Turn {
  readonly direction: 'sent' | 'received' | 'note';
  readonly kept: Uint8Array[];
  keptBytes: number;
  bytes: number;
}

/**
 * What was said, for the report. Pieces that go the same way without anything between them are one turn, so a
 * transcript does not depend on how TCP cut them. Memory is bounded whatever is recorded.
 */
export class Transcript {
  readonly #turns: Turn[] = [];
  readonly #beside: Transcript | undefined;
  #leftOut = 0;
  #heard = false;
  #silent = false;

  /** @param beside the transcript of the case, when this one is of a dialogue that its report does not show */
  constructor(beside?: Transcript) {
    this.#beside = beside;
  }

  /** Whether the peer has said anything, be it in a dialogue that is not shown. */
  get heard(): boolean {
    return this.#heard;
  }

  /** Whether the peer was waited for in vain. */
  get silent(): boolean {
    return this.#silent;
  }

  sent(bytes: Uint8Array): void {
    this.#add('sent', bytes);
  }

  received(bytes: Uint8Array): void {
    this.#heard = true;
    if (this.#beside !== undefined) this.#beside.#heard = true;
    this.#add('received', bytes);
  }

  /** Time is over. The peer was waited for in vain if there was anything to do with it at all. */
  silence(text: string): void {
    if (this.#turns.length === 0) return;
    this.#silent = true;
    if (this.#beside !== undefined) this.#beside.#silent = true;
    this.note(text);
  }

  /** A remark of the kit: a connection opened, a stream too long to be shown. */
  note(text: string): void {
    this.#add('note', Buffer.from(text));
  }

  get entries(): readonly TranscriptEntry[] {
    const entries = this.#turns.map(({ direction, kept, keptBytes, bytes }): TranscriptEntry => {
      if (direction === 'note') return { direction, text: Buffer.concat(kept).toString() };
      const more = bytes > keptBytes ? ` [${bytes - keptBytes} more bytes]` : '';
      return { direction, text: printable(Buffer.concat(kept), KEPT_BYTES) + more };
    });
    if (this.#leftOut > 0) entries.push({ direction: 'note', text: `${this.#leftOut} more turns` });
    return entries;
  }

  #add(direction: Turn['direction'], bytes: Uint8Array): void {
    const turn = this.#turn(direction);
    if (turn === undefined) return;
    turn.bytes += bytes.length;
    const room = KEPT_BYTES - turn.keptBytes;
    if (room <= 0) return;
    // A copy: the chunk is a view of something larger that would be kept with it.
    turn.kept.push(Uint8Array.from(bytes.subarray(0, room)));
    turn.keptBytes += Math.min(room, bytes.length);
  }

  /** The turn that goes on, or a new one; undefined when there are enough. */
  #turn(direction: Turn['direction']): Turn | undefined {
    const last = this.#turns.at(-1);
    if (direction !== 'note' && last?.direction === direction && this.#leftOut === 0) return last;
    if (this.#turns.length >= KEPT_ENTRIES) {
      this.#leftOut++;
      return undefined;
    }
    const turn: Turn = { direction, kept: [], keptBytes: 0, bytes: 0 };
    this.#turns.push(turn);
    return turn;
  }
}
