// The listening sockets of a server.
import { createServer, type Server, type Socket } from 'node:net';
import { CloseStack } from '../../protocols/close-stack.js';
import { ConnectionError } from '../../protocols/errors.js';
import { listenFailure } from './port-holder.js';

/** The part of a listening socket that a server uses. */
export interface ListenRequest {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly backlog: number;
  /**
   * Called for each connection that may be used. A connection must let one direction end before the other
   * (`allowHalfOpen`). It may be paused.
   */
  readonly onConnection: (socket: Socket) => void;
}

/**
 * Opens a listening socket: of TCP by default; of TLS, a path or a descriptor that the system passes for those
 * who have their own. Resolves when connections are accepted; rejects with the error of the system.
 */
export type Listen = (request: ListenRequest) => Promise<Server>;

export interface ListenerOptions {
  /** Addresses or names to listen on, all with the same port. */
  readonly addresses: readonly string[];
  /** 0 takes a free port. */
  readonly port: number;
  /** Connections the system may queue before they are accepted. Default 511. */
  readonly backlog?: number;
  /** Default {@link listenTcp}. */
  readonly listen?: Listen | undefined;
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
      if (bound === null) continue;
      if (typeof bound === 'string') {
        // A path has no port.
        addresses.push(bound);
        continue;
      }
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

async function listen(host: string, port: number, options: ListenerOptions): Promise<Server> {
  const { name, backlog = 511, onConnection, onAcceptError, listen = listenTcp } = options;
  try {
    const server = await listen({ host, port, backlog, onConnection });
    return server.on('error', onAcceptError);
  } catch (cause) {
    throw new ConnectionError(`${name}: cannot listen on ${host}:${port}: ${listenFailure(cause, port)}`, {
      cause,
    });
  }
}

/** Options of the sockets of a server that reads on demand. */
export const SERVER_OPTIONS = {
  allowHalfOpen: true,
  noDelay: true,
  keepAlive: true,
  highWaterMark: BUFFER_BYTES,
} as const;

/** Listens on TCP. */
export function listenTcp({ onConnection, ...address }: ListenRequest): Promise<Server> {
  // Nothing is read from a connection that waits for a place.
  return listening(createServer({ ...SERVER_OPTIONS, pauseOnConnect: true }, onConnection), address);
}

/** Binds a server; resolves when it accepts connections. */
export function listening(
  server: Server,
  address: Pick<ListenRequest, 'host' | 'port' | 'backlog'>,
): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(address, () => {
      server.off('error', reject);
      resolve(server);
    });
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
