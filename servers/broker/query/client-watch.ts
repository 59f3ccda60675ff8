// Finds out that the client of a running query is gone.
import { type Clock, withTimeout } from '../../../protocols/clock.js';
import type { HostConnection } from '../../host/index.js';

/** Options of a {@link ClientWatch}. */
export interface ClientWatchOptions {
  readonly connection: Pick<HostConnection, 'pollEnd' | 'share' | 'signal' | 'watchEnd' | 'write'>;
  readonly clock: Clock;
  /** The version line; undefined where a reply may not have another one. */
  readonly version: Uint8Array | undefined;
  /** Milliseconds without output after which the version line is repeated (BRK-1.5). */
  readonly repeatVersionMs: number;
  /** The longest milliseconds between two looks at the client. */
  readonly probeMs: number;
  /** Whether other queries wait for a slot. */
  readonly isContended: () => boolean;
}

/** Milliseconds until the first look; each further one is twice as long after the one before. */
const FIRST_LOOK_MS = 2;

/**
 * Looks at the client of a query while that waits and works: first often, then every `probeMs`. A client that has
 * only ended its direction waits for the reply, as those of the nineties do; one that is gone answers the next bytes
 * with a reset, which aborts the signal of its connection. So it gets the version line once more (BRK-1.5): at
 * once while other queries wait for its slot, otherwise after `probeMs`.
 */
export class ClientWatch {
  readonly #options: ClientWatchOptions;
  readonly #since: number;
  #silentSince: number;
  #lookMs = FIRST_LOOK_MS;
  #hasEnded = false;
  #isProbed = false;

  constructor(options: ClientWatchOptions) {
    this.#options = options;
    this.#since = options.clock.now();
    this.#silentSince = this.#since;
    options.connection.watchEnd(() => {
      this.#hasEnded = true;
      // A write fails if the client is gone: then the signal of the connection is aborted.
      this.#look().catch(() => undefined);
    });
  }

  /**
   * Resolves before the query begins: while others ask it waits a turn, and one more after the probe of a client that
   * has ended its direction.
   *
   * @throws the reason of the connection's signal, when the client is gone
   */
  async begin(): Promise<void> {
    const { connection, isContended } = this.#options;
    const { share, signal } = connection;
    // An end that has come with the message shows in the next turn.
    if (isContended()) await share.turn(signal);
    if (this.#isProbed) await share.turn(signal);
    signal.throwIfAborted();
  }

  /** Something was sent to the client. */
  noteOutput(): void {
    this.#silentSince = this.#options.clock.now();
  }

  /** Resolves and rejects as the work does. Rejects with ConnectionError when a write fails meanwhile. */
  async during<T>(work: Promise<T>): Promise<T> {
    const { clock, probeMs, repeatVersionMs } = this.#options;
    const wrapped = work.then((value) => ({ value }));
    for (;;) {
      const waitMs = Math.min(this.#lookMs, probeMs, repeatVersionMs);
      const done = await withTimeout(clock, waitMs, wrapped, () => undefined);
      if (done !== undefined) return done.value;
      this.#lookMs *= 2;
      await this.#look();
    }
  }

  async #look(): Promise<void> {
    const { clock, connection, isContended, probeMs, repeatVersionMs, version } = this.#options;
    // Fails, and aborts the signal, if a reset has arrived.
    connection.pollEnd();
    if (version === undefined) return;
    const now = clock.now();
    const isProbe = this.#hasEnded && !this.#isProbed && (isContended() || now - this.#since >= probeMs);
    if (!isProbe && now - this.#silentSince < repeatVersionMs) return;
    if (isProbe) {
      this.#isProbed = true;
      this.#lookMs = FIRST_LOOK_MS;
    }
    const written = connection.write(version);
    this.noteOutput();
    // The answer of a client on this machine has arrived.
    if (isProbe) connection.pollEnd();
    await written;
  }
}
