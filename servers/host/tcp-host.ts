// Accepts TCP connections and runs a session on each.
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { type HostConnection, SocketConnection } from './connection.js';
import { Listener } from './listener.js';
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
   * Milliseconds a peer may accept nothing while we have something to send. Default 120 000 (GATHERD-12.3). Its progress
   * shows only when a third of the system's send buffer is free again: keep this well above the time that a slow
   * reader needs for that.
   */
  readonly drainTimeoutMs?: number;
  /** Milliseconds to wait, after our last byte, for the peer to close. Default 2000. */
  readonly lingerMs?: number;
  /** Connections the system may queue before we accept them. Default 511. */
  readonly backlog?: number;
  readonly log: Logger;
  /** Name of the server in messages. */
  readonly name: string;
  /** Stops the host like {@link TcpHost.close}. */
  readonly signal?: AbortSignal;
  /** Replaces the system's name lookup. */
  readonly lookup?: NameLookup;
}

/**
 * The TCP server under the protocol servers: it accepts connections up to a limit and passes each to a handler. When
 * the handler returns, the connection is closed; when it throws, it is dropped.
 */
export class TcpHost implements AsyncDisposable {
  readonly address: { readonly host: string; readonly port: number };
  readonly #listener: Listener;
  readonly #open: Map<SocketConnection, Promise<void>>;
  #closing: Promise<void> | undefined;

  private constructor(listener: Listener, open: Map<SocketConnection, Promise<void>>) {
    this.#listener = listener;
    this.#open = open;
    this.address = { host: listener.addresses[0] ?? '', port: listener.port };
  }

  /** Listens. @throws ConnectionError when the address is not available */
  static async listen(
    options: HostOptions,
    handler: (connection: HostConnection) => Promise<void>,
  ): Promise<TcpHost> {
    const { log, name, idleTimeoutMs = 120_000, drainTimeoutMs = 120_000, lingerMs = 2000 } = options;
    const lookup = options.lookup ?? systemLookup();
    const open = new Map<SocketConnection, Promise<void>>();
    const listener = await Listener.open({
      addresses: [options.host],
      port: options.port,
      backlog: options.backlog ?? 511,
      maxConnections: options.maxConnections ?? 256,
      name,
      onConnection: (socket: Socket) => {
        const peer = createPeer(socket.remoteAddress ?? '', socket.remotePort ?? 0, lookup);
        const connection = new SocketConnection(socket, peer, { idleTimeoutMs, drainTimeoutMs, lingerMs });
        const done = runSession(connection, handler, log).finally(() => open.delete(connection));
        open.set(connection, done);
      },
      onDrop: (data) => log.warn(`${data?.remoteAddress}: refused, too many connections`),
      onAcceptError: (error) => log.error(`accept: ${error.message}`),
    });
    const result = new TcpHost(listener, open);
    if (options.signal?.aborted) await result.close();
    else options.signal?.addEventListener('abort', () => void result.close(), { once: true });
    return result;
  }

  /** Connections open now. */
  get connections(): number {
    return this.#open.size;
  }

  /**
   * Stops accepting connections. Sessions that wait for their peer end immediately; sessions that are sending may
   * finish within `graceMs` (default 2000), then they are cut off. Resolves when all are closed.
   */
  close(options: { readonly graceMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(options.graceMs ?? 2000);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(graceMs: number): Promise<void> {
    const stopped = this.#listener.close();
    for (const connection of this.#open.keys()) connection.stop();
    const timer = setTimeout(() => {
      for (const connection of this.#open.keys()) connection.cut();
    }, graceMs);
    await Promise.all([...this.#open.values()]);
    clearTimeout(timer);
    await stopped;
  }
}
