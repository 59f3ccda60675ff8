// One connection of a references server: choice of protocol, replies, timeouts.
import type { Socket } from 'node:net';
import {
  CODES,
  chooseProtocol,
  type ReplyBuffers,
  ReplyWriter,
  type ServerRequest,
  SstpServerSession,
} from '../../protocols/sstp/index.js';
import { plainAddress } from '../host/index.js';
import type { AllowedHosts } from './allowed-hosts.js';
import { ExchangeLog } from './exchange-log.js';
import { LEVEL, type RefererLog } from './log.js';
import type { HttpClient, RefererSettings } from './service.js';
import type { Statistics } from './statistics.js';

/** Replies are collected up to this many bytes, plus one reply, before they are written. */
const WRITE_BYTES = 128 * 1024;
/** Bytes that one connection writes in one turn of the event loop, before the other connections get a turn. */
const TURN_BYTES = 1024 * 1024;
/** Limits for discarding input after the last reply: closing with unread input would reset the connection and lose the reply. */
const LINGER_MS = 2000;
const LINGER_BYTES = 1 << 20;

/** Members of the server that a connection uses. */
export interface ConnectionContext {
  readonly settings: RefererSettings;
  readonly statistics: Statistics;
  readonly log: RefererLog;
  readonly allowed: AllowedHosts;
  /** Memory for replies, which the connections share. */
  readonly buffers: ReplyBuffers;
  /** Writes the answer to one request into the buffer. Never throws. */
  answer(request: ServerRequest, replies: ReplyWriter, address: string): void;
  serveHttp(socket: Socket, client: HttpClient): void;
  closed(connection: RefererConnection): void;
}

type Phase = 'choosing' | 'sstp' | 'handed-over' | 'lingering';

/**
 * One connection of a references server. Its first octets choose the protocol (S-47): SSTP is served here, HTTP by the web
 * pages. All requests that have arrived are answered into one buffer, which is written in one call; while the peer does not
 * accept it, nothing is read (S-39). An idle peer costs a socket, a session and a timer.
 *
 * It drives the socket by its events instead of the host's `HostConnection`, whose promises cost a third of the speed.
 * Requests per second of processor time, first pages of at most 100 results, medians of five rounds, Node 20:
 *
 * | connections x requests in flight | events | HostConnection |
 * | --- | --- | --- |
 * | 64 x 1 | 76 500 | 51 400 |
 * | 64 x 16 | 636 600 | 472 300 |
 * | 1 x 64 | 1 156 000 | 989 000 |
 * | 1 x 1 | 56 000 | 41 400 |
 */
export class RefererConnection {
  readonly address: string;
  readonly #socket: Socket;
  readonly #context: ConnectionContext;
  readonly #exchange: ExchangeLog | undefined;
  #phase: Phase = 'choosing';
  /** Octets that arrived before the protocol was chosen, or before the peer was admitted. */
  #first: Buffer | undefined;
  #session: SstpServerSession | undefined;
  #sending = false;
  /** Whether it waits for the next turn of the event loop; the callback of a finished write does not end the wait. */
  #yielding = false;
  #deciding = false;
  #ended = false;
  #stopping = false;
  #answered = 0;
  #lingered = 0;
  #timer: NodeJS.Timeout;
  #sendTimer: NodeJS.Timeout | undefined;

