// Hands an HTTP server's requests to the application, one at a time for each connection.
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { errorCode } from '../../protocols/errors.js';
import type { FairShare } from '../host/fair-share.js';
import { FairSocket } from '../host/fair-socket.js';
import { CONNECTION_COST_MS } from '../host/input-pieces.js';
import { watchClient } from './page-watch.js';

/** Requests of one connection whose replies are not yet sent. A client with more of them is cut. */
export const MAX_PIPELINED = 32;

/** Milliseconds in which a client must finish the handshake of TLS. */
const HANDSHAKE_MS = 10_000;

/** Node's parser also reads HTTP/0.9, which a line without a version is, and HTTP/2.0. */
const HTTP_VERSIONS: ReadonlySet<string> = new Set(['1.0', '1.1']);

type Handler = (request: IncomingMessage, reply: ServerResponse) => void;
type Exchange = readonly [request: IncomingMessage, reply: ServerResponse];

/** The options of {@link createGatedServer}. */
export interface GatedServerOptions extends ServerOptions {
  /** Headers of the replies to anything that is not a request, which never reaches the application. */
  readonly refusalHeaders: Readonly<Record<string, string>>;
  /** Certificate and key of a server of HTTPS. Default: a server of HTTP. */
  readonly tls?: SecureContextOptions | undefined;
  /** Shares the event loop among the connections. */
  readonly fairShare: FairShare;
  /**
   * Whether the peer of a connection may have any other answer than 403, also to what is not a request. Default:
   * every peer.
   */
  readonly admits?: ((socket: Socket) => boolean) | undefined;
}

/** A server and the way in which it refuses what its parser cannot read. */
export interface GatedServer {
  readonly server: Server;
  /** The same server if it serves HTTPS, to renew its certificate. */
  readonly secure?: TlsServer | undefined;
  /** Answers bytes that are not a request, or not in time, and closes the connection. */
  readonly refuseUnreadable: (error: Error, socket: Socket) => void;
  /**
   * Passes each accepted connection to `receive` before the server uses it; `serve` passes it on to the server.
   * To be called once, before the server listens.
   */
  readonly interceptConnections: (receive: (socket: Socket, serve: () => void) => void) => void;
}

/** The statuses of the parser's errors; all others are 400. */
const PARSER_STATUS: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
  HPE_INVALID_VERSION: 505,
};

/**
 * Creates an HTTP server that handles the next request of a connection when the reply to the previous one is
 * sent. Node parses all requests of a chunk, which may be thousands, and would handle them at once, even after
 * their client is gone: their replies would fill the memory, and their work would keep the event loop from
 * other clients. What a closed connection has left is dropped. Whatever a connection sends is read in pieces,
 * by turns (see {@link FairSocket}); after a reply, a rest of the request's body that is long ends the
 * connection.
 *
 * What Node answers itself, it answers without the application's headers. So requests without a host and with
 * an unknown expectation go to the handler, too, and CONNECT and bytes that are not HTTP are refused here.
 */
