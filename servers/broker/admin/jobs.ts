// Runs work that continues after the reply to its command (BRK-5.4).
import { messageOf } from '../../../protocols/errors.js';
import type { Logger } from '../../host/index.js';

/** The outcome of a job. */
export type JobOutcome =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly error: unknown };

/** Runs the work that continues after the reply to its command (BRK-5.4), and logs each outcome. */
export class Jobs {
  /** Called with each outcome, for the event log. */
  readonly #onOutcome: (name: string, text: string) => void;
  readonly #log: Logger;
  readonly #running = new Map<Promise<JobOutcome>, string>();

  constructor(log: Logger, onOutcome: (name: string, text: string) => void) {
    this.#onOutcome = onOutcome;
    this.#log = log;
  }

  /** Names of the running jobs. */
  get names(): readonly string[] {
    return [...this.#running.values()];
  }

  /** Starts a job. The promise resolves with its outcome and never rejects. */
  start(name: string, work: () => Promise<string>): Promise<JobOutcome> {
    const job = this.#run(name, work);
    this.#running.set(job, name);
    void job.then(() => this.#running.delete(job));
    return job;
  }

  /** Resolves when no job runs. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.keys());
  }

  async #run(name: string, work: () => Promise<string>): Promise<JobOutcome> {
    const started = performance.now();
    try {
      const text = await work();
      const milliseconds = Math.round(performance.now() - started);
      this.#log.info(`${name}: ${text} (${milliseconds} ms)`);
      this.#onOutcome(name, `${text} (${milliseconds} ms)`);
      return { ok: true, text };
    } catch (error) {
      this.#log.error({ err: error }, `${name} failed`);
      this.#onOutcome(name, `failed: ${messageOf(error)}`);
      return { ok: false, error };
    }
  }
}
