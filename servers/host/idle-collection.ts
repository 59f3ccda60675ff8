// Returns the memory of a load to the system, once its clients are gone.
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { collectEverywhere } from '../../storage/files/collect-garbage.js';
import { residentBytes } from '../../storage/files/resident-memory.js';

/** What {@link IdleCollection} looks at and does. */
export interface CollectedProcess {
  /** Resident memory in bytes. */
  readonly residentBytes: () => number;
  /** The part of the time since the last call in which the event loop was busy, from 0 to 1. */
  readonly utilization: () => number;
  /** Frees all garbage and returns it to the system. */
  readonly collect: () => void;
  /** Calls a function again and again until the returned one is called. */
  readonly repeat: (check: () => void) => () => void;
}

/** Milliseconds between two looks. */
const INTERVAL_MS = 30_000;

/** A process that is busy for a larger part of the time is not interrupted: what it needs makes V8 collect. */
const IDLE = 0.05;

/** A collection stops the process for a tenth of a second and more; such a growth since the last one is worth it. */
const GROWTH = 1.2;
const GROWTH_BYTES = 48 * 1024 * 1024;

/**
 * V8 collects garbage when a program requests memory, so a process that has nothing to do keeps what its clients have
 * left: pages of a thousand results took 510 MB for as long as no client came, and 240 MB after a collection. Looks at
 * the memory while clients come and go, and until it has been returned.
 */
export class IdleCollection {
  readonly #process: CollectedProcess;
  #stop: (() => void) | undefined;
  /** The least resident memory since the last collection. */
  #leastBytes = 0;

  constructor(collected: CollectedProcess = THIS_PROCESS) {
    this.#process = collected;
  }

  /** A client has come or gone. */
  used(): void {
    if (this.#stop !== undefined) return;
    this.#process.utilization();
    this.#stop = this.#process.repeat(() => this.#check());
  }

  #check(): void {
    const resident = this.#process.residentBytes();
    const isIdle = this.#process.utilization() <= IDLE;
    if (resident < Math.max(this.#leastBytes * GROWTH, this.#leastBytes + GROWTH_BYTES)) {
      this.#leastBytes = Math.min(this.#leastBytes, resident);
      if (isIdle) this.#end();
    } else if (isIdle) {
      this.#process.collect();
      // Pages of the heap are returned by another thread, so the next look may see less.
      this.#leastBytes = this.#process.residentBytes();
    }
  }

  #end(): void {
    this.#stop?.();
    this.#stop = undefined;
  }
}

let lastUtilization: EventLoopUtilization | undefined;

const THIS_PROCESS: CollectedProcess = {
  residentBytes,
  utilization: () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, lastUtilization);
    lastUtilization = now;
    return utilization;
  },
  collect: collectEverywhere,
  repeat: (check) => {
    const timer = setInterval(check, INTERVAL_MS).unref();
    return () => clearInterval(timer);
  },
};

/** All servers of this process count together: they have one heap. */
export const idleCollection = new IdleCollection();
