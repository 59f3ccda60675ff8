// One connection of a references server: choice of protocol, replies, timeouts.
import type { Socket } from 'node:net';
import { type Clock, IdleTimer } from '../../protocols/clock.js';
import {
  CODES,
  ProtocolChooser,
  type ReplyBuffers,
  ReplyWriter,
  SstpServerSession,
} from '../../protocols/sstp/index.js';
import type { ConnectionSlot } from '../host/connection-table.js';
import { FairFlow } from '../host/fair-flow.js';
import type { SessionShare } from '../host/fair-share.js';
import type { Farewells } from '../host/farewells.js';
import { plainAddress } from '../host/peer.js';
import { LEVEL } from './level.js';
import { ExchangeLog, type RefererLog } from './log.js';
import { busyWords } from './refusal.js';
import type { HttpClient, RefererService } from './service.js';

/** Replies are collected up to this many bytes, plus one reply, before they are written. */
const WRITE_BYTES = 128 * 1024;
/** Bytes that one connection writes in one turn of the event loop, before the other connections get a turn. */
const TURN_BYTES = 1024 * 1024;
/** Requests that are answered before the clock is read. */
const REQUESTS_PER_CHECK = 64;
/** Bytes of replies after which the clock is read, too: a long list costs more than many short ones. */
const BYTES_PER_CHECK = 64 * 1024;
/**
 * Parts of a slice of the event loop after which a turn ends: earlier if a write is just done, later if the
 * next one is half full. A write of half the size costs nearly as much, and so does what it wakes.
 */
const AFTER_WRITE = 2.4;
const BEFORE_WRITE = 6;
/** A pause costs about a hundred requests. */
const OTHERWISE = 4;
/**
 * A chunk of at least this many bytes is probably followed by others, which are not read before it is answered.
 */
const HURRIED_BYTES = 32 * 1024;
/**
 * Limits for discarding input after the last reply: closing with unread input would reset the connection and
 * lose the reply.
 */
const LINGER_MS = 2000;
const LINGER_BYTES = 1 << 20;
/**
 * Milliseconds between two chunks that are discarded. A flood of connections that are refused costs mostly this
 * reading, and the system accepts one connection in each turn of the event loop: a newcomer waits for all
 * reading of the turns before it.
 */
const LINGER_PAUSE_MS = 10;

/** The state that the connections of a server share. */
export interface ConnectionContext {
  readonly service: RefererService;
  /** The clock of the limits. */
  readonly clock: Clock;
  /** For those connections whose socket is the HTTP server's. */
  readonly farewells: Farewells;
  /** Memory for replies. */
  readonly buffers: ReplyBuffers;
  /** @param first the octets that have been read */
  serveHttp(socket: Socket, share: SessionShare, first: Uint8Array, client: HttpClient): void;
  closed(connection: RefererConnection): void;
}

/** The state of a connection when it is accepted. */
export interface ConnectionParts {
  /** Its place among the connections of the server. */
  readonly slot: ConnectionSlot;
  /** Its share of the event loop. */
  readonly share: SessionShare;
  /** Its lines in the log, which are bounded. */
  readonly log: RefererLog;
}

type Phase = 'choosing' | 'sstp' | 'handed-over' | 'lingering';

/**
 * One connection of a references server. Its first octets choose the protocol (S-47): SSTP is served here, HTTP
 * by the web pages. All requests that have arrived are answered into one buffer, which is written in one call;
 * while the peer does not accept it, nothing is read (S-39). An idle peer costs a socket, a session and a
 * timer.
 *
 * It drives the socket by its events instead of the host's `HostConnection`, whose promises cost a third of the
 * speed. Processor time of one request, first pages of about ten results, medians of five processes, Node 20,
 * two busy cores (`npm run bench -- references-shapes`):
 *
 * | connections x requests in flight | microseconds |
 * | --- | --- |
 * | 64 x 1 | 15.0 |
 * | 64 x 16 | 1.7 |
 * | 1 x 64 | 0.85 |
 * | 1 x without end | 1.0 |
 * | 16 x without end | 1.3 |
 */
