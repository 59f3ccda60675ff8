// Reads the answers of the kit's own gatherd part by part, so that a mutant can change one of them.
import { gunzipSync, gzipSync, inflateRawSync } from 'node:zlib';
import type { Link, Sent, Weakness } from './proxy.js';

/** A part of an answer: a status line with its LF, or the data between two of them. */
export interface Part {
  readonly kind: 'line' | 'stream' | 'object' | 'info';
  /** Of data: decompressed. */
  readonly text: string;
  /** The number of a status line; empty for data. */
  readonly code: string;
  /** Whether data is a gzip member; of a line: whether it follows or precedes one. */
  readonly isPacked: boolean;
}

/** What happened on a connection before the part. */
export interface Dialogue {
  readonly before: readonly Part[];
  /** The lines that the client has sent, without line ends. */
  readonly commands: readonly string[];
  /** The kind of data between this line and the one before it; undefined without data. */
  readonly after: Part['kind'] | undefined;
  /** Whether `SET compression` was accepted. */
  readonly isCompressing: boolean;
}

/** Changes of a gatherd. */
export interface GatherdChange {
  /**
   * Changes a line of the client, without its line end, before the server reads it. @param lines those so far,
   * and this one
   */
  command?(line: string, end: string, lines: readonly string[]): string;
  /** Changes a part of an answer. */
  part?(part: Part, dialogue: Dialogue): string | Sent;
  /** Changes the bytes of a gzip member. */
  member?(bytes: Buffer, text: string): Buffer;
  /** Changes the received bytes as they come. */
  chunk?(text: string): string;
  readonly staysOpen?: boolean;
  readonly weakness?: Weakness;
}

