import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import {
  type RefererLog,
  type RunningRefererd,
  type StartRefererdOptions,
  startRefererd,
} from '../../../servers/refererd/index.js';
import { publishFixture } from '../../storage/references/fixture.js';

/** Creates a temporary directory that is removed after the test. */
export async function temporary(t: Test): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'refererd-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** A log that tests can read. */
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

/** Serves the fixture of section 13. */
export async function serveFixture(
  t: Test,
  options: Partial<StartRefererdOptions> = {},
): Promise<RunningRefererd & { readonly data: string; readonly memory: MemoryLog }> {
  const data = options.data ?? (await temporary(t));
  if (options.data === undefined) await publishFixture(data);
  const memory = new MemoryLog();
  const running = await startRefererd({ port: 0, log: memory, ...options, data });
  t.teardown(() => running.close());
  return Object.assign(running, { data, memory });
}

/** A raw TCP client without knowledge of SSTP. */
export class RawClient {
  received = '';
  ended = false;
  readonly closed: Promise<void>;
  #wake: (() => void)[] = [];

  private constructor(readonly socket: Socket) {
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.received += text;
      this.#tell();
    });
    socket.on('end', () => {
      this.ended = true;
      this.#tell();
    });
    socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.ended = true;
        this.#tell();
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

  /** Removes and returns the received text up to and including `end`. */
  async until(end: string, times = 1): Promise<string> {
    for (;;) {
      let at = 0;
      let found = 0;
      while (found < times) {
        const next = this.received.indexOf(end, at);
        if (next < 0) break;
        at = next + end.length;
        found += 1;
      }
      if (found === times) {
        const taken = this.received.slice(0, at);
        this.received = this.received.slice(at);
        return taken;
      }
      if (this.ended) throw new Error(`the connection ended after ${JSON.stringify(this.received)}`);
      await this.#more();
    }
  }

  /** Returns all text until the server closes. */
  async rest(): Promise<string> {
    while (!this.ended) await this.#more();
    return this.received;
  }

  #more(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  #tell(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

/** Sends a text on its own connection; returns everything received until the server closes. */
export async function exchange(t: Test, port: number, text: string): Promise<string> {
  const client = await RawClient.connect(t, port);
  client.send(text);
  client.socket.end();
  return client.rest();
}

/** An HTTP answer. */
export interface HttpAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Sends one HTTP request verbatim. */
export async function http(t: Test, port: number, line: string, ...headers: string[]): Promise<HttpAnswer> {
  const client = await RawClient.connect(t, port);
  client.send([line, 'Host: x', ...headers, '', ''].join('\r\n'));
  const text = await client.rest();
  const end = text.indexOf('\r\n\r\n');
  return {
    status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1]),
    head: text.slice(0, end),
    body: text.slice(end + 4),
  };
}

/** Returns the header of HTTP Basic. */
export function basic(user: string, password: string): string {
  return `Authorization: Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

/** Writes a text file. */
export async function fileWith(directory: string, name: string, text: string): Promise<string> {
  const file = join(directory, name);
  await writeFile(file, text);
  return file;
}
