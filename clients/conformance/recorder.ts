// Records the dialogue of a run, so that every case that checks the run can show it.
import type { Transcript } from './transcript.js';

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
