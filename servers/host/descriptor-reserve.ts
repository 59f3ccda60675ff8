// Descriptors that are kept from files, so that a client that connects still gets an answer.
import { closeSync, openSync } from 'node:fs';
import { monotonicClock } from '../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../protocols/clock.js';
import { descriptorLimit, lastDescriptors } from './fd-limit.js';

/** Milliseconds between two looks, while many descriptors are free, and while few are. */
const LOOK_MS = 1000;
const PRESSED_LOOK_MS = 20;

/** The part of the limit below which few descriptors are free. */
const FEW_SHARE = 4;

/** Options of a {@link DescriptorReserve}, which tests replace. */
export interface DescriptorReserveOptions {
  /** Opens one descriptor more. @throws when none is left */
  readonly open?: () => number;
  readonly close?: (descriptor: number) => void;
  /** The limit of open files; undefined where the system does not show it. */
  readonly limit?: () => number | undefined;
  readonly clock?: Clock;
}

/**
 * Holds a few descriptors open while a server of the process listens. When files have taken all others, opening a file
 * fails with the error of the system, and the held ones are closed: a connection is accepted with one of
 * them and refused with an answer. Otherwise libuv closes it without a word when accepting fails. They are taken again
 * when there are enough.
 */
export class DescriptorReserve {
  readonly #open: () => number;
  readonly #close: (descriptor: number) => void;
  readonly #limit: () => number | undefined;
  readonly #clock: Clock;
  #held: number[] = [];
  #isReleased = false;
  readonly #servers = new Set<() => void>();
  #cancelTimer: (() => void) | undefined;

  constructor(options: DescriptorReserveOptions = {}) {
    this.#open = options.open ?? (() => openSync('/dev/null', 'r'));
    this.#close = options.close ?? closeSync;
    this.#limit = options.limit ?? descriptorLimit;
    this.#clock = options.clock ?? monotonicClock;
  }

  /** Whether files have all other descriptors: what is accepted now has one of the reserve. */
  get isReleased(): boolean {
    return this.#isReleased;
  }

  /**
   * Holds the reserve for a server that listens.
   *
   * @param onRelease is called when files have taken all other descriptors
   * @returns ends it
   */
  join(onRelease: () => void): () => void {
    const server = onRelease.bind(undefined);
    this.#servers.add(server);
    if (this.#servers.size === 1) this.look();
    return () => {
      if (!this.#servers.delete(server) || this.#servers.size > 0) return;
      this.#cancelTimer?.();
      this.#release();
    };
  }

  /** Releases the reserve if no other descriptor is left, and takes it again if there are enough. */
  look(): void {
    this.#cancelTimer?.();
    const limit = this.#limit();
    if (this.#servers.size === 0 || limit === undefined) return;
    const size = lastDescriptors() >> 1;
    const wasHeld = this.#held.length > 0;
    // One more, or the reserve and as many for files.
    const opened = this.#openUpTo(wasHeld ? 1 : 2 * size);
    const isEnough = opened.length === (wasHeld ? 1 : 2 * size);
    const highest = Math.max(...opened, 0);
    if (isEnough && !wasHeld) this.#held = opened.splice(0, size);
    this.#isReleased = !isEnough;
    for (const descriptor of opened) this.#close(descriptor);
    if (!isEnough && wasHeld) {
      this.#release();
      for (const server of this.#servers) server();
    }
    const isPressed = !isEnough || highest >= limit - Math.floor(limit / FEW_SHARE);
    this.#cancelTimer = this.#clock.setTimer(() => this.look(), isPressed ? PRESSED_LOOK_MS : LOOK_MS, true);
  }

  #openUpTo(count: number): number[] {
    const opened: number[] = [];
    try {
      while (opened.length < count) opened.push(this.#open());
    } catch {
      // None is left.
    }
    return opened;
  }

  #release(): void {
    for (const descriptor of this.#held.splice(0)) this.#close(descriptor);
  }
}

/** The reserve of this process, for all servers in it. */
export const descriptorReserve = new DescriptorReserve();
