import { setTimeout as sleep } from 'node:timers/promises';
import { StorageError, UsageError } from '../../../protocols/errors.js';
import { Mutex } from '../../../protocols/mutex.js';
import { Program } from '../external/program.js';

/** How to keep a glimpseserver. */
export interface GlimpseServerOptions {
  readonly program: string;
  readonly glimpse: string;
  /** Loopback by default: whoever reaches the port reads every object. */
  readonly host: string;
  readonly port: number;
  /** Milliseconds to wait for its "On-line", and for the answer after SIGUSR1. */
  readonly patienceMs: number;
  readonly onWarning: (sentence: string) => void;
}

/** Ports beyond these it does not take: it would listen on 2001 instead. */
const PORTS = { least: 1024, most: 30_000 } as const;

/** Says that it waits for requests. */
const ON_LINE = /On-line/i;

/**
 * The glimpseserver of one Broker: holds the index in memory (BRK-8.12). It answers one request at a time, so who finds
 * it busy runs glimpse by itself.
 */
export class GlimpseServer {
  readonly #options: GlimpseServerOptions;
  #program: Program | undefined;
  /** The index it serves; undefined while another one is on its way. */
  #directory: string | undefined;
  #busy = false;
  #closed = false;
  #waiting: (() => void)[] = [];
  readonly #mutex = new Mutex();

  /** @throws UsageError a port that glimpse does not take. */
  constructor(options: GlimpseServerOptions) {
    const { port } = options;
    if (port < PORTS.least || port > PORTS.most)
      throw new UsageError(`GlimpseServer-Port: glimpse takes ${PORTS.least} to ${PORTS.most}, not ${port}`);
    this.#options = options;
  }

  /** Process number of the running server. */
  get pid(): number | undefined {
    return this.#program?.pid;
  }

  /** Arguments that send a query here instead of to the index on the disk. */
  get arguments(): readonly string[] {
    return ['-C', '-J', this.#options.host, '-K', String(this.#options.port)];
  }

  /** A query is with it. */
  get busy(): boolean {
    return this.#busy;
  }

  /**
   * BRK-8.12: starts it on an index, the running one being stopped when its query has ended. It failing is a warning,
   * not an error.
   */
  async start(directory: string): Promise<void> {
    // From now on nobody acquires it.
    this.#directory = undefined;
    while (this.#busy) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
    await this.#serially(async () => {
      await this.#end();
      if (!this.#closed) await this.#begin(directory);
    });
  }

  /** Ends it for good; a query that is with it ends as well. */
  stop(): Promise<void> {
    this.#closed = true;
    return this.#serially(() => this.#end());
  }

  /** Takes the server for one query on this index; false when it is busy, gone, or serves another index. */
  tryAcquire(directory: string): boolean {
    if (this.#busy || this.#program === undefined || this.#directory !== directory) return false;
    this.#busy = true;
    return true;
  }

  release(): void {
    this.#busy = false;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /**
   * Gives it back after its client was killed: SIGUSR1 makes it drop the request (BRK-8.13 (3), 8.15). One that
   * answers nobody then is started again. Until that is known it counts as busy.
   */
  releaseKilled(): void {
    this.#program?.signal('SIGUSR1');
    const program = this.#program;
    void this.#serially(async () => {
      if (program === undefined || program !== this.#program) return;
      if (await this.#answers()) return;
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
    let online: (is: boolean) => void = () => undefined;
    const ready = new Promise<boolean>((resolve) => {
      online = resolve;
    });
    // Read to the end, or it would wait for a reader some day.
    const reading = (async () => {
      for await (const lines of program.lines()) if (lines.some((line) => ON_LINE.test(line))) online(true);
    })();
    program.ended.then(
      () => {
        if (this.#program === program) {
          this.#program = undefined;
          onWarning('glimpseserver ended; queries run glimpse by itself until the next indexing');
        }
        online(false);
      },
      () => online(false),
    );
    const timer = setTimeout(() => online(false), patienceMs);
    const is = await ready;
    clearTimeout(timer);
    if (is) {
      this.#program = program;
      this.#directory = directory;
      return;
    }
    program.drop();
    await Promise.allSettled([reading, program.ended]);
    const complaints = program.complaint.trim().split('\n');
    const complaint = complaints.find((line) => line.startsWith('glimpseserver:')) ?? complaints[0];
    onWarning(
      `glimpseserver does not start: ${complaint?.replace(/^glimpseserver: */, '') || 'no reason given'}`,
    );
  }

  async #end(): Promise<void> {
    const program = this.#program;
    if (program === undefined) return;
    this.#program = undefined;
    program.stop();
    await program.ended;
  }

  /** Whether a query that matches nothing gets its answer. */
  async #answers(): Promise<boolean> {
    const { glimpse, patienceMs } = this.#options;
    const probe = await Program.start(glimpse, {
      arguments: ['-l', '-y', ...this.arguments, 'harvestprobe'],
    });
    probe.endInput();
    const over = new AbortController();
    const late = sleep(patienceMs, false, { signal: over.signal }).catch(() => false);
    const answered = await Promise.race([probe.ended.then(() => true), late]);
    over.abort();
    if (!answered) probe.drop();
    await probe.ended;
    return answered;
  }

  /** Runs one step after the other. A program that cannot be started is a warning. */
  async #serially(work: () => Promise<void>): Promise<void> {
    try {
      await this.#mutex.runExclusive(work);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      this.#options.onWarning(error.message);
    }
  }
}
