// A gatherd client written from the specification, without code of clients/ or protocols/, that can make one mistake. Without
// a mistake the client is correct, so that a failing case is due to the mistake.
import { constants, crc32, createInflateRaw } from 'node:zlib';
import { CutOffError, Wire } from './wire.js';

export const GATHERD_MISTAKES = [
  'none',
  /** Searches all bytes for the end line, also values. */
  'searches-end-line',
  /** Accepts a transfer without end line as complete. */
  'ignores-missing-end',
  /** Does not check the trailer of a gzip member. */
  'ignores-trailer',
  /** Reads only the first gzip member. */
  'first-member-only',
  /** Writes its commands in lower case. */
  'lower-case',
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
  /** Skips FNAME in a gzip header, but no other field. */
  'knows-only-fname',
  /** Reads only the first line of an answer. */
  'trusts-first-line',
  /** Reads every `@UPDATE {` as a wrapper. */
  'reserves-wrappers',
  /** Sends a date instead of seconds. */
  'sends-date',
  /** Does not close after 999. */
  'waits-for-close',
] as const;
export type GatherdMistake = (typeof GATHERD_MISTAKES)[number];

type Write = (piece: Uint8Array) => void | Promise<void>;

/** Fetches all objects, or the description, and writes them without wrappers. Resolves with the exit status. */
export async function gatherdClient(
  mistake: GatherdMistake,
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
  readonly #mistake: GatherdMistake;
  readonly #write: Write;

  constructor(wire: Wire, mistake: GatherdMistake, write: Write) {
    this.#wire = wire;
    this.#mistake = mistake;
    this.#write = write;
  }

  async run(task: 'update' | 'info'): Promise<void> {
    if (!/^000 - HELLO \S+ \S+/.test((await this.#wire.readLine()) ?? '')) throw new Error('no greeting');
    this.#send('HELLO client.example.org');
    await this.#answer(/^100 /);
    if (task === 'info') await this.#info();
    else await this.#update();
    if (this.#mistake === 'never-quits') return;
    this.#send('QUIT');
    // A server may close instead.
    while (!/^999 |^$/.test((await this.#wire.readLine()) ?? ''))
      if (this.#mistake === 'trusts-first-line') break;
    while (this.#mistake === 'waits-for-close' && (await this.#wire.readChunk()) !== undefined);
  }

  #send(line: string): void {
    this.#wire.send(`${this.#mistake === 'lower-case' ? line.toLowerCase() : line}\n`);
  }

  async #answer(pattern: RegExp): Promise<string> {
    for (;;) {
      const line = await this.#wire.readLine();
      if (line === undefined) throw new CutOffError('no answer');
      if (pattern.test(line)) return line;
      if (this.#mistake === 'trusts-first-line') throw new Error(`not understood: ${line}`);
    }
  }

  async #info(): Promise<void> {
    this.#send('INFO');
    while ((await this.#wire.peek()) !== 0x40)
      if ((await this.#wire.readLine()) === undefined) throw new CutOffError();
    await this.#object(this.#wire);
  }

  async #update(): Promise<void> {
    this.#send('SET compression');
    const compressed = (await this.#answer(/^\d\d\d /)).startsWith('500 ');
    if (!compressed && this.#mistake === 'insists-on-compression') throw new Error('no compression');
    this.#send(`SEND-UPDATE ${this.#mistake === 'sends-date' ? '1996-01-31' : '0'}`);
    if (!(await this.#answer(/^4(?:00|99) /)).startsWith('400 ')) throw new Error('refused');
    if (compressed) await this.#compressed();
    else if (this.#mistake === 'searches-end-line') await this.#linesToEndLine();
    else await this.#stream(new WireSource(this.#wire), true);
  }

  /** Reads lines up to an end line, in values too: the mistake of GATHERD-3.7. */
  async #linesToEndLine(): Promise<void> {
    const lines: string[] = [];
    for (;;) {
      const line = await this.#wire.readLine();
      if (line === undefined) throw new CutOffError();
      if (/^(?:499|099) /.test(line)) break;
      lines.push(line);
    }
    await this.#stream(new BufferSource(Buffer.from(lines.join(''), 'latin1')), false);
  }

  async #compressed(): Promise<void> {
    const parts: Uint8Array[] = [];
    do {
      parts.push(await readMember(this.#wire, this.#mistake));
    } while (this.#mistake !== 'first-member-only' && (await this.#wire.peek()) === 0x1f);
    await this.#stream(new BufferSource(Buffer.concat(parts)), false);
    const next = await this.#wire.peek();
    if (next !== undefined) await this.#answer(/^(?:499|099) /);
  }

  /** Reads wrappers and objects (SOIF-8.9) up to the end line or the end of the bytes. */
  async #stream(source: Source, endLine: boolean): Promise<void> {
    for (;;) {
      const byte = await source.peek();
      if (byte === undefined) {
        if (endLine && this.#mistake !== 'ignores-missing-end') throw new CutOffError();
        return;
      }
      if (byte === 0x40) await this.#object(source);
      else if (endLine && byte >= 0x30 && byte <= 0x39) {
        if (/^(?:499|099) /.test(await source.readUntil('\n'))) return;
      } else await source.readBytes(1);
    }
  }

  /** Skips a wrapper or writes an object. */
  async #object(source: Source): Promise<void> {
    const type = await source.readUntil('{');
    const name = type.trim().slice(1).toUpperCase();
    const isSection = ['DELETE', 'REFRESH', 'UPDATE'].includes(name);
    while (isBlank(await source.peek())) await source.readBytes(1);
    const next = await source.peek();
    if (isSection && (this.#mistake === 'reserves-wrappers' || next === 0x40 || next === 0x7d)) return;
    const parts: Uint8Array[] = [Buffer.from(`${type}{ ${await source.readUntil('\n')}\n`, 'latin1')];
    while ((await source.peek()) !== 0x7d) {
      const attribute = await source.readUntil('{');
      const bytes = await source.readBytes(await readSize(source));
      await source.readBytes(1);
      const value = this.#mistake === 'decodes-values' ? Buffer.from(bytes.toString('utf8')) : bytes;
      parts.push(Buffer.from(`${attribute}{${value.length}}:\t`, 'latin1'), value, Buffer.from('\n'));
    }
    await source.readBytes(2);
    await this.#write(Buffer.concat([...parts, Buffer.from('}\n')]));
  }
}

/** Reads a size, the closing brace, the colon and the tab. */
async function readSize(source: Source): Promise<number> {
  const size = Number(await source.readUntil('}'));
  await source.readBytes(2);
  return size;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

/** Where a stream is read from: the connection, or bytes in memory. */
interface Source {
  peek(): Promise<number | undefined>;
  readBytes(count: number): Promise<Buffer>;
  readUntil(stop: string): Promise<string>;
}

class WireSource implements Source {
  constructor(private readonly wire: Wire) {}
  peek = (): Promise<number | undefined> => this.wire.peek();
  readBytes = (count: number): Promise<Buffer> => this.wire.readBytes(count);
  readUntil = (stop: string): Promise<string> => this.wire.readUntil(stop);
}

class BufferSource implements Source {
  #offset = 0;
  constructor(private readonly data: Buffer) {}
  async peek(): Promise<number | undefined> {
    return this.data[this.#offset];
  }
  async readBytes(count: number): Promise<Buffer> {
    if (this.#offset + count > this.data.length) throw new CutOffError();
    this.#offset += count;
    return this.data.subarray(this.#offset - count, this.#offset);
  }
  async readUntil(stop: string): Promise<string> {
    const end = this.data.indexOf(stop, this.#offset, 'latin1');
    if (end < 0) throw new CutOffError();
    const text = this.data.toString('latin1', this.#offset, end);
    this.#offset = end + 1;
    return text;
  }
}

/** Reads one gzip member (RFC 1952; GATHERD-6.7). */
async function readMember(wire: Wire, mistake: GatherdMistake): Promise<Buffer> {
  const head = await wire.readBytes(10);
  if (head[0] !== 0x1f || head[1] !== 0x8b) throw new Error('not gzip');
  const flags = (head[3] ?? 0) & (mistake === 'knows-only-fname' ? 8 : 0xff);
  if (flags & 4) await wire.readBytes((await wire.readBytes(2)).readUInt16LE());
  if (flags & 8) await wire.readUntil('\0');
  if (flags & 16) await wire.readUntil('\0');
  if (flags & 2) await wire.readBytes(2);
  const inflate = createInflateRaw({ flush: constants.Z_SYNC_FLUSH });
  const output: Buffer[] = [];
  inflate.on('data', (piece: Buffer) => output.push(piece));
  let written = 0;
  for (;;) {
    const chunk = await wire.readChunk();
    if (chunk === undefined) throw new CutOffError();
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
  const trailer = await wire.readBytes(8);
  const isIntact = trailer.readUInt32LE(0) === crc32(content) && trailer.readUInt32LE(4) === content.length;
  if (!isIntact && mistake !== 'ignores-trailer') throw new Error('damaged');
  return content;
}
