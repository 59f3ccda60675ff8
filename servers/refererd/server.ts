// The listening side of a references server.
import type { Socket } from 'node:net';
import { CloseStack } from '../../protocols/close-stack.js';
import { CODES, ReplyBuffers, ReplyWriter } from '../../protocols/sstp/index.js';
import { Listener } from '../host/index.js';
import { type ConnectionContext, RefererConnection } from './connection.js';
import { LEVEL } from './log.js';
import type { RefererService } from './service.js';
import { createHttpServer, type HttpServer } from './web/http-server.js';

/** Clients that receive a refusal at the same time; the connections of further ones are closed without it. */
const MAX_REFUSED = 32;
const REFUSAL_MS = 1000;
const BACKLOG = 1024;

export interface RefererServerOptions {
  readonly service: RefererService;
  /** the addresses to listen on. */
  readonly addresses: readonly string[];
  /** 0 selects a free port, the same one on all addresses. */
  readonly port: number;
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
  /** Connections accepted before {@link open}; undefined after it. */
  #held: Socket[] | undefined = [];
  #refused = 0;
  #stopping: Promise<void> | undefined;
  #allClosed: (() => void) | undefined;

  private constructor({ service, addresses }: RefererServerOptions, web: HttpServer, listener: Listener) {
    this.#service = service;
    this.#web = web;
    this.#listener = listener;
    this.addresses = addresses;
    this.port = listener.port;
    this.#context = {
      get settings() {
        return service.settings;
      },
      get allowed() {
        return service.lists.allowed;
      },
      statistics: service.statistics,
      log: service.log,
      buffers: new ReplyBuffers(),
      answer: (request, replies, address) => service.answer(request, replies, address),
      serveHttp: (socket, client) => web.take(socket, client),
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
    const web = parts.adopt(await createHttpServer(service), (opened) => opened.close());
    let server: RefererServer | undefined;
    const early: Socket[] = [];
    const listener = await Listener.open({
      addresses,
      port,
      backlog: BACKLOG,
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
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const socket of held) if (!socket.destroyed) this.#serve(socket);
  }

  get clients(): number {
    return this.#connections.size;
  }

  /**
   * R-60, SIGUSR1: refuses new connections and answers the requests that were received. Resolves when all connections are
   * closed; {@link close} ends the waiting.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  /** R-60, SIGTERM: drops everything. */
  async close(): Promise<void> {
    const stopped = this.stop();
    for (const connection of this.#connections) connection.destroy();
    await stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #stop(): Promise<void> {
    const closed = this.#listener.close();
    this.open();
    const allClosed = new Promise<void>((resolve) => {
      this.#allClosed = resolve;
    });
    for (const connection of this.#connections) connection.stop();
    if (this.#connections.size === 0) this.#allClosed?.();
    await Promise.all([allClosed, closed]);
    await this.#web.close();
  }

  #accept(socket: Socket): void {
    const open = this.#held === undefined ? this.#connections.size : this.#held.length;
    if (open >= this.#service.settings.maxClients) {
      this.#refuse(socket);
      return;
    }
    if (this.#held === undefined) {
      this.#serve(socket);
      return;
    }
    socket.on('error', () => {});
    this.#held.push(socket);
  }

  #serve(socket: Socket): void {
    const connection = new RefererConnection(socket, this.#context);
    this.#connections.add(connection);
    this.#service.clients = this.#connections.size;
    this.#service.log.write(LEVEL.connection, `${connection.address} connected`);
    if (this.#stopping !== undefined) connection.stop();
  }

  #closed(connection: RefererConnection): void {
    this.#connections.delete(connection);
    this.#service.clients = this.#connections.size;
    this.#service.log.write(LEVEL.connection, `${connection.address} closed`);
    if (this.#connections.size === 0) this.#allClosed?.();
  }

  /** refuses a client immediately, without reading from it. */
  #refuse(socket: Socket): void {
    this.#service.statistics.counts.refused_maxclients += 1;
    this.#service.log.write(LEVEL.warning, `${socket.remoteAddress}: refused, there are too many clients`);
    socket.on('error', () => {});
    if (this.#refused >= MAX_REFUSED) {
      socket.destroy();
      return;
    }
    this.#refused += 1;
    const replies = new ReplyWriter();
    replies.writeError(CODES.serviceUnavailable.number);
    const bytes = replies.take();
    this.#service.statistics.counts.bytes_out += bytes.length;
    const timer = setTimeout(() => socket.destroy(), REFUSAL_MS);
    socket.on('close', () => {
      clearTimeout(timer);
      this.#refused -= 1;
    });
    socket.end(bytes);
    // Discards input: closing with unread input would reset the connection and lose the reply.
    socket.resume();
  }
}
