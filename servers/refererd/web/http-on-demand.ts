import type { Socket } from 'node:net';
import { messageOf } from '../../../protocols/errors.js';
import { LEVEL } from '../level.js';
import type { HttpClient, RefererService } from '../service.js';
import type { HttpServer } from './http-server.js';

/** The HTTP side of a references server, loaded for its first HTTP client: many servers only ever answer SSTP. */
export class HttpOnDemand {
  readonly #service: RefererService;
  #server: Promise<HttpServer> | undefined;

  constructor(service: RefererService) {
    this.#service = service;
  }

  /** Serves a connection, see {@link HttpServer.take}; closes it if the pages cannot be loaded. */
  take(socket: Socket, client: HttpClient): void {
    this.#loaded().then(
      (server) => {
        if (!socket.destroyed) server.take(socket, client);
      },
      (error: unknown) => {
        this.#service.log.write(LEVEL.error, `HTTP: ${messageOf(error)}`);
        // The next client causes another attempt.
        this.#server = undefined;
        socket.destroy();
      },
    );
  }

  async close(): Promise<void> {
    const server = await this.#server?.catch(() => undefined);
    await server?.close();
  }

  /** Loads the pages before there is a client. */
  async load(): Promise<void> {
    await this.#loaded();
  }

  #loaded(): Promise<HttpServer> {
    this.#server ??= import('./http-server.js').then(({ createHttpServer }) =>
      createHttpServer(this.#service),
    );
    return this.#server;
  }
}