export class RefererConnection {
  readonly address: string;
  readonly #socket: Socket;
  readonly #context: ConnectionContext;
  readonly #slot: ConnectionSlot;
  readonly #share: SessionShare;
  /** Reads the socket. */
  readonly #flow: FairFlow;
  readonly #log: RefererLog;
  readonly #exchange: ExchangeLog | undefined;
  #phase: Phase = 'choosing';
  /** Until the protocol is chosen and the peer admitted. */
  readonly #chooser = new ProtocolChooser();
  #session: SstpServerSession | undefined;
  #sending = false;
  /**
   * Whether it waits for the next turn of the event loop; the callback of a finished write does not end the
   * wait.
   */
  #yielding = false;
  /** Ends the wait for the next turn. */
  #leaveTurn: (() => void) | undefined;
  /** Whether the last chunk was so long that the system probably holds more. */
  #hurried = false;
  #ended = false;
  #stopping = false;
  #answered = 0;
  /** Value of `#answered` when the slot was last told. */
  #toldAnswered = 0;
  #lingered = 0;
  /** S-45: the time for a request, which every reply begins anew. */
  readonly #readTimer: IdleTimer;
  #cancelLinger: (() => void) | undefined;
  #cancelSendTimer: (() => void) | undefined;
  #pause: NodeJS.Timeout | undefined;

