// Decides when the documents that a run has gathered so far are published.
import type { Clock } from '../../protocols/clock.js';

export interface PublishSoFarOptions {
  /** Publishes what is gathered, and lets the Broker collect it. */
  readonly publish: () => Promise<void>;
  /** Receives the error of a publication. The run continues; its end publishes everything. */
  readonly onFailure: (error: unknown) => void;
  readonly clock: Clock;
}

/** New documents that are worth a publication at once. */
const DOCUMENTS = 50;
/** Milliseconds after which fewer are published too. */
const INTERVAL_MS = 10_000;
/**
 * A publication costs time in proportion to everything that is gathered: the next one begins after this many
 * times as long as the last one took, so that a run spends at most a sixth of its time on them.
 */
const COST_RATIO = 5;

/**
 * Publishes while a run gathers: when 50 documents are new, or some are after 10 seconds, but less often when
 * publications take long. One publication at a time.
 */
export class PublishSoFar implements AsyncDisposable {
  readonly #options: PublishSoFarOptions;
  /** Documents since the last publication began. */
  #unpublished = 0;
  /** When the last publication ended, or the run began. */
  #since: number;
  /** The earliest time of the next one. */
  #earliest: number;
  #cancelTimer: (() => void) | undefined;
  #running: Promise<void> | undefined;
  #ended = false;

  constructor(options: PublishSoFarOptions) {
    this.#options = options;
    this.#since = options.clock.now();
    this.#earliest = this.#since;
  }

  /** A new or changed document is stored. */
  add(): void {
    this.#unpublished++;
    this.#check();
  }

  /** Waits for a publication in progress; none begins later. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended = true;
    this.#cancelTimer?.();
    await this.#running;
  }

  readonly #check = (): void => {
    if (this.#ended || this.#running !== undefined || this.#unpublished === 0) return;
    const due =
      this.#unpublished >= DOCUMENTS ? this.#earliest : Math.max(this.#earliest, this.#since + INTERVAL_MS);
    const wait = due - this.#options.clock.now();
    this.#cancelTimer?.();
    if (wait > 0) this.#cancelTimer = this.#options.clock.setTimer(this.#check, wait, true);
    else this.#running = this.#publish();
  };

  async #publish(): Promise<void> {
    const { clock, publish, onFailure } = this.#options;
    const begin = clock.now();
    this.#unpublished = 0;
    await publish().catch(onFailure);
    this.#since = clock.now();
    this.#earliest = this.#since + COST_RATIO * (this.#since - begin);
    this.#running = undefined;
    this.#check();
  }
}