  constructor(socket: Socket, context: ConnectionContext) {
    this.#socket = socket;
    this.#context = context;
    this.address = plainAddress(socket.remoteAddress ?? '');
    const { log } = context;
    this.#exchange = log.writes(LEVEL.protocol) ? new ExchangeLog(log, this.address) : undefined;
    // S-45: from accepting the connection to the end of the request.
    this.#timer = setTimeout(this.#readTimeout, context.settings.readTimeoutMs);
    socket.on('data', this.#onData);
    socket.on('end', this.#onEnd);
    socket.on('error', this.#onError);
    socket.on('close', this.#onClose);
  }

  /** Closes after the requests that have begun. A connection that has not sent any may still send one. */
  stop(): void {
    this.#stopping = true;
    // Input that the operating system has already received is read first.
    setImmediate(() => setImmediate(() => this.#closeIfIdle()));
  }

  /** Drops the connection. */
  destroy(): void {
    this.#socket.destroy();
  }

  readonly #onData = (chunk: Buffer): void => {
    const { counts } = this.#context.statistics;
    counts.bytes_in += chunk.length;
    if (this.#phase === 'lingering') {
      this.#lingered += chunk.length;
      if (this.#lingered > LINGER_BYTES) this.#socket.destroy();
      return;
    }
    this.#exchange?.received(chunk);
    if (this.#session !== undefined) {
      this.#session.push(chunk);
      this.#pump();
      return;
    }
    this.#first = this.#first === undefined ? chunk : Buffer.concat([this.#first, chunk]);
    if (!this.#deciding) this.#choose();
  };

  readonly #onEnd = (): void => {
    this.#ended = true;
    if (this.#deciding || this.#phase === 'handed-over') return;
    if (this.#phase === 'lingering' || (this.#session === undefined && this.#first === undefined)) {
      this.#socket.end();
      return;
    }
    // S-47: input that is undecided at its end is neither protocol.
    if (this.#session === undefined) {
      this.#refuse(CODES.badRequest.number);
      return;
    }
    this.#session.end();
    this.#pump();
  };

  readonly #onError = (error: Error): void => {
    this.#context.log.write(LEVEL.connection, `${this.address}: ${error.message}`);
  };

  readonly #onClose = (): void => {
    clearTimeout(this.#timer);
    clearTimeout(this.#sendTimer);
    this.#context.closed(this);
  };

  /** S-47, S-48: chooses the protocol. S-44: once it is known, decides whether the host is allowed. */
  #choose(): void {
    const choice = chooseProtocol(this.#first ?? Buffer.alloc(0));
    if (choice === 'undecided') return;
    if (choice === 'neither') {
      this.#refuse(CODES.badRequest.number);
      return;
    }
    const decided = this.#context.allowed.decide(this.address);
    if (typeof decided === 'boolean') {
      this.#begin(choice, decided);
      return;
    }
    this.#deciding = true;
    this.#socket.pause();
    void decided.then((allowed) => {
      this.#deciding = false;
      if (this.#socket.destroyed) return;
      this.#socket.resume();
      this.#begin(choice, allowed);
    });
  }

  #begin(choice: 'sstp' | 'http', allowed: boolean): void {
    if (!allowed) {
      this.#context.statistics.counts.forbidden += 1;
      this.#context.log.write(LEVEL.warning, `${this.address} is not allowed`);
    }
    const first = this.#first ?? Buffer.alloc(0);
    if (choice === 'http') {
      this.#handOver(first, allowed);
      return;
    }
    // the HTTP server has its own answer to a host that is not allowed.
    if (!allowed) {
      this.#refuse(CODES.forbidden.number);
      return;
    }
    this.#phase = 'sstp';
    this.#first = undefined;
    this.#session = new SstpServerSession({}, this.#context.buffers);
    this.#session.push(first);
    if (this.#ended) this.#session.end();
    this.#pump();
  }

  #handOver(first: Buffer, allowed: boolean): void {
    this.#phase = 'handed-over';
    this.#first = undefined;
    const socket = this.#socket;
    socket.off('data', this.#onData);
    socket.off('end', this.#onEnd);
    socket.pause();
    socket.unshift(first);
    const { counts } = this.#context.statistics;
    const received = socket.bytesRead;
    socket.once('close', () => {
      counts.bytes_in += socket.bytesRead - received;
      counts.bytes_out += socket.bytesWritten;
    });
    const requested = (): void => {
      clearTimeout(this.#timer);
      this.#sendTimer ??= setTimeout(this.#sendTimeout, this.#context.settings.sendTimeoutMs);
    };
    this.#context.serveHttp(socket, { address: this.address, allowed, requested });
  }

  /** Answers the requests that have arrived, as long as the peer accepts the answers. */
  #pump(): void {
    const session = this.#session;
    if (session === undefined || this.#sending || this.#phase !== 'sstp') return;
    const { replies } = session;
    let written = 0;
    for (;;) {
      let request = session.next();
      while (request !== undefined) {
        this.#context.answer(request, replies, this.address);
        this.#answered += 1;
        if (replies.length >= WRITE_BYTES) break;
        request = session.next();
      }
      if (replies.length === 0) break;
      const bytes = replies.take();
      written += bytes.length;
      if (!this.#write(bytes)) return;
      this.#context.buffers.giveBack(bytes);
      if (request === undefined) break;
      if (written >= TURN_BYTES) {
        this.#yield();
        return;
      }
    }
    if (session.closing) {
      this.#finish();
      return;
    }
    if (this.#stopping) this.#closeIfIdle();
  }

  /** @returns whether the system has accepted all of it */
  #write(bytes: Uint8Array): boolean {
    const socket = this.#socket;
    this.#exchange?.sent(bytes);
    this.#context.statistics.counts.bytes_out += bytes.length;
    socket.write(bytes, this.#onWritten);
    if (socket.writableLength === 0) {
      // S-45: from the last octet of the reply.
      this.#timer.refresh();
      return true;
    }
    this.#sending = true;
    clearTimeout(this.#timer);
    socket.pause();
    this.#sendTimer = setTimeout(this.#sendTimeout, this.#context.settings.sendTimeoutMs);
    return false;
  }

  readonly #onWritten = (): void => {
    if (!this.#sending || this.#yielding || this.#socket.writableLength > 0 || this.#socket.destroyed) return;
    clearTimeout(this.#sendTimer);
    this.#resume();
  };

  /** Continues with the replies in the next turn of the event loop; until then nothing is read. */
  #yield(): void {
    this.#sending = true;
    this.#yielding = true;
    this.#socket.pause();
    setImmediate(() => {
      this.#yielding = false;
      if (!this.#socket.destroyed) this.#resume();
    });
  }

  #resume(): void {
    this.#sending = false;
    if (this.#phase === 'lingering') return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#readTimeout, this.#context.settings.readTimeoutMs);
    this.#socket.resume();
    this.#pump();
  }

  /** Sends an error before any request was read, and closes. */
  #refuse(code: number): void {
    if (code === CODES.badRequest.number) this.#context.statistics.counts.bad_request += 1;
    const replies = new ReplyWriter();
    replies.writeError(code);
    this.#write(replies.take());
    this.#finish();
  }

  /** Sends the buffered bytes, then closes. Input is discarded until the peer closes, for at most `LINGER_MS`. */
  #finish(): void {
    this.#phase = 'lingering';
    clearTimeout(this.#timer);
    const socket = this.#socket;
    socket.end();
    socket.resume();
    if (!this.#ended) this.#timer = setTimeout(() => socket.destroy(), LINGER_MS);
  }

  /** closes if all requests are answered and no new one has begun. */
  #closeIfIdle(): void {
    if (this.#socket.destroyed) return;
    const idle = this.#session?.idle === true && !this.#sending && this.#answered > 0;
    if (idle && this.#phase === 'sstp') this.#finish();
  }

  readonly #readTimeout = (): void => {
    this.#context.statistics.counts.timeouts_read += 1;
    this.#context.log.write(LEVEL.connection, `${this.address}: no request in time`);
    this.#socket.destroy();
  };

  readonly #sendTimeout = (): void => {
    this.#context.statistics.counts.timeouts_send += 1;
    this.#context.log.write(LEVEL.connection, `${this.address}: the peer does not accept the reply`);
    this.#socket.destroy();
  };
}
