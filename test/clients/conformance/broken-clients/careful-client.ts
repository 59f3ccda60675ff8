// A gatherd client written from the specification, without code of clients/ or protocols/. It can make one mistake; without
// it the client is correct, so that a failing case is due to the mistake.
import { constants, crc32, createInflateRaw } from 'node:zlib';
import { CutOff, Wire } from './wire.js';

export const MISTAKES = [
  'none',
  /** Looks for the end line in the bytes, also inside of values. */
  'searches-end-line',
  /** Accepts a transfer without end line as complete. */
  'ignores-missing-end',
  /** Does not check the trailer of a gzip member. */
  'ignores-trailer',
  /** Reads only the first gzip member. */
  'first-member-only',
  /** Writes its commands in lower case. */
  'small-letters',
  /** Closes without QUIT. */
  'never-quits',
  /** Exit status 0, whatever happens. */
  'always-succeeds',
  /** Waits forever when the server closes too early. */
  'hangs',
  /** Gives up when compression is refused. */
  'insists-on-compression',
  /** Reads values as UTF-8 text. */
  'decodes-values',
  /** Skips FNAME of a gzip header, and knows no other field. */
  'knows-only-names',
  /** Reads only the first line of an answer. */
  'trusts-first-line',
  /** Knows `@UPDATE {` only as a wrapper. */
  'reserves-wrappers',
  /** Sends a date instead of seconds. */
  'sends-date',
  /** Does not close after 999. */
  'waits-for-close',
] as const;
export type Mistake = (typeof MISTAKES)[number];

type Write = (piece: Uint8Array) => void | Promise<void>;

/** Fetches everything, or the description, and writes bare objects. Resolves with the exit status. */
export async function carefulClient(
  mistake: Mistake,
  task: 'update' | 'info',
  port: number,
  write: Write,
  signal?: AbortSignal,
): Promise<number> {
  let wire: Wire | undefined;
  try {
    wire = await Wire.open('127.0.0.1', port);
    const opened = wire;
    signal?.addEventListener('abort', () => opened.close());
    await new Session(wire, mistake, write).run(task);
    return 0;
  } catch {
    if (mistake === 'hangs') await new Promise((_, reject) => signal?.addEventListener('abort', reject));
    return mistake === 'always-succeeds' ? 0 : 1;
  } finally {
    wire?.close();
  }
}

class Session {
  readonly #wire: Wire;
  readonly #mistake: Mistake;
  readonly #write: Write;

  constructor(wire: Wire, mistake: Mistake, write: Write) {
    this.#wire = wire;
    this.#mistake = mistake;
    this.#write = write;
  }

