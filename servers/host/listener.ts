// The listening sockets of a server.
import { createServer, type Server, type Socket } from 'node:net';
import { CloseStack } from '../../protocols/close-stack.js';
import { ConnectionError } from '../../protocols/errors.js';

export interface ListenerOptions {
  /** Addresses or names to listen on, all with the same port. */
  readonly addresses: readonly string[];
  /** 0 takes a free port. */
  readonly port: number;
  /** Connections the system may queue before they are accepted. Default 511. */
  readonly backlog?: number;
  /** Name of the server in error messages. */
  readonly name: string;
  /** Called for each accepted connection, also while {@link Listener.open} is still opening other addresses. */
  readonly onConnection: (socket: Socket) => void;
  /** Called when an accept fails, e.g. because no file descriptors are left; the server continues. */
  readonly onAcceptError: (error: Error) => void;
}

/** Bytes a socket buffers in each direction before we stop reading or the writer has to wait. */
const BUFFER_BYTES = 64 * 1024;

/** The listening sockets of a server. */
export class Listener implements AsyncDisposable {
  /** The bound addresses, in the order of the options. */
  readonly addresses: readonly string[];
  readonly port: number;
  readonly #sockets: CloseStack;

  private constructor(addresses: readonly string[], port: number, sockets: CloseStack) {
    this.addresses = addresses;
    this.port = port;
    this.#sockets = sockets;
  }

  /** @throws ConnectionError when one of the addresses is not available; the others are then closed */
  static async open(options: ListenerOptions): Promise<Listener> {
    const servers: Server[] = [];
    await using sockets = new CloseStack();
    sockets.defer(() => Promise.all(servers.map(closeServer)));
    const addresses: string[] = [];
    let { port } = options;
    for (const host of options.addresses) {
      const server = await listen(host, port, options);
      servers.push(server);
      const bound = server.address();
      if (bound === null || typeof bound === 'string') continue;
      addresses.push(bound.address);
      port = bound.port;
    }
    return new Listener(addresses, port, sockets.move());
  }

  /** Stops accepting connections. Resolves when the accepted ones are closed, too. */
  close(): Promise<void> {
    return this.#sockets[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function listen(host: string, port: number, options: ListenerOptions): Promise<Server> {
  const { name, backlog = 511, onConnection, onAcceptError } = options;
  const server = createServer(
    { allowHalfOpen: true, noDelay: true, keepAlive: true, highWaterMark: BUFFER_BYTES },
    onConnection,
  );
  return new Promise((resolve, reject) => {
    const refuse = (cause: Error): void => {
      reject(new ConnectionError(`${name}: cannot listen on ${host}:${port}: ${cause.message}`, { cause }));
    };
    server.once('error', refuse);
    server.listen({ host, port, backlog }, () => {
      server.off('error', refuse);
      server.on('error', onAcceptError);
      resolve(server);
    });
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
