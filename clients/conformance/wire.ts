// A raw connection to a server under test.
import { setTimeout } from 'node:timers/promises';
import { isDigit } from '../../protocols/ascii.js';
import { ConnectionError, messageOf, UsageError } from '../../protocols/errors.js';
import { authorityOf } from '../../protocols/urls/parse-url.js';
import { Connection } from '../connection/index.js';
import { Mismatch } from './case.js';
import { printable } from './printable.js';
import type { Transcript } from './transcript.js';

/** Address of the server under test. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/**
 * Reads `HOST`, `HOST:PORT`, `HOST PORT`, `[IPV6]:PORT` or `IPV6`.
 * @throws UsageError for anything else
 */
export function targetOf(args: readonly string[], defaultPort: number): Target {
  const [address, separatePort, ...more] = args;
  if (address === undefined || more.length > 0) throw new UsageError('HOST or HOST:PORT is required');
  if (/^[\da-f:.]*:[\da-f:.]*:[\da-f:.]*$/i.test(address)) {
    return { host: address, port: portOf(separatePort) ?? defaultPort };
  }
  const match = /^\[([^\]]+)\](?::(.*))?$/.exec(address) ?? /^([^:]+)(?::(.*))?$/.exec(address);
  if (match === null || address.startsWith('-')) throw new UsageError(`not HOST or HOST:PORT: "${address}"`);
  if (match[2] !== undefined && separatePort !== undefined) throw new UsageError('two ports are given');
  return { host: match[1]!, port: portOf(match[2] ?? separatePort) ?? defaultPort };
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,5}$/.test(text) || Number(text) < 1 || Number(text) > 65_535) {
    throw new UsageError(`not a TCP port: "${text}"`);
  }
  return Number(text);
}

/** `HOST:PORT`, with brackets around an IPv6 address. */
export function targetText({ host, port }: Target): string {
  return authorityOf(host, port);
}

/** A status line. Its number decides what it means (GATHERD-1.6). */
export interface Status {
  readonly code: number;
  /** The line without its LF; a CR is kept. */
  readonly line: string;
}

export interface WireOptions {
  readonly transcript: Transcript;
  /** Aborts pending operations, which reject with its reason. The owner of the wire closes the connection. */
  readonly signal: AbortSignal;
  /** Milliseconds to wait for the connection and for the next byte. */
  readonly idleMs: number;
}

/** Longest accepted line, in bytes; HELP and INFO lines are far shorter. */
const MAX_LINE = 64 * 1024;
const NOTHING = new Uint8Array(0);
const LF = 0x0a;

/**
 * A connection to the server under test: lines and bytes. Of the protocol it knows only the form of a status
 * line, so it does not hide any error that a case looks for. It reads from the socket on demand.
 */
export class Wire implements AsyncDisposable {
  readonly #connection: Connection;
  readonly #options: WireOptions;
  #held: Uint8Array = NOTHING;
  #ended = false;
  #timeoutNoted = false;

