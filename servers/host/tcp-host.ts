// Accepts TCP connections and runs a session on each.
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { monotonicClock } from '../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../protocols/clock.js';
import { type HostConnection, runSession, SocketConnection } from './connection.js';
import { type FairShare, threadShare } from './fair-share.js';
import { connectionsWithinLimit } from './fd-limit.js';
import { type Listen, Listener } from './listener.js';
import { LogLimiter, type LogLimits, peerLog } from './log-limit.js';
import { type NewcomerCounts, Newcomers } from './newcomers.js';
import { createPeer, type NameLookup, systemLookup } from './peer.js';

export interface HostOptions {
  /** Address or name to listen on. */
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /**
   * Connections at once. Default 256; lowered to what the limit of open files allows. When all are in use, a
   * newcomer waits (see {@link Newcomers}): until one closes, or one that does nothing can be closed (see
   * {@link ConnectionTable}). Otherwise it gets `lastWords.refused`.
   */
  readonly maxConnections?: number | undefined;
  /**
   * Connections at once of one IPv4 address or IPv6 /64. Default: a quarter of `maxConnections`; for this
   * machine all of them.
   */
  readonly maxPerAddress?: number | undefined;
  /** Milliseconds in which a connection is never closed for a newcomer (see {@link ConnectionTable}). Default 5000. */
  readonly graceMs?: number | undefined;
  /** Milliseconds for which a newcomer waits for a place, unanswered. Default 10 000. */
  readonly admissionWaitMs?: number | undefined;
  /** Newcomers that wait at once. Default: as many as `maxConnections`, at least 256. */
  readonly maxWaiting?: number | undefined;
  /** What clients receive that are not served. Default: nothing, their connection ends. */
  readonly lastWords?: LastWords | undefined;
  /** Milliseconds a read may wait for a byte. Default 120 000 (GATHERD-12.3). */
  readonly idleTimeoutMs?: number | undefined;
  /**
   * Milliseconds a peer may accept nothing, or less than `minBytesPerSecond` on average, while we have
   * something to send. Default 120 000 (GATHERD-12.3). Its progress shows only when a third of the system's
   * send buffer is free again: keep this well above the time that a slow reader needs for that.
   */
  readonly drainTimeoutMs?: number | undefined;
  /** Default 100, a tenth of what a modem of 1990 accepts; 0: any progress within `drainTimeoutMs` suffices. */
  readonly minBytesPerSecond?: number | undefined;
  /** Milliseconds to wait, after our last byte, for the peer to close. Default 2000. */
  readonly lingerMs?: number | undefined;
  /** Connections the system may queue before we accept them. Default 511. */
  readonly backlog?: number | undefined;
  /** How the listening socket is opened. Default: TCP. */
  readonly listen?: Listen | undefined;
  readonly log: Logger;
  /** Log lines that peers can cause. */
  readonly logLimits?: LogLimits | undefined;
  /** Name of the server in messages. */
  readonly name: string;
  /** Stops the host like {@link TcpHost.close}. */
  readonly signal?: AbortSignal;
  /** Replaces the system's name lookup. */
  readonly lookup?: NameLookup | undefined;
  /** The clock of all limits in milliseconds. Default: that of this process. */
  readonly clock?: Clock | undefined;
  /** Shares the event loop among the sessions. Default: that of this thread. */
  readonly fairShare?: FairShare | undefined;
}

/** The refusals of a protocol, as bytes. */
export interface LastWords {
  /** For a newcomer that gets no place, before anything else was sent. */
  readonly refused: Uint8Array;
  /** For a client that must make room while the server waits for its next request. */
  readonly evicted: Uint8Array;
}

const NOTHING = new Uint8Array(0);

/** The name under which failures of accept are counted. */
const ACCEPT = 'accept';

/**
 * The TCP server under the protocol servers: it accepts connections up to a limit and passes each to a handler.
 * When the handler returns, the connection is closed; when it throws, it is dropped.
 */
export class TcpHost implements AsyncDisposable {
  readonly address: { readonly host: string; readonly port: number };
  readonly #listener: Listener;
  readonly #open: Map<SocketConnection, Promise<void>>;
  readonly #newcomers: Newcomers;
  readonly #limiter: LogLimiter;
  readonly #clock: Clock;
  #closing: Promise<void> | undefined;

