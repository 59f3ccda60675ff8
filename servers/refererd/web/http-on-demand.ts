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
    this.#server ??= this.#load();
    this.#server.then(
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

  async #load(): Promise<HttpServer> {
    const { createHttpServer } = await import('./http-server.js');
    return createHttpServer(this.#service);
  }
}
