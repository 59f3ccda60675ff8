import { createServer, type Server, type Socket } from 'node:net';
import type { Logger } from 'pino';
import { ConnectionError } from '../../protocols/errors.js';
import { type HostConnection, SocketConnection } from './connection.js';
import { createPeer, type NameLookup, systemLookup } from './peer.js';
import { runSession } from './run-session.js';

export interface HostOptions {
  /** Address or name to listen on. */
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Connections at once; further ones are closed unanswered. Default 256. */
  readonly maxConnections?: number;
  /** Milliseconds a read may wait for a byte. Default 120 000 (GATHERD-12.3). */
  readonly idleTimeoutMs?: number;
  /**
   * Milliseconds a peer may accept nothing while we have something to send. Default 120 000 (GATHERD-12.3). We see
   * what it accepts only when the system's send buffer has room again, which is about a third of it: keep this
   * well above what a slow but honest reader needs for that.
   */
  readonly drainTimeoutMs?: number;
  /** Milliseconds to wait, after our last byte, for the peer to close. Default 2000. */
  readonly lingerMs?: number;
  /** Connections the system may queue before we accept them. Default 511. */
  readonly backlog?: number;
  readonly log: Logger;
  /** What the log calls this server. */
  readonly name: string;
  /** Stops the host like {@link TcpHost.close}. */
  readonly signal?: AbortSignal;
  /** Replaces the system's name lookup. */
  readonly lookup?: NameLookup;
}

/** Bytes a socket buffers in each direction before we stop reading or tell the session to wait. */
const BUFFER_BYTES = 64 * 1024;

/**
 * The one TCP server under every protocol server: it accepts, limits, and hands each connection to a handler.
 * When the handler returns, the connection is closed; when it throws, it is dropped.
 */
export class TcpHost implements AsyncDisposable {
  readonly address: { readonly host: string; readonly port: number };
  readonly #server: Server;
  readonly #open: Map<SocketConnection, Promise<void>>;
  #closing: Promise<void> | undefined;

  private constructor(server: Server, open: Map<SocketConnection, Promise<void>>) {
    this.#server = server;
    this.#open = open;
    const bound = server.address();
    this.address =
      bound === null || typeof bound === 'string'
        ? { host: String(bound), port: 0 }
        : { host: bound.address, port: bound.port };
  }

  /** Listens. Rejects with {@link ConnectionError} when the address cannot be had. */
  static async listen(
    options: HostOptions,
    handler: (connection: HostConnection) => Promise<void>,
  ): Promise<TcpHost> {
    const { log, name, idleTimeoutMs = 120_000, drainTimeoutMs = 120_000, lingerMs = 2000 } = options;
    const lookup = options.lookup ?? systemLookup();
    const open = new Map<SocketConnection, Promise<void>>();
    const accept = (socket: Socket) => {
      const peer = createPeer(socket.remoteAddress ?? '', socket.remotePort ?? 0, lookup);
      const connection = new SocketConnection(socket, peer, { idleTimeoutMs, drainTimeoutMs, lingerMs });
      const done = runSession(connection, handler, log).finally(() => open.delete(connection));
      open.set(connection, done);
    };
    const server = createServer(
      { allowHalfOpen: true, noDelay: true, keepAlive: true, highWaterMark: BUFFER_BYTES },
      accept,
    );
    server.maxConnections = options.maxConnections ?? 256;
    server.on('drop', (data) => log.warn(`${data?.remoteAddress}: refused, too many connections`));
    await new Promise<void>((resolve, reject) => {
      const refuse = (error: Error) => {
        const where = `${options.host}:${options.port}`;
        reject(new ConnectionError(`${name}: cannot listen on ${where}: ${error.message}`, { cause: error }));
      };
      server.once('error', refuse);
      const { host, port, backlog = 511 } = options;
      server.listen({ host, port, backlog }, () => {
        server.off('error', refuse);
        // After this an error is one accept that failed (e.g. no file descriptors left): the host lives on.
        server.on('error', (error) => log.error(`accept: ${error.message}`));
        resolve();
      });
    });
    const result = new TcpHost(server, open);
    if (options.signal?.aborted) await result.close();
    else options.signal?.addEventListener('abort', () => void result.close(), { once: true });
    return result;
  }

  /** Connections open now. */
  get connections(): number {
    return this.#open.size;
  }

  /**
   * Stops. No new connection is accepted; sessions that wait for their peer end at once; sessions that are
   * sending may finish within `graceMs` (default 2000), then they are cut off. Resolves when all are closed.
   */
  close(options: { readonly graceMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(options.graceMs ?? 2000);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(graceMs: number): Promise<void> {
    const stopped = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const connection of this.#open.keys()) connection.stop();
    const timer = setTimeout(() => {
      for (const connection of this.#open.keys()) connection.cut();
    }, graceMs);
    await Promise.all([...this.#open.values()]);
    clearTimeout(timer);
    await stopped;
  }
}