  private constructor(connection: Connection, options: WireOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /** Connects. Rejects with ConnectionError. */
  static async open(target: Target, options: WireOptions): Promise<Wire> {
    const { idleMs, signal, transcript } = options;
    const connection = await Connection.open({
      ...target,
      connectTimeoutMs: idleMs,
      idleTimeoutMs: idleMs,
      signal,
    });
    transcript.note('connected');
    return new Wire(connection, options);
  }

  /** Sends bytes, or a Latin-1 text that includes its line ends. Resolves when more can be sent. */
  async send(data: string | Uint8Array): Promise<void> {
    const bytes = typeof data === 'string' ? Buffer.from(data, 'latin1') : data;
    this.#options.transcript.sent(bytes);
    await this.#noteTimeout(this.#connection.write(bytes, this.#options.signal));
  }

  /** Sends a text byte by byte: without the pauses the operating system would send the bytes together. */
  async sendSlowly(text: string): Promise<void> {
    for (const byte of text) {
      await this.send(byte);
      await setTimeout(1);
    }
  }

  /** The next bytes; undefined once the server has closed its side. */
  async read(): Promise<Uint8Array | undefined> {
    if (this.#held.length > 0) {
      const held = this.#held;
      this.#held = NOTHING;
      return held;
    }
    if (this.#ended) return undefined;
    const bytes = await this.#noteTimeout(this.#connection.read(this.#options.signal));
    if (bytes === undefined) {
      this.#ended = true;
      this.#options.transcript.note('closed by the server');
      return undefined;
    }
    this.#options.transcript.received(bytes);
    return bytes;
  }

  /** Puts back bytes, which are read again. */
  unread(bytes: Uint8Array): void {
    this.#held = this.#held.length === 0 ? bytes : Buffer.concat([bytes, this.#held]);
  }

  /** The next byte, which stays unread; undefined at the end. */
  async peek(): Promise<number | undefined> {
    const bytes = await this.read();
    if (bytes !== undefined) this.unread(bytes);
    return bytes?.[0];
  }

  /** This number of bytes, or fewer at the end of the connection. */
  async take(length: number): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    let missing = length;
    while (missing > 0) {
      const bytes = await this.read();
      if (bytes === undefined) break;
      parts.push(bytes.subarray(0, missing));
      if (bytes.length > missing) this.unread(bytes.subarray(missing));
      missing -= Math.min(missing, bytes.length);
    }
    return Buffer.concat(parts);
  }

  /** Whether a digit is the next byte, which stays unread. */
  async startsWithDigit(): Promise<boolean> {
    return isDigit((await this.peek()) ?? 0);
  }

  /** The next line without its LF, as Latin-1. Rejects with ConnectionError at the end. */
  async line(): Promise<string> {
    let line: Uint8Array = NOTHING;
    for (;;) {
      const bytes = await this.read();
      if (bytes === undefined) {
        throw new ConnectionError(
          `closed by the server after "${printable(line)}", where a line was expected`,
        );
      }
      const end = bytes.indexOf(LF);
      line = Buffer.concat([line, end < 0 ? bytes : bytes.subarray(0, end)]);
      if (end >= 0) {
        this.unread(bytes.subarray(end + 1));
        return Buffer.from(line).toString('latin1');
      }
      if (line.length > MAX_LINE) throw new ConnectionError(`a line of more than ${MAX_LINE} bytes`);
    }
  }

  /** The next line, which must begin with a status number. @throws Mismatch */
  async status(): Promise<Status> {
    const bytes = await this.read();
    // Checked before the line is complete: binary data may have no line end.
    if (bytes !== undefined) this.unread(bytes);
    if (bytes !== undefined && !isDigit(bytes[0] ?? 0)) {
      throw new Mismatch('not a status line', { expected: 'NNN - text', received: printable(bytes) });
    }
    const line = await this.line();
    const digits = /^\d{3}(?!\d)/.exec(line)?.[0];
    if (digits === undefined) {
      throw new Mismatch('not a status line', { expected: 'NNN - text', received: printable(line) });
    }
    return { code: Number(digits), line };
  }

  /** The next line, which must have this number. @throws Mismatch */
  async expect(code: number, after: string): Promise<Status> {
    const status = await this.status();
    if (status.code === code) return status;
    throw new Mismatch(`wrong answer to ${after}`, {
      expected: `${String(code).padStart(3, '0')} - ...`,
      received: printable(status.line),
    });
  }

  /** Passes if the server closes without more data. @throws Mismatch */
  async expectEnd(after: string): Promise<void> {
    const bytes = await this.read();
    if (bytes === undefined) return;
    throw new Mismatch(`more data after ${after}`, {
      expected: 'end of the connection',
      received: printable(bytes),
    });
  }

  /** Closes our direction only. */
  endInput(): void {
    this.#options.transcript.note('our direction closed');
    this.#connection.end();
  }

  /** Drops the connection with a TCP reset. */
  reset(): void {
    this.#options.transcript.note('connection reset by us');
    this.#connection.reset();
  }

  /** Drops the connection; resolves when it is closed. */
  close(): Promise<void> {
    return this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Notes the first timeout in the transcript. */
  async #noteTimeout<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (this.#connection.timedOut && !this.#timeoutNoted) {
        this.#timeoutNoted = true;
        this.#options.transcript.noteTimeout(messageOf(error));
      }
      throw error;
    }
  }
}