export function createGatedServer(
  handler: Handler,
  { refusalHeaders, tls, fairShare, admits = () => true, ...options }: GatedServerOptions,
): GatedServer {
  const lines = new WeakMap<Socket, Exchange[]>();
  /**
   * Connections whose further bytes are discarded: the last output after the replies in progress, and the
   * number of bytes that may still arrive.
   */
  const refused = new WeakMap<Socket, { readonly refusal: Buffer; readonly maxBytesRead: number }>();
  /** Requests in progress. */
  let running = 0;
  const isContended = (): boolean => running > 1;
  const begin = (line: Exchange[], [request, reply]: Exchange): void => {
    const { socket } = request;
    running += 1;
    if (socket instanceof FairSocket) {
      socket.limitInput(Infinity);
      watchClient(socket, request, reply, isContended);
    }
    reply.once('close', () => {
      running -= 1;
      line.shift();
      if (!request.complete && socket instanceof FairSocket) socket.limitInput(DISCARDED_BYTES);
      if (socket.destroyed || socket.writableEnded) line.length = 0;
      const last = refused.get(socket);
      if (last !== undefined && line.length === 0) endWith(socket, last.refusal);
      const [next] = line;
      if (next !== undefined) begin(line, next);
    });
    handler(request, reply);
  };
  /**
   * Refuses what follows the requests of a connection, after their replies. A request whose body does not
   * arrive gets none.
   */
  const refuse = (socket: Socket, status: number, headers: Readonly<Record<string, string>>): void => {
    const known = refused.get(socket);
    if (known !== undefined) {
      // The parser fails again for every chunk.
      if (socket.bytesRead > known.maxBytesRead) socket.destroy();
      return;
    }
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const refusal = admits(socket)
      ? rawReply(status, { ...refusalHeaders, ...headers })
      : rawReply(403, refusalHeaders, 'this host is not allowed');
    refused.set(socket, { refusal, maxBytesRead: socket.bytesRead + DISCARDED_BYTES });
    const [first] = lines.get(socket) ?? [];
    if (first?.[0].complete === true) return;
    if (first?.[1].headersSent === true) socket.destroy();
    else endWith(socket, refusal);
  };
  const receive = (request: IncomingMessage, reply: ServerResponse): void => {
    const { socket } = request;
    if (socket.destroyed || socket.writableEnded || refused.has(socket)) return;
    if (!HTTP_VERSIONS.has(request.httpVersion)) {
      stopParsing(socket);
      refuse(socket, 505, {});
      return;
    }
    let line = lines.get(socket);
    if (line === undefined) {
      line = [];
      lines.set(socket, line);
    }
    if (line.length >= MAX_PIPELINED) {
      line.length = 0;
      stopParsing(socket);
      socket.destroy();
      return;
    }
    const exchange: Exchange = [request, reply];
    line.push(exchange);
    if (line.length === 1) begin(line, exchange);
  };
  const plain = { ...options, requireHostHeader: false };
  const secure = tls && createTlsServer({ ...plain, ...tls, handshakeTimeout: HANDSHAKE_MS }, receive);
  // What is not TLS, or a client that does not trust the certificate.
  secure?.on('tlsClientError', (_error, socket) => socket.destroy());
  const server: Server = secure ?? createServer(plain, receive);
  // A client may end its direction with its request. Without this, it gets no reply that takes a moment.
  Reflect.set(server, 'httpAllowHalfOpen', true);
  // With TLS the requests come from the socket above the one that was accepted.
  const accepted = secure === undefined ? 'connection' : 'secureConnection';
  readByTurns(server, accepted, fairShare);
  // At this moment the only listener is that of Node's HTTP.
  const serveHttp = server.listeners(accepted);
  // Without this listener Node answers 417 itself.
  server.on('checkExpectation', (request, reply) => server.emit('request', request, reply));
  // Without this one it closes the connection. The socket is no longer the HTTP server's.
  server.on('connect', (_request, socket: Socket) => {
    socket.on('error', () => socket.destroy());
    const line = lines.get(socket) ?? [];
    if (line.length === 0) {
      refuse(socket, 405, { allow: 'GET, HEAD, POST' });
      return;
    }
    // Replies in progress do not learn that such a socket is closed.
    for (const [, reply] of line.splice(0)) reply.destroy();
    socket.destroy();
  });
  return {
    server,
    secure,
    interceptConnections: (intercept) => {
      for (const listener of serveHttp) server.off(accepted, listener as () => void);
      server.on(accepted, (socket: Socket) => {
        intercept(socket, () => {
          for (const listener of serveHttp) listener.call(server, socket);
        });
      });
    },
    refuseUnreadable: (error, socket) => {
      const code = errorCode(error) ?? '';
      if (code === 'ECONNRESET') socket.destroy();
      else refuse(socket, PARSER_STATUS[code] ?? 400, {});
    },
  };
}

/**
 * Gives Node's parser the connections of the server as {@link FairSocket}s, each in its turn: the system accepts
 * connections for as long as they arrive.
 */
function readByTurns(server: Server, accepted: string, fairShare: FairShare): void {
  const parsers = server.listeners(accepted);
  server.removeAllListeners(accepted);
  server.on(accepted, (socket: Socket | FairSocket) => {
    // The limits of connections are checked first.
    if (socket.destroyed) return;
    const share = socket instanceof FairSocket ? socket.share : fairShare.join(socket.remoteAddress);
    const begin = (): void => {
      socket.off('error', ignore);
      if (socket.destroyed) return;
      const fair = socket instanceof FairSocket ? socket : new FairSocket(socket, share);
      for (const parse of parsers) Reflect.apply(parse, server, [fair]);
    };
    const ignore = (): void => undefined;
    socket.on('error', ignore);
    share.charge(CONNECTION_COST_MS);
    if (share.mayContinue()) begin();
    else socket.once('close', share.whenTurn(begin));
  });
}

/** Bytes that a client may still send that is refused, or whose request is answered. */
const DISCARDED_BYTES = 1 << 20;

/** Milliseconds that a refused client may take to read the refusal. */
const REFUSAL_MS = 2000;

/**
 * Sends the last bytes of a connection. What still arrives is discarded: closing over unread bytes would reset
 * the connection.
 */
function endWith(socket: Socket, bytes: Buffer): void {
  socket.end(bytes);
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), REFUSAL_MS);
  socket.once('close', () => clearTimeout(timer));
}

/** Returns a whole reply to what never reaches the application, after which the connection ends. */
export function rawReply(
  status: number,
  headers: Readonly<Record<string, string>>,
  sentence = 'this server cannot read the request',
): Buffer {
  const reason = STATUS_CODES[status] ?? '';
  const text = `${reason}: ${sentence}.\n`;
  const fields = {
    ...headers,
    date: new Date().toUTCString(),
    'content-type': 'text/plain; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    'cache-control': 'no-store',
    connection: 'close',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n${text}`);
}

/**
 * Node's parser of a connection. `onIncoming` is called for every request; its result 2 means that no HTTP
 * follows.
 */
interface ParsingSocket extends Socket {
  readonly parser?: { onIncoming?: unknown } | null;
}

/**
 * Ends the parsing of a chunk that the parser is in the middle of. Otherwise Node makes objects and errors for
 * each of the thousands of requests in it, for tens of milliseconds. The property is not documented; without
 * it, only this saving is lost.
 */
function stopParsing(socket: ParsingSocket): void {
  const { parser } = socket;
  if (typeof parser?.onIncoming === 'function') parser.onIncoming = () => 2;
}
