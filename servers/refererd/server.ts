// The listening side of a references server.
import type { Socket } from 'node:net';
import { monotonicClock } from '../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../protocols/clock.js';
import { CloseStack } from '../../protocols/close-stack.js';
import { ReplyBuffers } from '../../protocols/sstp/index.js';
import type { ConnectionSlot } from '../host/connection-table.js';
import { type FairShare, threadShare } from '../host/fair-share.js';
import { type Listen, Listener } from '../host/listener.js';
import { Newcomers } from '../host/newcomers.js';
import { plainAddress } from '../host/peer.js';
import { type ConnectionContext, RefererConnection } from './connection.js';
import { LEVEL } from './level.js';
import { busyWords, Refusals } from './refusal.js';
import type { RefererService } from './service.js';
import { createHttpServer, type HttpServer } from './web/http-server.js';

const BACKLOG = 1024;

export interface RefererServerOptions {
  readonly service: RefererService;
  /** How each listening socket is opened. Default: TCP. */
  readonly listen?: Listen | undefined;
  /** the addresses to listen on. */
  readonly addresses: readonly string[];
  /** 0 selects a free port, the same one on all addresses. */
  readonly port: number;
  /** Default: that of this process. */
  readonly clock?: Clock | undefined;
  /** Shares the event loop among the connections. Default: that of this thread. */
  readonly fairShare?: FairShare | undefined;
}

/** A connection that was accepted before the server serves. */
interface HeldConnection {
  readonly socket: Socket;
  readonly slot: ConnectionSlot;
  /** The object that serves it, once there is one. */
  connection?: RefererConnection;
}

/** The listening side of a references server: SSTP and HTTP on one port (S-16, S-47). */
export class RefererServer implements AsyncDisposable {
  readonly addresses: readonly string[];
  readonly port: number;
  readonly #service: RefererService;
  readonly #listener: Listener;
  readonly #connections = new Set<RefererConnection>();
  readonly #context: ConnectionContext;
  readonly #web: HttpServer;
  readonly #newcomers: Newcomers;
  readonly #fairShare: FairShare;
  /** Connections accepted before {@link open}; undefined after it. */
  #held: Set<HeldConnection> | undefined = new Set();
  #stopping: Promise<void> | undefined;
  #allClosed: (() => void) | undefined;

  private constructor(options: RefererServerOptions, web: HttpServer, listener: Listener) {
    const { service, addresses, clock = monotonicClock } = options;
    this.#service = service;
    this.#web = web;
    this.#listener = listener;
    this.#fairShare = options.fairShare ?? threadShare;
    this.addresses = addresses;
    this.port = listener.port;
    this.#newcomers = new Newcomers({
      limits: () => {
        const { maxClients, maxPerAddress, graceMs, admissionWaitMs } = service.settings;
        return { maxConnections: maxClients, maxPerAddress, graceMs, waitMs: admissionWaitMs };
      },
      refuse: (socket, _farewells, atOnce) => refusals.refuse(socket, atOnce),
      refused: (address) => {
        service.statistics.counts.refused_maxclients += 1;
        service.peerLogs.write(LEVEL.warning, plainAddress(address), 'refused, there are too many clients');
      },
      report: (sentence) => service.log.write(LEVEL.error, sentence),
      clock,
    });
    const refusals = new Refusals(this.#newcomers.farewells, service, clock);
    this.#newcomers.start();
    service.newcomers = () => this.#newcomers.counts;
    this.#context = {
      service,
      clock,
      buffers: new ReplyBuffers(),
      farewells: this.#newcomers.farewells,
      serveHttp: (socket, share, first, client) => web.take(socket, share, first, client),
      closed: (connection) => this.#closed(connection),
    };
  }

  /**
   * Listens; clients are served from {@link open} on.
   *
   * @throws ConnectionError when an address is not available
   */
  static async listen(options: RefererServerOptions): Promise<RefererServer> {
    const { service, addresses, port } = options;
    await using parts = new CloseStack();
    // Loaded before the first client: a request whose client has ended its direction must not wait, and after a
    // change of the user the files of the program may be unreadable.
    const web = parts.adopt(await createHttpServer(service, options.fairShare), (opened) => opened.close());
    let server: RefererServer | undefined;
    const early: Socket[] = [];
    const listener = await Listener.open({
      addresses,
      port,
      backlog: BACKLOG,
      listen: options.listen,
      name: 'refererd',
      onConnection: (socket) => (server === undefined ? void early.push(socket) : server.#accept(socket)),
      onAcceptError: (error) => service.log.write(LEVEL.error, `accept: ${error.message}`),
    });
    server = new RefererServer(options, web, listener);
    for (const socket of early) server.#accept(socket);
    parts.move();
    return server;
  }

  /** Begins to serve, also the clients that have connected already. */
  open(): void {
    const held = this.#held ?? new Set();
    this.#held = undefined;
    for (const connection of held) if (!connection.socket.destroyed) this.#serve(connection);
  }

  get clients(): number {
    return this.#connections.size;
  }

  /**
   * R-60, SIGUSR1: refuses new connections and answers the requests that were received. Resolves when all
   * connections are closed; {@link close} ends the waiting.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  /** R-60, SIGTERM: drops everything. */
  async close(): Promise<void> {
    const stopped = this.stop();
    for (const connection of this.#connections) connection.destroy();
    this.#newcomers.cut();
    await stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #stop(): Promise<void> {
    const closed = this.#listener.close();
    this.open();
    this.#newcomers.stop();
    const allClosed = new Promise<void>((resolve) => {
      this.#allClosed = resolve;
    });
    for (const connection of this.#connections) connection.stop();
    if (this.#connections.size === 0) this.#allClosed?.();
    await Promise.all([allClosed, closed]);
    await this.#web.close();
    this.#service.peerLogs[Symbol.dispose]();
  }

  #accept(socket: Socket): void {
    this.#newcomers.receive(socket, (slot) => {
      const held: HeldConnection = { socket, slot };
      this.#hold(held);
      return {
        evict: (waitedMs) => {
          if (held.connection === undefined) this.#newcomers.farewells.say(socket, busyWords(false));
          else held.connection.evict(waitedMs);
        },
      };
    });
  }

  #hold(held: HeldConnection): void {
    const { socket, slot } = held;
    if (this.#held === undefined) {
      this.#serve(held);
      return;
    }
    socket.on('error', () => {});
    socket.on('close', () => {
      slot.release();
      this.#held?.delete(held);
    });
    this.#held.add(held);
  }

  #serve(accepted: HeldConnection): void {
    const { socket, slot } = accepted;
    const address = plainAddress(socket.remoteAddress ?? '');
    const log = this.#service.peerLogs.connection(address);
    const share = this.#fairShare.join(address);
    const connection = new RefererConnection(socket, this.#context, { slot, share, log });
    accepted.connection = connection;
    // The listening socket pauses what it accepts.
    socket.resume();
    this.#connections.add(connection);
    this.#service.clients = this.#connections.size;
    log.write(LEVEL.connection, 'connected');
    if (this.#stopping !== undefined) connection.stop();
  }

  #closed(connection: RefererConnection): void {
    this.#connections.delete(connection);
    this.#service.clients = this.#connections.size;
    if (this.#connections.size === 0) this.#allClosed?.();
  }
}
