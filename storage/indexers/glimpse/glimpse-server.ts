// The glimpseserver of a Broker: its start and end, and the one query that it answers at a time.
import { setTimeout as sleep } from 'node:timers/promises';
import { StorageError, UsageError } from '../../../protocols/errors.js';
import { Mutex } from '../../../protocols/mutex.js';
import { Waiters } from '../../../protocols/waiters.js';
import { Program } from '../external/program.js';

/** Options of {@link GlimpseServer}. */
export interface GlimpseServerOptions {
  readonly program: string;
  readonly glimpse: string;
  /** Address to listen on; loopback by default, because every client of the port can read every object. */
  readonly host: string;
  readonly port: number;
  /** Milliseconds to wait for "On-line" after the start, and for an answer after SIGUSR1. */
  readonly patienceMs: number;
  readonly onWarning: (sentence: string) => void;
}

/** Valid ports; with any other port glimpseserver listens on 2001. */
const PORTS = { min: 1024, max: 30_000 } as const;

/** Printed when the server accepts requests. */
const ON_LINE = /On-line/i;

/**
 * The glimpseserver of one Broker, which holds the index in memory (BRK-8.12). It answers one request at a
 * time; a query that finds it busy runs glimpse without it.
 */
export class GlimpseServer {
  readonly #options: GlimpseServerOptions;
  #program: Program | undefined;
  /** Directory of the index that it serves; undefined during a change of the index. */
  #directory: string | undefined;
  #busy = false;
  #closed = false;
  /** Calls that wait until no query uses it. */
  readonly #waiters = new Waiters();
  readonly #mutex = new Mutex();

  /** @throws UsageError if glimpseserver does not accept the port */
  constructor(options: GlimpseServerOptions) {
    const { port } = options;
    if (port < PORTS.min || port > PORTS.max)
      throw new UsageError(`GlimpseServer-Port: glimpse takes ${PORTS.min} to ${PORTS.max}, not ${port}`);
    this.#options = options;
  }

  /** Arguments that make glimpse query this server instead of the index on the disk. */
  get arguments(): readonly string[] {
    return ['-C', '-J', this.#options.host, '-K', String(this.#options.port)];
  }

  /** Whether a query is using the server. */
  get busy(): boolean {
    return this.#busy;
  }

  /**
   * BRK-8.12: starts the server on an index; a running one is stopped after its current query. Without an index
   * none is started. A failure is a warning, not an error.
   */
  async start(directory: string | undefined): Promise<void> {
    // tryAcquire() fails until the server has started.
    this.#directory = undefined;
    while (this.#busy) await this.#waiters.wait();
    await this.#runSerially(async () => {
      await this.#end();
      if (!this.#closed && directory !== undefined) await this.#begin(directory);
    });
  }

  /** Stops the server permanently, together with its current query. */
  stop(): Promise<void> {
    this.#closed = true;
    return this.#runSerially(() => this.#end());
  }

  /**
   * Acquires the server for one query on this index; false if it is busy, not running, or serves another index.
   */
  tryAcquire(directory: string): boolean {
    if (this.#busy || this.#program === undefined || this.#directory !== directory) return false;
    this.#busy = true;
    return true;
  }

  release(): void {
    this.#busy = false;
    this.#waiters.wakeAll();
  }

  /**
   * Releases the server after its client was killed: SIGUSR1 makes it drop the request (BRK-8.13 (3), 8.15). If
   * it then does not answer a probe, it is restarted. It remains busy until the probe has ended.
   */
  releaseKilled(): void {
    this.#program?.signal('SIGUSR1');
    const program = this.#program;
    void this.#runSerially(async () => {
      if (program === undefined || program !== this.#program) return;
      if (await this.#isAnswering()) return;
      const directory = this.#directory;
      await this.#end();
      if (directory !== undefined && !this.#closed) await this.#begin(directory);
    }).finally(() => this.release());
  }

  async #begin(directory: string): Promise<void> {
    const { program: path, host, port, patienceMs, onWarning } = this.#options;
    const program = await Program.start(path, {
      arguments: ['-H', directory, '-K', String(port), '-J', host],
    });
    let setOnline: (isOnline: boolean) => void = () => undefined;
    const ready = new Promise<boolean>((resolve) => {
      setOnline = resolve;
    });
    // Reads to the end: a full pipe would block the server.
    const reading = (async () => {
      for await (const lines of program.lines())
        if (lines.some((line) => ON_LINE.test(line))) setOnline(true);
    })();
    program.ended.then(
      () => {
        if (this.#program === program) {
          this.#program = undefined;
          const reason = program.errorLine;
          onWarning(
            `glimpseserver ended; queries run glimpse without it until the next indexing${reason === '' ? '' : `: ${reason}`}`,
          );
        }
        setOnline(false);
      },
      () => setOnline(false),
    );
    const timer = setTimeout(() => setOnline(false), patienceMs);
    const isOnline = await ready;
    clearTimeout(timer);
    if (isOnline) {
      this.#program = program;
      this.#directory = directory;
      return;
    }
    program.drop();
    await Promise.allSettled([reading, program.ended]);
    onWarning(`glimpseserver does not start: ${program.errorLine || 'no reason given'}`);
  }

  async #end(): Promise<void> {
    const program = this.#program;
    if (program === undefined) return;
    this.#program = undefined;
    program.stop();
    await program.ended;
  }

  /** Whether the server answers a query that matches nothing. */
  async #isAnswering(): Promise<boolean> {
    const { glimpse, patienceMs } = this.#options;
    const probe = await Program.start(glimpse, {
      arguments: ['-l', '-y', ...this.arguments, 'harvestprobe'],
    });
    probe.endInput();
    const answer = new AbortController();
    const timeout = sleep(patienceMs, false, { signal: answer.signal }).catch(() => false);
    const answered = await Promise.race([probe.ended.then(() => true), timeout]);
    answer.abort();
    if (!answered) probe.drop();
    await probe.ended;
    return answered;
  }

  /** Runs the steps one after another. A program that cannot be started is a warning. */
  async #runSerially(work: () => Promise<void>): Promise<void> {
    try {
      await this.#mutex.runExclusive(work);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      this.#options.onWarning(error.message);
    }
  }
}