const SECTION = /^@(?:DELETE|REFRESH|UPDATE) \{\n/;
const HEADER_BYTES = 10;
const TRAILER_BYTES = 8;

/**
 * Returns the offset after the objects and sections at the begin of a text; undefined if they are not complete.
 */
export function endOfSoif(text: string): number | undefined {
  let at = 0;
  let isInSection = false;
  for (;;) {
    const rest = text.slice(at, at + 32);
    if (rest === '') return undefined;
    if (rest.startsWith('}')) {
      if (!isInSection) return at;
      isInSection = false;
      at += 2;
    } else if (SECTION.test(rest)) {
      isInSection = true;
      at += rest.indexOf('\n') + 1;
    } else if (rest.startsWith('@')) {
      const end = endOfObject(text, at);
      if (end === undefined) return undefined;
      at = end;
    } else return at;
  }
}

function endOfObject(text: string, start: number): number | undefined {
  let at = text.indexOf('\n', start) + 1;
  while (at > 0) {
    if (text[at] === '}') return at + 2 <= text.length ? at + 2 : undefined;
    const close = text.indexOf('}', at);
    if (close < 0) return undefined;
    const size = Number(text.slice(text.indexOf('{', at) + 1, close));
    at = close + 3 + size + 1;
    if (at > text.length) return undefined;
  }
  return undefined;
}

/** Returns the length of the gzip member at the begin of a text; undefined if it is not complete. */
function memberLength(text: string): number | undefined {
  const bytes = Buffer.from(text, 'latin1');
  if (bytes.length < HEADER_BYTES + TRAILER_BYTES) return undefined;
  if (bytes[3] !== 0) throw new Error('a gzip header with more fields than the own gatherd writes');
  try {
    const { engine } = inflateRawSync(bytes.subarray(HEADER_BYTES), { info: true }) as unknown as {
      readonly engine: { readonly bytesWritten: number };
    };
    const length = HEADER_BYTES + engine.bytesWritten + TRAILER_BYTES;
    return length <= bytes.length ? length : undefined;
  } catch {
    // The member goes on in the next chunk.
    return undefined;
  }
}

/** Returns the link of one connection of a gatherd with this change. */
export function gatherdLink(change: GatherdChange): Link {
  const reader = new AnswerReader(change);
  let line = '';
  return {
    staysOpen: change.staysOpen === true,
    fromClient(text, ended) {
      line += change.chunk?.(text) ?? text;
      const lines = line.split(/(?<=\n)/);
      line = lines.at(-1)?.endsWith('\n') === true ? '' : (lines.pop() ?? '');
      const sent = lines.map((one) => {
        const end = /\r?\n$/.exec(one)?.[0] ?? '';
        const bare = one.slice(0, one.length - end.length);
        reader.commands.push(bare.trim());
        return change.command === undefined ? one : change.command(bare, end, reader.commands);
      });
      return sent.join('') + (ended ? line : '');
    },
    fromServer: (text) => reader.push(text),
  };
}

class AnswerReader {
  readonly commands: string[] = [];
  readonly #change: GatherdChange;
  readonly #before: Part[] = [];
  #unread = '';

  constructor(change: GatherdChange) {
    this.#change = change;
  }

  push(text: string): Sent {
    this.#unread += text;
    let out = '';
    for (let part = this.#next(); part !== undefined; part = this.#next()) {
      const sent = this.#changed(part);
      this.#before.push(part);
      if (typeof sent === 'string') out += sent;
      else {
        out += sent.text;
        if (sent.action !== undefined) return { text: out, action: sent.action };
      }
    }
    return { text: out };
  }

  get #isCompressing(): boolean {
    const settings = this.commands.filter((line) => /^set\s/i.test(line));
    const agreed = this.#before.filter(({ code }) => code === '500').length;
    return agreed > 0 && settings.slice(0, agreed).some((line) => /compression/i.test(line));
  }

  #next(): Part | undefined {
    const unread = this.#unread;
    if (unread === '') return undefined;
    if (unread.startsWith('\x1f')) {
      const length = memberLength(unread);
      if (length === undefined) return undefined;
      const text = gunzipSync(Buffer.from(unread.slice(0, length), 'latin1')).toString('latin1');
      return this.#take(length, { kind: 'stream', text, code: '', isPacked: true });
    }
    if (/^\d/.test(unread)) {
      const end = unread.indexOf('\n') + 1;
      if (end === 0) return undefined;
      const code = unread.slice(0, 3);
      const isPacked =
        code === '400' ? this.#isCompressing : code === '499' && this.#before.at(-1)?.isPacked === true;
      return this.#take(end, { kind: 'line', text: unread.slice(0, end), code, isPacked });
    }
    const end = endOfSoif(unread);
    if (end === undefined) return undefined;
    const code = this.#before.at(-1)?.code;
    const kind = code === '400' ? 'stream' : code === '300' ? 'object' : 'info';
    return this.#take(end, { kind, text: unread.slice(0, end), code: '', isPacked: false });
  }

  #take(length: number, part: Part): Part {
    this.#raw = this.#unread.slice(0, length);
    this.#unread = this.#unread.slice(length);
    return part;
  }

  #raw = '';

  #changed(part: Part): string | Sent {
    const { member } = this.#change;
    if (part.isPacked && part.kind === 'stream' && member !== undefined) {
      return member(Buffer.from(this.#raw, 'latin1'), part.text).toString('latin1');
    }
    const last = this.#before.at(-1);
    const after = last !== undefined && last.kind !== 'line' ? last.kind : undefined;
    const dialogue = {
      before: this.#before,
      commands: this.commands,
      after,
      isCompressing: this.#isCompressing,
    };
    const sent = this.#change.part?.(part, dialogue) ?? part.text;
    const text = typeof sent === 'string' ? sent : sent.text;
    if (part.kind === 'line' || !part.isPacked) return sent;
    if (text === part.text) return this.#raw;
    const packed = gzipSync(Buffer.from(text, 'latin1')).toString('latin1');
    return typeof sent === 'string' ? packed : { ...sent, text: packed };
  }
}