  constructor(socket: Socket, context: ConnectionContext, { slot, share, log }: ConnectionParts) {
    this.#socket = socket;
    this.#context = context;
    this.#slot = slot;
    this.#share = share;
    this.#log = log;
    this.address = plainAddress(socket.remoteAddress ?? '');
    this.#exchange = context.service.log.writes(LEVEL.protocol) ? new ExchangeLog(log) : undefined;
    this.#readTimer = new IdleTimer(context.clock, this.#readTimeout);
    // S-45: from accepting the connection to the end of the request.
    this.#readTimer.start(context.service.settings.readTimeoutMs);
    this.#flow = new FairFlow(socket, share, this.#onData, this.#onEnd);
    socket.on('error', this.#onError);
    socket.on('close', this.#onClose);
  }

  /**
   * Closes after the requests that have begun. A connection that has not sent any may still send one.
   */
  stop(): void {
    this.#stopping = true;
    // Input that the operating system has already received is read first.
    setImmediate(() => setImmediate(() => this.#closeIfIdle()));
  }

  /** Closes a connection that has waited for its peer, to make room for another. */
  evict(waitedMs: number): void {
    this.#context.service.statistics.counts.evicted_idle += 1;
    this.#log.write(
      LEVEL.connection,
      `makes room for a newcomer, it has waited for ${Math.round(waitedMs)} ms`,
    );
    // it may have sent a request in this moment, which then has an answer.
    if (this.#sending) this.#socket.destroy();
    else if (this.#phase === 'handed-over') this.#context.farewells.say(this.#socket, busyWords(true));
    else if (this.#phase !== 'lingering') this.#refuse(CODES.serviceUnavailable.number);
  }

  /** Drops the connection. */
  destroy(): void {
    this.#socket.destroy();
  }

  readonly #onData = (chunk: Buffer): void => {
    const { counts } = this.#context.service.statistics;
    counts.bytes_in += chunk.length;
    if (this.#phase === 'lingering') {
      this.#lingered += chunk.length;
      if (this.#lingered > LINGER_BYTES) this.#socket.destroy();
      else this.#pauseReading();
      return;
    }
    this.#exchange?.received(chunk);
    if (this.#session !== undefined) {
      this.#session.push(chunk);
      this.#hurried = chunk.length >= HURRIED_BYTES;
      // One chunk more than it answers now: reading is paused only if the wait is long.
      if (this.#yielding) this.#flow.pause();
      else this.#pump();
      return;
    }
    const isChoosing = this.#chooser.state === 'choosing';
    this.#chooser.push(chunk);
    if (isChoosing) this.#choose();
  };

  /** Reads on after a pause: the system may hold megabytes that are discarded. */
  #pauseReading(): void {
    this.#flow.pause();
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => this.#flow.resume(), LINGER_PAUSE_MS);
  }

  readonly #onEnd = (): void => {
    this.#ended = true;
    if (this.#phase === 'handed-over') return;
    if (this.#phase === 'lingering') {
      this.#socket.end();
      return;
    }
    if (this.#session === undefined) {
      const isChoosing = this.#chooser.state === 'choosing';
      this.#chooser.end();
      if (isChoosing) this.#choose();
      return;
    }
    this.#session.end();
    this.#pump();
  };

  readonly #onError = (error: Error): void => {
    this.#log.write(LEVEL.connection, `connection failed: ${error.message}`);
  };

  readonly #onClose = (): void => {
    this.#readTimer.stop();
    this.#cancelLinger?.();
    this.#cancelSendTimer?.();
    clearTimeout(this.#pause);
    this.#leaveTurn?.();
    this.#slot.release();
    this.#log.write(LEVEL.connection, 'closed');
    this.#context.closed(this);
  };

  /** S-47, S-48: once the protocol is chosen, S-44 decides whether the host is allowed. */
  #choose(): void {
    const { state, refusal } = this.#chooser;
    if (state === 'choosing') return;
    if (state === 'closed') {
      this.#socket.end();
      return;
    }
    const begin = (allowed: boolean): void => this.#begin(allowed, refusal);
    const decided = this.#context.service.lists.allowed.decide(this.address);
    if (typeof decided === 'boolean') {
      begin(decided);
      return;
    }
    this.#flow.pause();
    void decided.then((allowed) => {
      if (this.#socket.destroyed) return;
      this.#flow.resume();
      begin(allowed);
    });
  }

  /** @param unreadable the reply to octets of neither protocol */
  #begin(allowed: boolean, unreadable: number | undefined): void {
    if (!allowed) {
      this.#context.service.statistics.counts.forbidden += 1;
      this.#log.write(LEVEL.warning, 'is not allowed');
    }
    if (unreadable !== undefined) {
      this.#refuse(allowed ? unreadable : CODES.forbidden.number);
      return;
    }
    this.#chooser.admit(allowed);
    const { state, refusal } = this.#chooser;
    if (state === 'handed over') {
      this.#handOver(this.#chooser.take(), allowed);
      return;
    }
    // the HTTP server has its own answer to a host that is not allowed.
    if (refusal !== undefined) {
      this.#refuse(refusal);
      return;
    }
    this.#phase = 'sstp';
    this.#session = new SstpServerSession({}, this.#context.buffers);
    this.#session.push(this.#chooser.take());
    if (this.#ended) this.#session.end();
    this.#pump();
  }

  #handOver(first: Uint8Array, allowed: boolean): void {
    this.#phase = 'handed-over';
    const socket = this.#socket;
    this.#flow.close();
    const { counts } = this.#context.service.statistics;
    const received = socket.bytesRead;
    socket.once('close', () => {
      counts.bytes_in += socket.bytesRead - received;
      counts.bytes_out += socket.bytesWritten;
    });
    const requested = (): void => {
      this.#readTimer.stop();
      this.#slot.work();
      if (this.#cancelSendTimer === undefined) this.#expectProgress();
    };
    this.#context.serveHttp(socket, this.#share, first, {
      address: this.address,
      log: this.#log,
      allowed,
      requested,
    });
  }

  /** Answers the requests that have arrived, as long as the peer accepts the answers. */
  #pump(): void {
    const session = this.#session;
    if (session === undefined || this.#sending || this.#phase !== 'sstp') return;
    const { replies } = session;
    let written = 0;
    for (;;) {
      const pause = this.#answerAll(session);
      if (replies.length > 0) {
        const bytes = replies.take();
        written += bytes.length;
        if (!this.#write(bytes)) return;
        this.#context.buffers.giveBack(bytes);
      }
      if (pause === undefined) break;
      if (pause === 'turn' || written >= TURN_BYTES) {
        this.#yield();
        return;
      }
    }
    if (session.closing) {
      this.#finish();
      return;
    }
    this.#slot.waitForInput(this.#answered !== this.#toldAnswered);
    this.#toldAnswered = this.#answered;
    if (this.#stopping) this.#closeIfIdle();
  }

  /**
   * Answers requests until all are answered or the buffer is full (`full`), or until other connections need a
   * turn (`turn`): a chunk of input may contain a thousand requests.
   */
  #answerAll(session: SstpServerSession): 'full' | 'turn' | undefined {
    const { replies } = session;
    const begin = performance.now();
    let unchecked = 0;
    let checkedBytes = 0;
    for (let request = session.next(); request !== undefined; request = session.next()) {
      this.#context.service.answer(request, replies, this.#log);
      this.#answered += 1;
      if (replies.length >= WRITE_BYTES) {
        this.#share.charge(performance.now() - begin);
        return this.#share.mayContinue(AFTER_WRITE) ? 'full' : 'turn';
      }
      unchecked += 1;
      if (unchecked < REQUESTS_PER_CHECK && replies.length - checkedBytes < BYTES_PER_CHECK) continue;
      unchecked = 0;
      checkedBytes = replies.length;
      // Usually the last of the requests that have arrived.
      if (session.idle) continue;
      if (!this.#share.mayContinue(replies.length < WRITE_BYTES / 2 ? OTHERWISE : BEFORE_WRITE)) {
        this.#share.charge(performance.now() - begin);
        return 'turn';
      }
    }
    this.#share.charge(performance.now() - begin);
    return undefined;
  }

  /** @returns whether the system has accepted all of it */
  #write(bytes: Uint8Array): boolean {
    const socket = this.#socket;
    this.#exchange?.sent(bytes);
    this.#context.service.statistics.counts.bytes_out += bytes.length;
    socket.write(bytes, this.#onWritten);
    if (socket.writableLength === 0) {
      // S-45: from the last octet of the reply.
      this.#readTimer.touch();
      return true;
    }
    this.#sending = true;
    this.#slot.waitForOutput();
    this.#readTimer.stop();
    this.#flow.pause();
    this.#expectProgress();
    return false;
  }

  readonly #onWritten = (error?: Error | null): void => {
    // After a reset, each further reply would fail the same way, and all requests that have arrived would be
    // answered for nothing.
    if (error != null) {
      this.#socket.destroy();
      return;
    }
    if (!this.#sending || this.#yielding || this.#socket.writableLength > 0 || this.#socket.destroyed) return;
    this.#cancelSendTimer?.();
    this.#resume();
  };

  /**
   * Continues with the replies in a later turn of the event loop; until then at most one more chunk is read.
   */
  #yield(): void {
    this.#sending = true;
    this.#yielding = true;
    this.#slot.work();
    if (this.#hurried) this.#flow.pause();
    this.#leaveTurn = this.#share.whenTurn(this.#onTurn);
  }

  readonly #onTurn = (): void => {
    const socket = this.#socket;
    this.#yielding = false;
    if (socket.destroyed) return;
    this.#sending = false;
    this.#readTimer.touch();
    this.#flow.resume();
    this.#pump();
  };

  #resume(): void {
    this.#sending = false;
    if (this.#phase === 'lingering') return;
    this.#readTimer.start(this.#context.service.settings.readTimeoutMs);
    this.#flow.resume();
    this.#pump();
  }

  /** Sends an error before any request was read, and closes. */
  #refuse(code: number): void {
    if (code === CODES.badRequest.number) this.#context.service.statistics.counts.bad_request += 1;
    const replies = new ReplyWriter();
    replies.writeError(code);
    this.#write(replies.take());
    this.#finish();
  }

  /**
   * Sends the buffered bytes, then closes. Input is discarded until the peer closes, for at most `LINGER_MS`.
   */
  #finish(): void {
    this.#phase = 'lingering';
    this.#slot.work();
    this.#readTimer.stop();
    this.#cancelSendTimer?.();
    const socket = this.#socket;
    socket.end();
    this.#pauseReading();
    if (!this.#ended) this.#cancelLinger = this.#context.clock.setTimer(() => socket.destroy(), LINGER_MS);
  }

  /** closes if all requests are answered and no new one has begun. */
  #closeIfIdle(): void {
    if (this.#socket.destroyed) return;
    const idle = this.#session?.idle === true && !this.#sending && this.#answered > 0;
    if (idle && this.#phase === 'sstp') this.#finish();
  }

  /** S-45: begins the time in which the peer must accept the written bytes. */
  #expectProgress(): void {
    const { clock, service } = this.#context;
    this.#cancelSendTimer = clock.setTimer(this.#sendTimeout, service.settings.sendTimeoutMs);
  }

  readonly #readTimeout = (): void => {
    this.#context.service.statistics.counts.timeouts_read += 1;
    this.#log.write(LEVEL.connection, 'sent no request in time');
    this.#socket.destroy();
  };

  readonly #sendTimeout = (): void => {
    this.#context.service.statistics.counts.timeouts_send += 1;
    this.#log.write(LEVEL.connection, 'does not accept the reply');
    this.#socket.destroy();
  };
}
