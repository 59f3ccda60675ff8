import type { QueueEntry } from '../../../storage/index.js';
import type { Prepared, PreparedOf } from './contract.js';
import type { FrontierWriter } from './frontier-writer.js';
import type { InactiveQueues } from './inactive-queues.js';
import type { CandidateIntake } from './intake.js';
import type { QueueLifeCycle } from './life-cycle.js';
import type { QueueMemory } from './queue-memory.js';
import type { WorkQueue } from './work-queue.js';

export interface SupplyOptions {
  readonly memory: QueueMemory;
  readonly cycle: QueueLifeCycle;
  readonly inactive: InactiveQueues;
  readonly writer: FrontierWriter;
  readonly intake: CandidateIntake;
  readonly prepare: (uri: PreparedOf) => Prepared;
  readonly targetReadyBacklog: number;
  /** Runs work with the frontier's mutex held. */
  readonly exclusive: <T>(work: () => Promise<T>) => Promise<T>;
  /** Called when an activation is on disk. */
  readonly onActivated: () => void;
}

/** Provides `next` with URIs: the heads of ready queues, and inactive queues that become ready. */
export class QueueSupply {
  readonly #options: SupplyOptions;
  /** The activation of inactive queues that is in flight. */
  activation: Promise<void> | undefined;

  constructor(options: SupplyOptions) {
    this.#options = options;
  }

  /** CRAWL-5.6.2 (c): activates inactive queues until enough are ready; one activation at a time. */
  topUp(): void {
    const { targetReadyBacklog } = this.#options;
    const { ready } = this.#options.memory.status;
    if (
      this.activation !== undefined ||
      this.#options.inactive.available === 0 ||
      ready >= targetReadyBacklog
    )
      return;
    this.activation = this.#activate(targetReadyBacklog - ready)
      .catch((error: unknown) => this.#options.writer.fail(error))
      .finally(() => {
        this.activation = undefined;
      });
  }

  /**
   * T7 to T9: returns the head of a ready queue; undefined if the queue is empty or its head moved to another
   * queue.
   */
  async takeHead(queue: WorkQueue): Promise<QueueEntry | undefined> {
    this.#options.memory.setState(queue, 'in-process');
    while (queue.window.needsRefill) {
      // The writes in flight may add or remove entries of the range that is read.
      await this.#options.writer.store.flush();
      // The queue is locked by its state while it is read.
      await queue.window.refill(this.#options.memory.windowSize, (limit, after) =>
        this.#options.writer.store.queues.heads(queue.classKey, limit, after),
      );
    }
    const entry = queue.peek();
    if (entry === undefined) {
      // Its entries are in a batch that is being written; it is listed again when they are on disk.
      if (queue.count > 0) this.#options.memory.setState(queue, 'ready');
      else this.#options.cycle.exhaust(queue);
      return undefined;
    }
    const { classKey, budgets } = this.#options.prepare(entry.uri);
    // A queue that got all its URIs at once has had no successes then.
    queue.updatePrecedence(budgets, entry);
    if (classKey === queue.classKey) return entry;
    await this.#relocate(queue, entry, classKey);
    return undefined;
  }

  /** T8: the class key of the head has changed. */
  async #relocate(queue: WorkQueue, entry: QueueEntry, classKey: string): Promise<void> {
    const moved: QueueEntry = { ...entry, classKey };
    const { written } = await this.#options.exclusive(async () => {
      const batch = this.#options.writer.store.batch().dequeue(entry).enqueue(moved);
      const [target] = await this.#options.memory.load([classKey]);
      queue.count--;
      target!.count++;
      target!.enqueued++;
      target!.setBudgets(this.#options.prepare(entry.uri).budgets, entry);
      if (target!.state === 'retired') this.#options.cycle.queued--;
      this.#options.cycle.hold(target!, batch);
      return { written: this.#options.writer.submit(batch, [queue, target!]) };
    });
    await written;
    queue.peeked = undefined;
    this.#options.intake.markAvailable([moved]);
    this.#options.cycle.makeReady(queue);
  }

  async #activate(count: number): Promise<void> {
    await this.#options.exclusive(async () => {
      const rows = await this.#options.inactive.take(count);
      const batch = this.#options.writer.store.batch();
      const loaded = await this.#options.memory.load(rows.map(({ classKey }) => classKey));
      const queues = loaded.filter(({ state }) => state === 'inactive');
      const completions = queues.map((queue) => this.#options.cycle.activate(queue, batch));
      this.#options.writer.submitInBackground(batch, queues, () => {
        for (const complete of completions) complete();
        this.#options.onActivated();
      });
    });
  }
}
