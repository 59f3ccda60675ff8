// The last words to clients that are not served.
import { readSync } from 'node:fs';
import type { Socket } from 'node:net';
import { monotonicClock } from '../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../protocols/clock.js';
import { FairFlow } from './fair-flow.js';
import { threadShare } from './fair-share.js';
import { descriptorOf } from './fd-limit.js';

/** Limits of {@link Farewells}. */
export interface FarewellLimits {
  /** Milliseconds that a client may take to read the last bytes and to close. Default 2000. */
  readonly lingerMs?: number | undefined;
  /** Bytes of a client that are discarded meanwhile; with more the connection is dropped. Default 1 MiB. */
  readonly maxDiscardedBytes?: number | undefined;
  /** Clients at once; further ones do not linger, so the answer may be lost. Default 1024. */
  readonly maxOpen?: number | undefined;
}

const LINGER_MS = 2000;
const MAX_DISCARDED_BYTES = 1 << 20;
const MAX_OPEN = 1024;

/**
 * Ends connections with an answer that arrives: our direction ends, and what the client still sends is read and
 * discarded until it closes, too, for a bounded time. A connection that is closed over unread input is reset,
 * and the reset can destroy the answer before the client has read it.
 */
export class Farewells {
  readonly #limits: FarewellLimits;
  readonly #clock: Clock;
  readonly #open = new Set<Socket>();

  constructor(limits: FarewellLimits = {}, clock: Clock = monotonicClock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /**
   * Sends the last bytes of a connection and closes it. Nothing else may read from it or write to it.
   *
   * @param words the bytes, or what makes them of what has arrived and is discarded with `atOnce`
   * @param atOnce closes it without lingering, when no descriptor is left for that
   */
  say(socket: Socket, words: Uint8Array | ((arrived: Uint8Array) => Uint8Array), atOnce = false): void {
    const {
      lingerMs = LINGER_MS,
      maxDiscardedBytes = MAX_DISCARDED_BYTES,
      maxOpen = MAX_OPEN,
    } = this.#limits;
    const wordsFor = typeof words === 'function' ? words : () => words;
    socket.on('error', () => socket.destroy());
    if (atOnce || this.#open.size >= maxOpen || socket.destroyed) {
      // A small write to a new connection is in the system's buffer at once.
      if (!socket.destroyed) {
        socket.write(wordsFor(readArrived(socket)));
      }
      socket.destroy();
      return;
    }
    this.#open.add(socket);
    const cancelTimer = this.#clock.setTimer(() => socket.destroy(), lingerMs);
    socket.once('close', () => {
      cancelTimer();
      this.#open.delete(socket);
    });
    // Listeners of those who have read on demand would keep the input from flowing.
    socket.removeAllListeners('readable');
    const until = socket.bytesRead + maxDiscardedBytes;
    const discard = (): void => {
      if (socket.bytesRead > until) socket.destroy();
    };
    new FairFlow(socket, threadShare.join(socket.remoteAddress), discard, () => {});
    socket.end(wordsFor(NOTHING));
    socket.resume();
  }

  /** Drops those that are open. */
  cut(): void {
    for (const socket of this.#open) socket.destroy();
  }
}

/** Bytes of a request that are read at once. */
const ARRIVED = Buffer.alloc(16 * 1024);

const NOTHING = new Uint8Array(0);

/** Reads what has arrived: closing over it would reset the connection. */
function readArrived(socket: Socket): Uint8Array {
  const descriptor = descriptorOf(socket);
  if (descriptor === undefined) return NOTHING;
  try {
    return ARRIVED.subarray(0, readSync(descriptor, ARRIVED, 0, ARRIVED.length, null));
  } catch {
    // Nothing has arrived (EAGAIN).
    return NOTHING;
  }
}
