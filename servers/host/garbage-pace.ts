// How soon V8 collects garbage while a process serves many connections.
import { setFlagsFromString } from 'node:v8';

/**
 * From this number of connections on, what they have read of their replies becomes garbage in large amounts. With
 * fewer, the pauses of the collector cost more: queries beside 19 clients of large replies took three times as long.
 */
const MANY = 64;

/**
 * Percent that heap and buffers may grow before V8 collects. By default, 0, they may grow to several times what was
 * in use: a Broker with 60 MB in use had 1.2 GB of pages that 250 clients had read, and the C library kept most of
 * that for good. Indexing takes up to a fifth longer with 20, so that it is not for always.
 */
const GROWTH_PERCENT = 20;

/** Counts the connections of a process, and sets the pace of its garbage collector by their number. */
export class GarbagePace {
  readonly #setFlag: (flag: string) => void;
  #connections = 0;

  /** @param setFlag sets a flag of V8 */
  constructor(setFlag: (flag: string) => void = setFlagsFromString) {
    this.#setFlag = setFlag;
  }

  /** A connection is open from now on. */
  opened(): void {
    this.#connections += 1;
    if (this.#connections === MANY) this.#set(GROWTH_PERCENT);
  }

  /** One of them is closed. */
  closed(): void {
    if (this.#connections === MANY) this.#set(0);
    this.#connections -= 1;
  }

  #set(percent: number): void {
    this.#setFlag(`--heap-growing-percent=${percent}`);
  }
}

/** All servers of this process count together: they have one heap. */
export const garbagePace = new GarbagePace();
