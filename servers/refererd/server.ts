import { createServer, type Server, type Socket } from 'node:net';
import { ConnectionError } from '../../protocols/errors.js';
import { CODES, ReplyBuffers, ReplyWriter } from '../../protocols/sstp/index.js';
import { RefererConnection } from './connection.js';
import { LEVEL } from './log.js';
import type { ConnectionContext, RefererService } from './service.js';
import { createHttpServer, type HttpServer } from './web/http-server.js';

/** Refused clients that are still being told so; further ones are just closed. */
const MAX_REFUSED = 32;
const REFUSAL_MS = 1000;
const BACKLOG = 1024;

export interface RefererServerOptions {
  readonly service: RefererService;
  /** the only addresses that it listens on. */
  readonly addresses: readonly string[];
  /** 0 takes a free port, the same one on all addresses. */
  readonly port: number;
}

/** The listening side of a references server: SSTP and HTTP on one port (S-16, S-47). */
export class RefererServer implements AsyncDisposable {
  readonly addresses: readonly string[];
  readonly port: number;
  readonly #service: RefererService;
  readonly #listeners: readonly Server[];
  readonly #connections = new Set<RefererConnection>();
  readonly #context: ConnectionContext;
  readonly #web: HttpServer;
  /** Accepted before {@link open}. */
  #held: Socket[] | undefined = [];
  #refused = 0;
  #stopping: Promise<void> | undefined;
  #allClosed: (() => void) | undefined;

  private constructor(
    options: RefererServerOptions,
    web: HttpServer,
    listeners: readonly Server[],
    port: number,
  ) {
    const { service } = options;
    this.#service = service;
    this.#web = web;
    this.#listeners = listeners;
    this.addresses = options.addresses;
    this.port = port;
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
    for (const listener of listeners) {
      listener.on('connection', (socket: Socket) => this.#accept(socket));
      // One accept that failed, e.g. because no descriptors are left: the server lives on.
      listener.on('error', (error) => service.log.write(LEVEL.error, `accept: ${error.message}`));
    }
  }

  /**
   * Listens; nobody is served before {@link open}.
   *
   * @throws ConnectionError when an address cannot be had
   */
  static async listen(options: RefererServerOptions): Promise<RefererServer> {
    const web = await createHttpServer(options.service);
    const listeners: Server[] = [];
    let { port } = options;
    try {
      for (const address of options.addresses) {
        const listener = createServer({ allowHalfOpen: true, noDelay: true, keepAlive: true });
        await listen(listener, address, port);
        listeners.push(listener);
        const bound = listener.address();
        if (bound !== null && typeof bound !== 'string') port = bound.port;
      }
    } catch (error) {
      for (const listener of listeners) listener.close();
      await web.close();
      throw error;
    }
    return new RefererServer(options, web, listeners, port);
  }

  /** Begins to serve: also those who have connected meanwhile. */
  open(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const socket of held) if (!socket.destroyed) this.#serve(socket);
  }

  get clients(): number {
    return this.#connections.size;
  }

  /**
   * R-60, SIGUSR1: new connections are refused, requests that were received are answered. Resolves when all connections are
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
    const closed = this.#listeners.map((listener) => {
      return new Promise<void>((resolve) => {
        listener.close(() => resolve());
      });
    });
    this.open();
    const over = new Promise<void>((resolve) => {
      this.#allClosed = resolve;
    });
    for (const connection of this.#connections) connection.stop();
    if (this.#connections.size === 0) this.#allClosed?.();
    await Promise.all([over, ...closed]);
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

  /** at once, unread. */
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
    replies.error(CODES.serviceUnavailable.number);
    const bytes = replies.take();
    this.#service.statistics.counts.bytes_out += bytes.length;
    const timer = setTimeout(() => socket.destroy(), REFUSAL_MS);
    socket.on('close', () => {
      clearTimeout(timer);
      this.#refused -= 1;
    });
    socket.end(bytes);
    // A close over what the client has sent meanwhile would destroy the reply: it is thrown away.
    socket.resume();
  }
}

function listen(listener: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    listener.once('error', (error) => {
      reject(
        new ConnectionError(`refererd: cannot listen on ${host}:${port}: ${error.message}`, { cause: error }),
      );
    });
    listener.listen({ host, port, backlog: BACKLOG }, () => {
      listener.removeAllListeners('error');
      resolve();
    });
  });
}
