// Copies of what a Gatherer publishes for other machines, for a gatherd that serves them.
import { basename } from 'node:path';
import { messageOf, UsageError } from '../../protocols/errors.js';
import type { Replica, ReplicaOptions } from '../../storage/publishing/replica.js';
import type { Logger } from '../host/logger.js';
import type { GatherdFiles } from './files.js';

/** Where the generations come from, and how often it is looked for new ones. */
export type GenerationCopiesOptions = Pick<ReplicaOptions, 'from' | 'pollIntervalMs'>;

/** Keeps the generations of a data directory as they are published elsewhere. */
export class GenerationCopies implements AsyncDisposable {
  readonly #replica: Replica;
  readonly #from: string;

  private constructor(replica: Replica, from: string) {
    this.#replica = replica;
    this.#from = from;
  }

  /**
   * Opens the copies; undefined if the generations are those of this machine. What an earlier start has copied is here
   * at once, else this waits for the first copy. Readers of the directory notice later ones.
   */
  static async open(
    options: GenerationCopiesOptions | undefined,
    { directory, database }: GatherdFiles,
    log: Logger,
  ): Promise<GenerationCopies | undefined> {
    if (options === undefined) return undefined;
    if (basename(database) !== 'generations')
      throw new UsageError('the copies of generations lie in `generations` of the directory');
    // Only who copies pays for it.
    const { Replica } = await import('../../storage/publishing/replica.js');
    const replica = await Replica.open({
      ...options,
      area: 'generations',
      directory,
      onGeneration: ({ number, local, fetchedBytes }) => {
        const here = number === local ? '' : `, here ${local}`;
        log.info(`generation ${number} was copied from ${replica.address}${here}: ${fetchedBytes} bytes`);
      },
      onFailure: (error) => log.error(`no copy from ${replica.address}: ${messageOf(error)}`),
      onRecovery: () => log.info(`${replica.address} answers again`),
    });
    if (replica.number === undefined) await replica.refresh();
    return new GenerationCopies(replica, replica.address);
  }

  /** What an operator must know. */
  get notes(): readonly string[] {
    const { failure } = this.#replica;
    return failure === undefined ? [] : [`no copy from ${this.#from}: ${failure}`];
  }

  /** Looks for a new generation now. */
  async refresh(): Promise<void> {
    await this.#replica.refresh();
  }

  /** Looks now and then at intervals. */
  follow(): void {
    void this.#replica.refresh();
    this.#replica.follow();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#replica.close();
  }
}
