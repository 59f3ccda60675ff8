// Answers clients that a references server has no place for.
import type { Socket } from 'node:net';
import type { Clock } from '../../protocols/clock.js';
import { CODES, chooseProtocol, ReplyWriter } from '../../protocols/sstp/index.js';
import type { Farewells } from '../host/farewells.js';
import { lastDescriptors } from '../host/fd-limit.js';
import { busyReply } from '../web/connections.js';
import type { RefererService } from './service.js';
import { PAGE_HEADERS } from './web/http-server.js';

/** Milliseconds for which the first octets are waited for, which choose the protocol (S-47). */
const FIRST_OCTETS_MS = 250;

/** The part of the last descriptors that such clients may have. */
const WAITING_SHARE = 4;

/** Refuses the clients of a server that were not served. */
export class Refusals {
  readonly #farewells: Farewells;
  readonly #service: Pick<RefererService, 'statistics'>;
  readonly #clock: Clock;
  /** Clients whose first octets are waited for. */
  #waiting = 0;

  constructor(farewells: Farewells, service: Pick<RefererService, 'statistics'>, clock: Clock) {
    this.#farewells = farewells;
    this.#service = service;
    this.#clock = clock;
  }

  /**
   * Refuses a client: in HTTP if its first octets are a request of HTTP, else by 503 of SSTP, also if it sends
   * nothing.
   *
   * @param atOnce closes the connection with the answer, and waits for the octets of a few clients only, because
   *   descriptors run out
   */
  refuse(socket: Socket, atOnce: boolean): void {
    if (atOnce && this.#waiting >= lastDescriptors() / WAITING_SHARE) {
      this.#say(socket, (arrived) => arrived, atOnce);
      return;
    }
    let first: Uint8Array = new Uint8Array(0);
    let decided = false;
    this.#waiting += 1;
    const decide = (): void => {
      if (decided) return;
      decided = true;
      this.#waiting -= 1;
      cancelTimer();
      socket.off('data', onData);
      this.#say(socket, () => first, atOnce);
    };
    // Once it is decided, nothing more is kept: a choice needs no more than the first line.
    const onData = (chunk: Buffer): void => {
      first = Buffer.concat([first, chunk]);
      if (chooseProtocol(first) !== 'undecided') decide();
    };
    const cancelTimer = this.#clock.setTimer(decide, FIRST_OCTETS_MS);
    socket.once('end', decide);
    socket.once('close', decide);
    socket.on('data', onData);
    socket.resume();
  }

  #say(socket: Socket, firstOf: (arrived: Uint8Array) => Uint8Array, atOnce: boolean): void {
    this.#farewells.say(
      socket,
      (arrived) => {
        const words = busyWords(chooseProtocol(firstOf(arrived)) === 'http');
        this.#service.statistics.counts.bytes_out += words.length;
        return words;
      },
      atOnce,
    );
  }
}

/** The answer to a client that is not served, or no longer. */
export function busyWords(isHttp: boolean): Uint8Array {
  if (isHttp) return busyReply(PAGE_HEADERS);
  const replies = new ReplyWriter();
  replies.writeError(CODES.serviceUnavailable.number);
  return replies.take();
}
