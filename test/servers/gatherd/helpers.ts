// Helpers for tests of gatherd: a server over a real generations directory, a raw client, a scripted server.
// Update-Times are in Unix seconds.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import {
  GatherdServer,
  type GatherdServerOptions,
  type SnapshotSource,
} from '../../../servers/gatherd/index.js';
import { createLoggerOn } from '../../../servers/host/index.js';
import { type ExportChunk, GathererStore, type SummarySnapshot } from '../../../storage/index.js';
import { tcpServer } from '../../helpers/tcp-server.js';
import { waitUntil } from '../../helpers/wait-until.js';

export const latin1 = (data: Uint8Array) => Buffer.from(data).toString('latin1');

/** Returns an object as a Gatherer stores it. */
export function soif(url: string, updateTime: number, body: string): string {
  const time = String(updateTime);
  return `@FILE { ${url}\nUpdate-Time{${time.length}}:\t${time}\nBody{${body.length}}:\t${body}\n}\n`;
}

/** An object of the database, with the bytes that gatherd sends. */
export interface Entry {
  readonly url: string;
  readonly updateTime: number;
  readonly soif: string;
}

export function entry(url: string, updateTime: number, body: string): Entry {
  return { url, updateTime, soif: soif(url, updateTime, body) };
}

/** Returns the update stream of SOIF-8.8: empty deletions and refreshes, then these objects. */
export function updateStream(objects: string): string {
  return `@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n${objects}}\n`;
}

/** The directories of a Gatherer; `publish` stores objects and publishes a generation. */
export class Database {
  readonly generations: string;
  readonly #working: string;

  constructor(directory: string) {
    this.generations = join(directory, 'generations');
    this.#working = join(directory, 'working');
  }

  async publish(entries: readonly Entry[]): Promise<void> {
    await using store = await GathererStore.open(this.#working);
    const batch = store.batch();
    for (const { url, updateTime, soif } of entries) {
      batch.putSummary({ url, updateTime, timeToLive: 2_419_200, soif: Buffer.from(soif, 'latin1') });
    }
    await batch.commit();
    await store.publish(this.generations);
  }
}

export interface GatherdFixture {
  readonly server: GatherdServer;
  readonly database: Database;
  readonly log: string[];
  readonly port: number;
}

/** Starts a server over a generations directory; its log has the format of GATHERD-12.1. */
export async function startGatherd(
  t: Test,
  entries: readonly Entry[] = [],
  options: Partial<GatherdServerOptions> = {},
): Promise<GatherdFixture> {
  const directory = await mkdtemp(join(tmpdir(), 'gatherd-test-'));
  const database = new Database(directory);
  if (entries.length > 0) await database.publish(entries);
  const log: string[] = [];
  const server = await GatherdServer.listen({
    generationsDirectory: database.generations,
    host: '127.0.0.1',
    port: 0,
    hostname: 'gatherer.example.org',
    log: createLoggerOn({ write: (line) => void log.push(line) }, { json: false, program: 'gatherd' }),
    lingerMs: 200,
    ...options,
  });
  t.teardown(async () => {
    await server.close({ graceMs: 0 });
    await rm(directory, { recursive: true, force: true });
  });
  return { server, database, log, port: server.address.port };
}

/** A TCP client that keeps all received text and does not parse it. */
export class RawClient {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  #received: Buffer[] = [];

  constructor(t: Test, port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.on('data', (chunk: Buffer) => this.#received.push(chunk));
    this.socket.on('error', () => {});
    this.closed = new Promise((resolve) => this.socket.on('close', () => resolve()));
    t.teardown(() => void this.socket.destroy());
  }

  get received(): string {
    return Buffer.concat(this.#received).toString('latin1');
  }

  send(text: string): void {
    this.socket.write(text, 'latin1');
  }

  /** Waits until the received text matches; returns it. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.received)) {
      if (this.socket.closed) throw new Error(`closed before ${pattern}: ${this.received.slice(-200)}`);
      await Promise.race([once(this.socket, 'data'), this.closed]);
    }
    return this.received;
  }
}

/** Sends all lines and returns everything received until the server closes. */
export async function exchange(t: Test, port: number, lines: string): Promise<string> {
  const client = new RawClient(t, port);
  client.send(lines);
  await client.closed;
  return client.received;
}

/** Starts a server that runs a script; the script receives a line reader and the socket. */
export function fakeServer(
  t: Test,
  script: (line: () => Promise<string | undefined>, socket: Socket) => Promise<void>,
): Promise<number> {
  return tcpServer(t, (socket) => {
    script(lineReader(socket), socket).catch((error: Error) => socket.destroy(error));
  });
}

function lineReader(socket: Socket): () => Promise<string | undefined> {
  const input = socket.iterator({ destroyOnReturn: false });
  let buffered = '';
  return async () => {
    while (!buffered.includes('\n')) {
      const next: IteratorResult<Buffer> = await input.next();
      if (next.done === true) return undefined;
      buffered += next.value.toString('latin1');
    }
    const end = buffered.indexOf('\n');
    const line = buffered.slice(0, end).replace(/\r$/, '');
    buffered = buffered.slice(end + 1);
    return line;
  };
}

/** A database whose content is generated during the export; `users` counts its open snapshots. */
export function generatedSource(
  exportAll: () => AsyncGenerator<ExportChunk, void, undefined>,
): SnapshotSource & {
  readonly users: { count: number };
} {
  const users = { count: 0 };
  const release = async () => {
    users.count -= 1;
  };
  const snapshot: SummarySnapshot = {
    generation: 1,
    count: 1,
    exportSince: exportAll,
    summariesSince: async function* () {},
    deletionsSince: async function* () {},
    get: async () => undefined,
    info: async () => ({ count: 1, oldest: 1, newest: 1, attributes: [] }),
    retain: () => {
      users.count += 1;
    },
    release,
    close: release,
    [Symbol.asyncDispose]: release,
  };
  return {
    users,
    published: async () => ({ generation: 1, identity: '1' }),
    async open() {
      users.count += 1;
      return snapshot;
    },
    follow: () => ({ [Symbol.dispose]() {} }),
  };
}

/** Waits until a log line matches. */
export function waitForLog(log: readonly string[], pattern: RegExp): Promise<void> {
  return waitUntil(() => log.some((line) => pattern.test(line)));
}

/** Waits until all connections are closed. */
export function waitForDisconnects(server: { readonly connections: number }): Promise<void> {
  return waitUntil(() => server.connections === 0);
}