  private constructor(
    listener: Listener,
    open: Map<SocketConnection, Promise<void>>,
    newcomers: Newcomers,
    limiter: LogLimiter,
    clock: Clock,
  ) {
    this.#listener = listener;
    this.#open = open;
    this.#newcomers = newcomers;
    this.#limiter = limiter;
    this.#clock = clock;
    this.address = { host: listener.addresses[0] ?? '', port: listener.port };
  }

  /** Listens. @throws ConnectionError when the address is not available */
  static async listen(
    options: HostOptions,
    handler: (connection: HostConnection) => Promise<void>,
  ): Promise<TcpHost> {
    const { log, name, lookup = systemLookup(), clock = monotonicClock } = options;
    const { idleTimeoutMs = 120_000, drainTimeoutMs = 120_000, lingerMs = 2000 } = options;
    const { fairShare = threadShare } = options;
    const limits = {
      idleTimeoutMs,
      drainTimeoutMs,
      lingerMs,
      minBytesPerSecond: options.minBytesPerSecond ?? 100,
    };
    const limiter = new LogLimiter((text) => log.warn(text), options.logLimits, clock);
    const { maxPerAddress, graceMs, admissionWaitMs: waitMs, maxWaiting, lastWords } = options;
    const maxConnections = connectionsWithinLimit(options.maxConnections ?? 256);
    const newcomers = new Newcomers({
      limits: () => ({ maxConnections, maxPerAddress, graceMs, waitMs, maxWaiting }),
      refuse: (socket, farewells, atOnce) => farewells.say(socket, lastWords?.refused ?? NOTHING, atOnce),
      refused: (address) => {
        if (limiter.allows(address)) log.warn(`${address}: refused, too many connections`);
      },
      report: (sentence) => log.error(sentence),
      clock,
    });
    const open = new Map<SocketConnection, Promise<void>>();
    let sessions = 0;
    const listener = await Listener.open({
      addresses: [options.host],
      port: options.port,
      backlog: options.backlog ?? 511,
      listen: options.listen,
      name,
      onConnection: (socket: Socket) => {
        newcomers.receive(socket, (slot) => {
          const id = ++sessions;
          const peer = createPeer(socket.remoteAddress ?? '', socket.remotePort ?? 0, lookup);
          const connection = new SocketConnection(socket, {
            peer,
            limits,
            log: peerLog(log.child({ session: id }), limiter, peer.address),
            id,
            slot,
            share: fairShare.join(peer.address),
            clock,
            lastWords: lastWords?.evicted,
          });
          const done = runSession(connection, handler).finally(() => open.delete(connection));
          open.set(connection, done);
          return connection;
        });
      },
      onAcceptError: (error) => {
        if (limiter.allows(ACCEPT)) log.error(`accept: ${error.message}`);
      },
    });
    newcomers.start();
    const result = new TcpHost(listener, open, newcomers, limiter, clock);
    if (options.signal?.aborted) await result.close();
    else options.signal?.addEventListener('abort', () => void result.close(), { once: true });
    return result;
  }

  /** Connections open now. */
  get connections(): number {
    return this.#open.size;
  }

  get newcomers(): NewcomerCounts {
    return this.#newcomers.counts;
  }

  /**
   * Stops accepting connections. Sessions that wait for their peer end immediately; sessions that are sending
   * may finish within `graceMs` (default 2000), then they are cut off. Resolves when all are closed.
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
    this.#newcomers.stop();
    for (const connection of this.#open.keys()) connection.stop();
    const cancelTimer = this.#clock.setTimer(() => {
      this.#newcomers.cut();
      for (const connection of this.#open.keys()) connection.cut();
    }, graceMs);
    await Promise.all([...this.#open.values()]);
    await stopped;
    cancelTimer();
    this.#limiter[Symbol.dispose]();
  }
}

/** A server whose sessions run on one host. */
export abstract class HostedServer implements AsyncDisposable {
  readonly #host: TcpHost;

  constructor(host: TcpHost) {
    this.#host = host;
  }

  /** Address of the port. */
  get address(): { readonly host: string; readonly port: number } {
    return this.#host.address;
  }

  /** Number of open connections. */
  get connections(): number {
    return this.#host.connections;
  }

  /** What became of the connections that it accepted. */
  get newcomers(): NewcomerCounts {
    return this.#host.newcomers;
  }

  /** Closes the sessions, see {@link TcpHost.close}. */
  close(options?: { readonly graceMs?: number }): Promise<void> {
    return this.#host.close(options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
