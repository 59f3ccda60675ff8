// Answers clients that a references server has no place for.
import type { Socket } from 'node:net';
import type { Clock } from '../../protocols/clock.js';
import { CODES, chooseProtocol, ReplyWriter } from '../../protocols/sstp/index.js';
import type { Farewells } from '../host/farewells.js';
import { busyReply } from '../web/connections.js';
import type { RefererService } from './service.js';
import { PAGE_HEADERS } from './web/http-server.js';

/** Milliseconds for which the first octets are waited for, which choose the protocol (S-47). */
const FIRST_OCTETS_MS = 250;

/**
 * Refuses a client that was not served: in HTTP if its first octets are a request of HTTP, else by 503 of SSTP,
 * also if it sends nothing.
 */
export function refuseClient(
  socket: Socket,
  farewells: Farewells,
  service: Pick<RefererService, 'statistics'>,
  clock: Clock,
): void {
  let first: Uint8Array = new Uint8Array(0);
  let decided = false;
  const decide = (): void => {
    if (decided) return;
    decided = true;
    cancelTimer();
    socket.off('data', onData);
    const words = busyWords(chooseProtocol(first) === 'http');
    service.statistics.counts.bytes_out += words.length;
    farewells.say(socket, words);
  };
  // Once it is decided, nothing more is kept: a choice needs no more than the first line.
  const onData = (chunk: Buffer): void => {
    first = Buffer.concat([first, chunk]);
    if (chooseProtocol(first) !== 'undecided') decide();
  };
  const cancelTimer = clock.setTimer(decide, FIRST_OCTETS_MS);
  socket.once('end', decide);
  socket.once('close', decide);
  socket.on('data', onData);
  socket.resume();
}

/** The answer to a client that is not served, or no longer. */
export function busyWords(isHttp: boolean): Uint8Array {
  if (isHttp) return busyReply(PAGE_HEADERS);
  const replies = new ReplyWriter();
  replies.writeError(CODES.serviceUnavailable.number);
  return replies.take();
}
