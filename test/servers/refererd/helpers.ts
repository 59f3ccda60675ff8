// Helpers for tests of refererd: a server over the fixture of section R13, a raw client,
// HTTP by hand.
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Test } from 'tap';
import {
  type RefererLog,
  type RunningRefererd,
  type StartRefererdOptions,
  startRefererd,
} from '../../../servers/refererd/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { publishFixture } from '../../storage/references/fixture.js';

/** A log that keeps its lines in memory. */
export class MemoryLog implements RefererLog {
  readonly lines: { readonly level: number; readonly text: string }[] = [];

  constructor(readonly debuglevel = 100) {}

  writes(level: number): boolean {
    return level <= this.debuglevel;
  }

  write(level: number, text: string): void {
    if (this.writes(level)) this.lines.push({ level, text });
  }

  get text(): string {
    return this.lines.map(({ text }) => `${text}\n`).join('');
  }
}

/** Starts a server on a free port over `data`, by default over the fixture. */
export async function serveFixture(
  t: Test,
  options: Partial<StartRefererdOptions> = {},
): Promise<RunningRefererd & { readonly data: string; readonly memory: MemoryLog }> {
  const data = options.data ?? (await temporaryDirectory(t));
  if (options.data === undefined) await publishFixture(data);
  const memory = new MemoryLog();
  const running = await startRefererd({ port: 0, log: memory, ...options, data });
  t.teardown(() => running.close());
  return Object.assign(running, { data, memory });
}

/** A TCP client that keeps all received text and does not parse it. */
export class RawClient {
  /** The received text that no method has returned yet. */
  received = '';
  ended = false;
  readonly closed: Promise<void>;
  readonly #waiters: (() => void)[] = [];

  private constructor(readonly socket: Socket) {
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.received += text;
      this.#wakeWaiters();
    });
    socket.on('end', () => {
      this.ended = true;
      this.#wakeWaiters();
    });
    socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.ended = true;
        this.#wakeWaiters();
        resolve();
      });
    });
  }

  static async connect(t: Test, port: number, host = '127.0.0.1'): Promise<RawClient> {
    const socket = connect({ port, host, allowHalfOpen: true });
    t.teardown(() => socket.destroy());
    const client = new RawClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return client;
  }

  send(text: string): void {
    this.socket.write(text, 'latin1');
  }

  /** Waits for `end`; removes and returns the received text up to and including its `count`th occurrence. */
  async until(end: string, count = 1): Promise<string> {
    for (;;) {
      let position = 0;
      let found = 0;
      while (found < count) {
        const next = this.received.indexOf(end, position);
        if (next < 0) break;
        position = next + end.length;
        found += 1;
      }
      if (found === count) {
        const text = this.received.slice(0, position);
        this.received = this.received.slice(position);
        return text;
      }
      if (this.ended) throw new Error(`the connection ended after ${JSON.stringify(this.received)}`);
      await this.#nextEvent();
    }
  }

  /** Waits until the server closes; returns the remaining text. */
  async rest(): Promise<string> {
    while (!this.ended) await this.#nextEvent();
    return this.received;
  }

  #nextEvent(): Promise<void> {
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  #wakeWaiters(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }
}

/** Sends a text on a new connection; returns everything received until the server closes. */
export async function exchange(t: Test, port: number, text: string): Promise<string> {
  const client = await RawClient.connect(t, port);
  client.send(text);
  client.socket.end();
  return client.rest();
}

/** An HTTP response; `head` is the status line and the headers. */
export interface HttpResponse {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Sends this request line and these headers; returns the response. */
export async function requestHttp(
  t: Test,
  port: number,
  line: string,
  ...headers: string[]
): Promise<HttpResponse> {
  const client = await RawClient.connect(t, port);
  client.send([line, 'Host: localhost', ...headers, '', ''].join('\r\n'));
  const text = await client.rest();
  const end = text.indexOf('\r\n\r\n');
  return {
    status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1]),
    head: text.slice(0, end),
    body: text.slice(end + 4),
  };
}

/** Returns the header line of HTTP Basic authentication. */
export function basicAuthorization(user: string, password: string): string {
  return `Authorization: Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

/** Writes a text file; returns its path. */
export async function writeTextFile(directory: string, name: string, text: string): Promise<string> {
  const file = join(directory, name);
  await writeFile(file, text);
  return file;
}
