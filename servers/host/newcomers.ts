// Accepted connections on their way to a session: they are served, wait, or are refused with an answer.
import type { Socket } from 'node:net';
import { monotonicClock } from '../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../protocols/clock.js';
import { Admission, type AdmissionLimits } from './admission.js';
import type { ConnectionSlot } from './connection-table.js';
import { descriptorReserve } from './descriptor-reserve.js';
import { Farewells } from './farewells.js';
import { DescriptorReports, descriptorsLeft, processLimitText } from './fd-limit.js';

/** Options of {@link Newcomers}. */
export interface NewcomersOptions {
  /** Is called for each newcomer: a reload may change them. */
  readonly limits: () => AdmissionLimits;
  /**
   * Sends a refusal to a connection that nothing was sent to, in the words of its protocol. If `atOnce`, its
   * descriptor must be free when the call returns.
   */
  readonly refuse: (socket: Socket, farewells: Farewells, atOnce: boolean) => void;
  /** Logs and counts a refusal. */
  readonly refused: (address: string) => void;
  /** Receives the sentence about the limit of open files, at most once a minute. */
  readonly report: (sentence: string) => void;
  /** Default: that of this process. */
  readonly clock?: Clock | undefined;
}

/** Serves a connection that has a place. */
export type Serve = (slot: ConnectionSlot) => {
  /** Closes it for another one, after it has waited this many milliseconds for its peer. */
  evict(waitedMs: number): void;
};

/** What became of the connections that a server accepted. All but `waiting` only grow. */
export interface NewcomerCounts {
  /** Connections that wait for a place now. */
  waiting: number;
  /** Connections that had to wait for a place. */
  waited: number;
  /** Connections that were refused, because no place was free in time or no descriptor was left. */
  readonly refused: { places: number; descriptors: number };
  /** Connections that were closed for others. */
  evicted: number;
}

/** Admits the connections that a server accepts (see {@link Admission}), and ends those that it refuses. */
export class Newcomers {
  readonly farewells: Farewells;
  readonly #options: NewcomersOptions;
  readonly #admission: Admission;
  readonly #reports: DescriptorReports;
  #leaveReserve: (() => void) | undefined;
  readonly #counts = { waited: 0, refused: { places: 0, descriptors: 0 }, evicted: 0 };

  constructor(options: NewcomersOptions) {
    const { limits, clock = monotonicClock } = options;
    this.#options = options;
    this.#admission = new Admission(limits, clock);
    this.farewells = new Farewells({}, clock);
    this.#reports = new DescriptorReports(() => clock.now());
  }

  get counts(): NewcomerCounts {
    return { ...this.#counts, waiting: this.#admission.waiting };
  }

  /** Called when the server listens: keeps some descriptors for those that it must refuse. */
  start(): void {
    this.#leaveReserve ??= descriptorReserve.join(() => this.#reportDescriptors());
  }

  #reportDescriptors(): void {
    const sentence = processLimitText();
    if (this.#reports.look(sentence).write) this.#options.report(sentence);
  }

  /** Serves a connection now or later, or refuses it. Until it is served, nothing else uses the socket. */
  receive(socket: Socket, serve: Serve): void {
    const address = socket.remoteAddress ?? '';
    const ignore = (): void => undefined;
    // A peer that disconnects while it waits.
    socket.on('error', ignore);
    const refused = (why: keyof NewcomerCounts['refused'], atOnce = false): void => {
      this.#counts.refused[why] += 1;
      this.#options.refused(address);
      this.#options.refuse(socket, this.farewells, atOnce);
    };
    const left = descriptorReserve.isReleased ? 'last' : descriptorsLeft(socket);
    if (left !== 'enough') {
      this.#reportDescriptors();
      refused('descriptors', left === 'last');
      if (left === 'last') descriptorReserve.look();
      return;
    }
    let served: ReturnType<Serve> | undefined;
    let isDecided = false;
    this.#admission.request({
      address,
      admitted: (slot) => {
        isDecided = true;
        if (socket.destroyed) {
          slot.release();
          return;
        }
        served = serve(slot);
        socket.off('error', ignore);
      },
      evicted: (waitedMs) => {
        this.#counts.evicted += 1;
        served?.evict(waitedMs);
      },
      refused: () => {
        isDecided = true;
        refused('places');
      },
    });
    if (!isDecided) this.#counts.waited += 1;
  }

  /** Refuses those that wait, and every further one. */
  stop(): void {
    this.#leaveReserve?.();
    this.#admission[Symbol.dispose]();
  }

  /** Drops the refused ones that still linger. */
  cut(): void {
    this.farewells.cut();
  }
}
