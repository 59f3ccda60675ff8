// Finds out that the client of a page is gone while the page is made.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { monotonicClock } from '../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../protocols/clock.js';
import type { FairSocket } from '../host/fair-socket.js';

/** The first and the longest milliseconds between two looks at a client that has ended its direction. */
const FIRST_LOOK_MS = 2;
const MAX_LOOK_MS = 1000;

/**
 * Watches a request until its reply is closed. A client that has only ended its direction waits for the reply, as
 * the first ones do; one that is gone answers the next bytes with a reset. So it gets `100 Continue`, which a client
 * of HTTP/1.1 skips also if it has not asked for it (RFC 9110, 15.2.1), at once while other requests are in progress,
 * otherwise after a second. A reset closes the reply.
 *
 * @param isContended whether other requests are in progress
 */
export function watchClient(
  socket: FairSocket,
  request: IncomingMessage,
  reply: ServerResponse,
  isContended: () => boolean,
  clock: Clock = monotonicClock,
): void {
  const since = clock.now();
  let cancelTimer: (() => void) | undefined;
  let lookMs = FIRST_LOOK_MS;
  let isProbed = false;
  const look = (): void => {
    cancelTimer = undefined;
    // Headers, which Node sends with the first bytes of the body, reach the client as well as the probe does.
    const mayProbe = !isProbed && !reply.headersSent && request.httpVersion === '1.1';
    if (mayProbe && (isContended() || clock.now() - since >= MAX_LOOK_MS)) {
      isProbed = true;
      lookMs = FIRST_LOOK_MS;
      reply.writeContinue();
    }
    socket.pollReset();
    cancelTimer = clock.setTimer(look, lookMs, true);
    lookMs = Math.min(MAX_LOOK_MS, lookMs * 2);
  };
  const leave = socket.watchEnd(look);
  reply.once('close', () => {
    leave();
    cancelTimer?.();
  });
}
