// A server that plays a script to the client under test.
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { ConnectionError } from '../../protocols/errors.js';
import type { Address } from './command-client.js';
import type { Delivery, Recorder } from './transcript.js';

/** Bytes that a client may send on one connection, about a thousand times the size of a session's commands. */
const MAX_CLIENT_BYTES = 256 * 1024;
/** Maximum number of connections of one run. */
const MAX_CONNECTIONS = 16;
/** A slow delivery sends this many pieces, with a pause after each. */
const SLOW_PIECES = 8;
const SLOW_PAUSE_MS = 10;

/** One line from the client. */
export interface ClientLine {
  /** Without its line end; each character is a byte. */
  readonly text: string;
  /** Empty when the connection ended within the line. */
  readonly end: '\n' | '\r\n' | '';
}

/** The lines that the client sent on one connection. */
export interface ClientSession {
  readonly lines: readonly ClientLine[];
}

/** The server's end of one connection, for a script. */
export class ServerSide implements ClientSession {
  readonly lines: ClientLine[] = [];
  readonly #socket: Socket;
  readonly #recorder: Recorder;
  readonly #signal: AbortSignal;
  readonly #chunks: AsyncIterator<Buffer>;
  #pending = '';
  #taken = 0;

  constructor(socket: Socket, recorder: Recorder, signal: AbortSignal) {
    this.#socket = socket;
    this.#recorder = recorder;
    this.#signal = signal;
    this.#chunks = socket.iterator({ destroyOnReturn: false });
  }

  /** The client's next line; undefined once it has closed. */
  async line(): Promise<ClientLine | undefined> {
    for (;;) {
      const found = this.#pending.indexOf('\n');
      if (found >= 0) {
        const line = this.#pending.slice(0, found);
        this.#pending = this.#pending.slice(found + 1);
        return this.#arrived(
          line.endsWith('\r') ? line.slice(0, -1) : line,
          line.endsWith('\r') ? '\r\n' : '\n',
        );
      }
      const chunk = await this.#read();
      if (chunk === undefined) break;
      this.#pending += chunk.toString('latin1');
    }
    if (this.#pending !== '') this.#arrived(this.#pending, '');
    this.#pending = '';
    return undefined;
  }

  #arrived(text: string, end: ClientLine['end']): ClientLine {
    const line = { text, end };
    this.lines.push(line);
    this.#recorder.received(Buffer.from(text + end, 'latin1'));
    return line;
  }

  async #read(): Promise<Buffer | undefined> {
    try {
      const { done, value } = await this.#chunks.next();
      if (done === true) return undefined;
      this.#taken += value.length;
      if (this.#taken <= MAX_CLIENT_BYTES) return value;
      this.#recorder.note(
        `the client sent more than ${MAX_CLIENT_BYTES} bytes; the server dropped the connection`,
      );
    } catch {
      this.#signal.throwIfAborted();
      // A client may reset the connection.
    }
    this.#socket.destroy();
    return undefined;
  }

  /**
   * Sends data. A client that has disconnected is not an error: it may do so at any time (GATHERD-7.3,
   * BRK-1.6).
   */
  async send(data: Buffer, delivery: Delivery = 'whole'): Promise<void> {
    if (data.length === 0 || !this.#socket.writable) return;
    this.#recorder.sent(data, delivery);
    const size =
      delivery === 'whole' ? data.length : delivery === 'bytes' ? 1 : Math.ceil(data.length / SLOW_PIECES);
    for (let at = 0; at < data.length && this.#socket.writable; at += size) {
      this.#signal.throwIfAborted();
      await this.#write(data.subarray(at, at + size));
      if (delivery === 'bytes') await setImmediate();
      if (delivery === 'slow') await setTimeout(SLOW_PAUSE_MS, undefined, { signal: this.#signal });
    }
  }

  /** Resolves when the piece is written or the socket is closed. */
  #write(piece: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      const settle = () => {
        this.#socket.off('close', settle);
        resolve();
      };
      this.#socket.once('close', settle);
      this.#socket.write(piece, settle);
    });
  }

  /** Closes the server's direction. */
  end(): void {
    this.#recorder.note('the server closes');
    this.#socket.end();
  }

  /** Resets the connection, as a crash of the server's machine does. */
  reset(): void {
    this.#recorder.note('the server resets the connection');
    this.#socket.resetAndDestroy();
  }

  /** Reads the rest of the client's lines, until it closes. */
  async drain(): Promise<void> {
    while ((await this.line()) !== undefined);
  }
}

/** Handles one connection of a scripted server. */
export type Script = (peer: ServerSide) => Promise<void>;

/** A server on a free port of the loopback interface that plays a script to every client. */
export class ScriptedServer implements AsyncDisposable {
  readonly sessions: ClientSession[] = [];
  readonly #server: Server;
  readonly #playing = new Set<Promise<void>>();
  readonly #sockets = new Set<Socket>();
  #failure: Error | undefined;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(script: Script, recorder: Recorder, signal: AbortSignal): Promise<ScriptedServer> {
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    const scripted = new ScriptedServer(server);
    server.on('connection', (socket) => scripted.#play(socket, script, recorder, signal));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return scripted;
  }

  /** A port of the loopback interface on which no server listens. */
  static async unusedPort(): Promise<Address> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = addressOf(server);
    server.close();
    await once(server, 'close');
    return address;
  }

  get address(): Address {
    return addressOf(this.#server);
  }

  /** Waits for the end of all connections. Rejects if a script failed. */
  async settled(): Promise<void> {
    while (this.#playing.size > 0) await Promise.all(this.#playing);
    if (this.#failure !== undefined) throw this.#failure;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all([closed, ...this.#playing]);
  }

  #play(socket: Socket, script: Script, recorder: Recorder, signal: AbortSignal): void {
    // Reading and writing report errors as the end of the connection.
    socket.on('error', () => {});
    if (this.sessions.length >= MAX_CONNECTIONS) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    recorder.note('the client connects');
    const peer = new ServerSide(socket, recorder, signal);
    this.sessions.push(peer);
    const playing = script(peer)
      .then(() => peer.drain())
      .then(() => recorder.note('the client has closed'))
      .catch((error: unknown) => {
        if (!signal.aborted) this.#failure ??= error instanceof Error ? error : new Error(String(error));
      })
      .finally(() => {
        socket.destroy();
        this.#playing.delete(playing);
      });
    this.#playing.add(playing);
  }
}

function addressOf(server: Server): Address {
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new ConnectionError('the scripted server has no port');
  return { host: '127.0.0.1', port: address.port };
}