  async run(task: 'update' | 'info'): Promise<void> {
    if (!/^000 - HELLO \S+ \S+/.test((await this.#wire.line()) ?? '')) throw new Error('no greeting');
    this.#say('HELLO client.example.org');
    await this.#answer(/^100 /);
    if (task === 'info') await this.#info();
    else await this.#update();
    if (this.#mistake === 'never-quits') return;
    this.#say('QUIT');
    // A server may close instead.
    while (!/^999 |^$/.test((await this.#wire.line()) ?? ''))
      if (this.#mistake === 'trusts-first-line') break;
    while (this.#mistake === 'waits-for-close' && (await this.#wire.chunk()) !== undefined);
  }

  #say(line: string): void {
    this.#wire.send(`${this.#mistake === 'small-letters' ? line.toLowerCase() : line}\n`);
  }

  async #answer(wanted: RegExp): Promise<string> {
    for (;;) {
      const line = await this.#wire.line();
      if (line === undefined) throw new CutOff('no answer');
      if (wanted.test(line)) return line;
      if (this.#mistake === 'trusts-first-line') throw new Error(`not understood: ${line}`);
    }
  }

  async #info(): Promise<void> {
    this.#say('INFO');
    while ((await this.#wire.peek()) !== 0x40)
      if ((await this.#wire.line()) === undefined) throw new CutOff();
    await this.#object(this.#wire);
  }

  async #update(): Promise<void> {
    this.#say('SET compression');
    const compressed = (await this.#answer(/^\d\d\d /)).startsWith('500 ');
    if (!compressed && this.#mistake === 'insists-on-compression') throw new Error('no compression');
    this.#say(`SEND-UPDATE ${this.#mistake === 'sends-date' ? '1996-01-31' : '0'}`);
    if (!(await this.#answer(/^4(?:00|99) /)).startsWith('400 ')) throw new Error('refused');
    if (compressed) await this.#members();
    else if (this.#mistake === 'searches-end-line') await this.#searched();
    else await this.#stream(new ByWire(this.#wire), true);
  }

  /** The mistake of GATHERD-3.7. */
  async #searched(): Promise<void> {
    const lines: string[] = [];
    for (;;) {
      const line = await this.#wire.line();
      if (line === undefined) throw new CutOff();
      if (/^(?:499|099) /.test(line)) break;
      lines.push(line);
    }
    await this.#stream(new ByBuffer(Buffer.from(lines.join(''), 'latin1')), false);
  }

  async #members(): Promise<void> {
    const parts: Uint8Array[] = [];
    do {
      parts.push(await inflated(this.#wire, this.#mistake));
    } while (this.#mistake !== 'first-member-only' && (await this.#wire.peek()) === 0x1f);
    await this.#stream(new ByBuffer(Buffer.concat(parts)), false);
    const next = await this.#wire.peek();
    if (next !== undefined) await this.#answer(/^(?:499|099) /);
  }

  /** SOIF-8.9: wrappers and objects, up to the end line or the end of the bytes. */
  async #stream(source: Source, endLine: boolean): Promise<void> {
    for (;;) {
      const byte = await source.peek();
      if (byte === undefined) {
        if (endLine && this.#mistake !== 'ignores-missing-end') throw new CutOff();
        return;
      }
      if (byte === 0x40) await this.#object(source);
      else if (endLine && byte >= 0x30 && byte <= 0x39) {
        if (/^(?:499|099) /.test(await source.until('\n'))) return;
      } else await source.bytes(1);
    }
  }

  /** Skips a wrapper or writes an object. */
  async #object(source: Source): Promise<void> {
    const type = await source.until('{');
    const word = type.trim().slice(1).toUpperCase();
    const isWord = ['DELETE', 'REFRESH', 'UPDATE'].includes(word);
    while (isBlank(await source.peek())) await source.bytes(1);
    const next = await source.peek();
    if (isWord && (this.#mistake === 'reserves-wrappers' || next === 0x40 || next === 0x7d)) return;
    const parts: Uint8Array[] = [Buffer.from(`${type}{ ${await source.until('\n')}\n`, 'latin1')];
    for (let at = await source.peek(); at !== 0x7d; at = await source.peek()) {
      const name = await source.until('{');
      const bytes = await source.bytes(Number(await after(source, source.until('}'))));
      await source.bytes(1);
      const value = this.#mistake === 'decodes-values' ? Buffer.from(bytes.toString('utf8')) : bytes;
      parts.push(Buffer.from(`${name}{${value.length}}:\t`, 'latin1'), value, Buffer.from('\n'));
    }
    await source.bytes(2);
    await this.#write(Buffer.concat([...parts, Buffer.from('}\n')]));
  }
}

/** Reads the size, the colon and the tab. */
async function after(source: Source, size: Promise<string>): Promise<string> {
  const digits = await size;
  await source.bytes(2);
  return digits;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

interface Source {
  peek(): Promise<number | undefined>;
  bytes(count: number): Promise<Buffer>;
  until(stop: string): Promise<string>;
}

class ByWire implements Source {
  constructor(private readonly wire: Wire) {}
  peek = (): Promise<number | undefined> => this.wire.peek();
  bytes = (count: number): Promise<Buffer> => this.wire.bytes(count);
  until = (stop: string): Promise<string> => this.wire.until(stop);
}

class ByBuffer implements Source {
  #at = 0;
  constructor(private readonly data: Buffer) {}
  async peek(): Promise<number | undefined> {
    return this.data[this.#at];
  }
  async bytes(count: number): Promise<Buffer> {
    if (this.#at + count > this.data.length) throw new CutOff();
    this.#at += count;
    return this.data.subarray(this.#at - count, this.#at);
  }
  async until(stop: string): Promise<string> {
    const end = this.data.indexOf(stop, this.#at, 'latin1');
    if (end < 0) throw new CutOff();
    const text = this.data.toString('latin1', this.#at, end);
    this.#at = end + 1;
    return text;
  }
}

/** One gzip member (RFC 1952; GATHERD-6.7). */
async function inflated(wire: Wire, mistake: Mistake): Promise<Buffer> {
  const head = await wire.bytes(10);
  if (head[0] !== 0x1f || head[1] !== 0x8b) throw new Error('not gzip');
  const flags = (head[3] ?? 0) & (mistake === 'knows-only-names' ? 8 : 0xff);
  if (flags & 4) await wire.bytes((await wire.bytes(2)).readUInt16LE());
  if (flags & 8) await wire.until('\0');
  if (flags & 16) await wire.until('\0');
  if (flags & 2) await wire.bytes(2);
  const inflate = createInflateRaw({ flush: constants.Z_SYNC_FLUSH });
  const output: Buffer[] = [];
  inflate.on('data', (piece: Buffer) => output.push(piece));
  let written = 0;
  for (;;) {
    const chunk = await wire.chunk();
    if (chunk === undefined) throw new CutOff();
    written += chunk.length;
    await new Promise<void>((resolve, reject) => {
      inflate.once('error', reject);
      inflate.write(chunk, () => resolve());
    });
    inflate.removeAllListeners('error');
    const unused = written - inflate.bytesWritten;
    if (unused === 0) continue;
    wire.unread(chunk.subarray(chunk.length - unused));
    break;
  }
  await new Promise(setImmediate);
  const content = Buffer.concat(output);
  const trailer = await wire.bytes(8);
  const right = trailer.readUInt32LE(0) === crc32(content) && trailer.readUInt32LE(4) === content.length;
  if (!right && mistake !== 'ignores-trailer') throw new Error('damaged');
  return content;
}
