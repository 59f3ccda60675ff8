// The dialogue of a case as printable text of limited size, and its recording.
import { printable } from './printable.js';

/** One turn of a dialogue. */
export interface TranscriptEntry {
  readonly direction: 'sent' | 'received' | 'note';
  /** Printable: see {@link printable}. */
  readonly text: string;
}

/**
 * Limits of a transcript: bytes of a turn, and turns. A report explains a verdict; it is not a copy of the
 * database.
 */
const MAX_TURN_BYTES = 1024;
const MAX_TURNS = 100;

interface Turn {
  readonly direction: 'sent' | 'received' | 'note';
  readonly kept: Uint8Array[];
  keptBytes: number;
  bytes: number;
}

/**
 * A dialogue, for the report. Consecutive pieces in one direction are one turn, so a transcript does not depend
 * on how TCP divided them. Memory is bounded.
 */
export class Transcript {
  readonly #turns: Turn[] = [];
  readonly #parent: Transcript | undefined;
  #omitted = 0;
  #hasReceived = false;
  #timedOut = false;

  /** @param parent the transcript of the case, if the report does not show this dialogue */
  constructor(parent?: Transcript) {
    this.#parent = parent;
  }

  /** Whether the peer has sent anything, including in a dialogue that is not shown. */
  get hasReceived(): boolean {
    return this.#hasReceived;
  }

  /** Whether a wait for the peer timed out. */
  get timedOut(): boolean {
    return this.#timedOut;
  }

  sent(bytes: Uint8Array): void {
    this.#add('sent', bytes);
  }

  received(bytes: Uint8Array): void {
    this.#hasReceived = true;
    if (this.#parent !== undefined) this.#parent.#hasReceived = true;
    this.#add('received', bytes);
  }

  /** Records a timeout. It counts as silence of the peer only if the case had begun a dialogue. */
  noteTimeout(text: string): void {
    if (this.#turns.length === 0) return;
    this.#timedOut = true;
    if (this.#parent !== undefined) this.#parent.#timedOut = true;
    this.note(text);
  }

  /** A note of the kit: a connection was opened, a stream is too long to be shown. */
  note(text: string): void {
    this.#add('note', Buffer.from(text));
  }

  get entries(): readonly TranscriptEntry[] {
    const entries = this.#turns.map(({ direction, kept, keptBytes, bytes }): TranscriptEntry => {
      if (direction === 'note') return { direction, text: Buffer.concat(kept).toString() };
      const more = bytes > keptBytes ? ` [${bytes - keptBytes} more bytes]` : '';
      return { direction, text: printable(Buffer.concat(kept), MAX_TURN_BYTES) + more };
    });
    if (this.#omitted > 0) entries.push({ direction: 'note', text: `${this.#omitted} more turns` });
    return entries;
  }

  #add(direction: Turn['direction'], bytes: Uint8Array): void {
    const turn = this.#turn(direction);
    if (turn === undefined) return;
    turn.bytes += bytes.length;
    const room = MAX_TURN_BYTES - turn.keptBytes;
    if (room <= 0) return;
    // A copy: the chunk is a view of a larger buffer.
    turn.kept.push(Uint8Array.from(bytes.subarray(0, room)));
    turn.keptBytes += Math.min(room, bytes.length);
  }

  /** The current turn or a new one; undefined above the limit. */
  #turn(direction: Turn['direction']): Turn | undefined {
    const last = this.#turns.at(-1);
    if (direction !== 'note' && last?.direction === direction && this.#omitted === 0) return last;
    if (this.#turns.length >= MAX_TURNS) {
      this.#omitted++;
      return undefined;
    }
    const turn: Turn = { direction, kept: [], keptBytes: 0, bytes: 0 };
    this.#turns.push(turn);
    return turn;
  }
}

/** How bytes are sent: in one write, one byte per segment, or in pieces with pauses. */
export type Delivery = 'whole' | 'bytes' | 'slow';

/** Bytes of one piece that are kept for a replay. */
const MAX_PIECE = 2_048;
const MAX_ENTRIES = 500;

const DELIVERED: Readonly<Record<Delivery, string>> = {
  whole: '',
  bytes: 'the next piece with one byte per segment',
  slow: 'the next piece in parts, with pauses',
};

type Entry = (transcript: Transcript) => void;

/** Writes a transcript and keeps it, because several cases check one run and each shows its transcript. */
export class Recorder {
  readonly #entries: Entry[] = [];
  readonly #transcript: Transcript;

  constructor(transcript: Transcript) {
    this.#transcript = transcript;
  }

  sent(data: Uint8Array, delivery: Delivery): void {
    if (delivery !== 'whole') this.note(DELIVERED[delivery]);
    this.#add(data, (transcript, piece) => transcript.sent(piece));
  }

  received(data: Uint8Array): void {
    this.#add(data, (transcript, piece) => transcript.received(piece));
  }

  note(text: string): void {
    this.#enter((transcript) => transcript.note(text));
  }

  /** Copies the run into the transcript of another case. */
  replay(transcript: Transcript): void {
    for (const entry of this.#entries) entry(transcript);
  }

  #add(data: Uint8Array, write: (transcript: Transcript, piece: Uint8Array) => void): void {
    const piece = Uint8Array.from(data.subarray(0, MAX_PIECE));
    this.#enter((transcript) => write(transcript, piece));
    if (data.length > piece.length) this.note(`... ${data.length - piece.length} bytes more`);
  }

  #enter(entry: Entry): void {
    if (this.#entries.length === MAX_ENTRIES) return;
    this.#entries.push(entry);
    entry(this.#transcript);
  }
}
