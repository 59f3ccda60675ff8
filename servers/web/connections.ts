// Limits of the connections of an HTTP server.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { monotonicClock } from '../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../protocols/clock.js';
import type { AdmissionLimits } from '../host/admission.js';
import type { ConnectionSlot } from '../host/connection-table.js';
import { acceptedSocket, holdsInput } from '../host/fair-socket.js';
import { type NewcomerCounts, Newcomers } from '../host/newcomers.js';
import { acceptedBytes, SendWatch } from '../host/send-watch.js';
import { type GatedServer, rawReply } from './request-gate.js';

/** Limits of {@link guardConnections}. */
export interface ConnectionGuardOptions extends AdmissionLimits {
  /** Milliseconds over which the rate of a client that reads a reply is measured. Default 60 000. */
  readonly drainTimeoutMs?: number | undefined;
  /** Bytes per second that such a client must accept on average. Default 100; 0: any progress suffices. */
  readonly minBytesPerSecond?: number | undefined;
  /** Default: that of this process. */
  readonly clock?: Clock | undefined;
}

/** What {@link guardConnections} tells its caller, and the headers of what it sends. */
export interface ConnectionGuardContext {
  /** Headers of the replies to clients that are not served. */
  readonly refusalHeaders: Readonly<Record<string, string>>;
  /** Receives the address of a client that is not served, because there are too many. */
  readonly refused: (address: string) => void;
  /** Receives the sentence about the limit of open files, at most once a minute. */
  readonly report: (sentence: string) => void;
}

/** Checks of a connection within `drainTimeoutMs`. */
const CHECKS = 8;

/** Seconds after which a client that is not served may ask again: places become free within seconds. */
const RETRY_SECONDS = '5';

interface Guarded {
  readonly slot: ConnectionSlot;
  readonly watch: SendWatch;
  /** Requests that are not answered. */
  requests: number;
  /** The reply to the first of them. */
  reply: ServerResponse | undefined;
  served: boolean;
  /** Bytes that the client had accepted at the last check. */
  accepted: number;
}

/** Returns the whole reply to a client that an HTTP server has no place for. */
export function busyReply(headers: Readonly<Record<string, string>>): Buffer {
  return rawReply(
    503,
    { ...headers, 'retry-after': RETRY_SECONDS },
    'there are too many connections, try again',
  );
}

/**
 * Limits the connections of an HTTP server, all together and for each address (see {@link Newcomers}). A
 * kept-alive connection without a request makes room for a new one; a client that reads a reply too slowly is
 * cut. A client without a place gets 503 with Retry-After. Returns what counts them.
 */
export function guardConnections(
  { server, interceptConnections }: Pick<GatedServer, 'server' | 'interceptConnections'>,
  options: ConnectionGuardOptions,
  { refusalHeaders, refused, report }: ConnectionGuardContext,
): () => NewcomerCounts {
  const { drainTimeoutMs = 60_000, minBytesPerSecond = 100, clock = monotonicClock } = options;
  const newcomers = new Newcomers({
    limits: () => options,
    refuse: (socket, farewells, atOnce) => farewells.say(socket, busyReply(refusalHeaders), atOnce),
    refused,
    report,
    clock,
  });
  const open = new Map<Socket, Guarded>();
  // The HTTP server writes to the socket itself, so whether the socket waits for its peer is looked at from
  // time to time.
  const check = (): void => {
    for (const [socket, guarded] of open) {
      const { watch, slot } = guarded;
      const accepted = acceptedBytes(socket, socket.bytesWritten);
      if (socket.writableLength === 0) watch.stop();
      else {
        watch.start();
        if (accepted === guarded.accepted) slot.waitForOutput();
        else slot.work();
      }
      guarded.accepted = accepted;
    }
    cancelCheck = clock.setTimer(check, drainTimeoutMs / CHECKS, true);
  };
  let cancelCheck = clock.setTimer(check, drainTimeoutMs / CHECKS, true);
  server.on('listening', () => newcomers.start());
  server.on('close', () => cancelCheck());
  // Connections that wait would keep a server open that is to close.
  const close = server.close.bind(server);
  server.close = (...args) => {
    newcomers.stop();
    newcomers.cut();
    return close(...args);
  };
  const serve = (socket: Socket, slot: ConnectionSlot): Guarded => {
    const watch = new SendWatch(
      { drainTimeoutMs, minBytesPerSecond },
      () => acceptedBytes(socket, socket.bytesWritten),
      () => socket.destroy(),
      clock,
    );
    const guarded: Guarded = {
      slot,
      watch,
      requests: 0,
      reply: undefined,
      served: false,
      accepted: 0,
    };
    open.set(socket, guarded);
    socket.on('close', () => {
      slot.release();
      watch.close();
      open.delete(socket);
    });
    return guarded;
  };
  interceptConnections((socket, serveHttp) => {
    newcomers.receive(socket, (slot) => {
      const guarded = serve(socket, slot);
      serveHttp();
      return {
        evict: () => {
          open.delete(socket);
          if (socket.writableLength > 0 || guarded.reply?.headersSent === true) {
            socket.destroy();
            return;
          }
          // A connection that is kept alive ends in silence; one that waits with a request is answered.
          const isIdle = guarded.served && guarded.reply === undefined && !holdsInput(socket);
          newcomers.farewells.say(socket, isIdle ? new Uint8Array(0) : busyReply(refusalHeaders));
        },
      };
    });
  });
  server.prependListener('request', (request: IncomingMessage, reply: ServerResponse) => {
    const guarded = open.get(acceptedSocket(request.socket));
    if (guarded === undefined) return;
    guarded.requests += 1;
    guarded.reply ??= reply;
    const work = (): void => {
      if (guarded.requests > 0) guarded.slot.work();
    };
    // A body that does not arrive is input that the server waits for.
    if (hasBody(request)) request.once('end', work);
    else work();
    reply.once('close', () => {
      guarded.requests -= 1;
      guarded.served = true;
      if (guarded.reply === reply) guarded.reply = undefined;
      if (guarded.requests === 0) guarded.slot.waitForInput(true);
    });
  });
  return () => newcomers.counts;
}

function hasBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = headers;
  return coding !== undefined || (length !== undefined && length !== '0');
}
