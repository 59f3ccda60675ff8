import type { Clock } from '../../../protocols/clock.js';
import type { GathererBatch } from '../../../storage/index.js';
import type { WaitReason } from '../states.js';
import type { Finish } from './contract.js';
import type { FrontierWriter } from './frontier-writer.js';
import { type InactiveQueues, inactiveRowOf } from './inactive-queues.js';
import type { QueueMemory } from './queue-memory.js';
import { isAsleep } from './stored-times.js';
import { WakeHeap } from './wake-heap.js';
import type { WorkQueue } from './work-queue.js';

/** CRAWL-9.11: queues of this or a larger precedence are never crawled. */
const PRECEDENCE_FLOOR = 255;

export interface LifeCycleOptions {
  readonly memory: QueueMemory;
  readonly inactive: InactiveQueues;
  readonly writer: FrontierWriter;
  /** CRAWL-5.4 T1. */
  readonly holdQueues: boolean;
  readonly targetReadyBacklog: number;
  /** CRAWL-5.4 T18. */
  readonly snoozeDeactivateMs: number;
  readonly clock: Clock;
  /** Called when a queue may give a URI or may become active. */
  readonly onReady: () => void;
}

/**
 * The states of queues and their transitions, T1 to T20 of CRAWL-5.4. A transition that changes a queue's
 * record takes the batch of the record and returns a function that completes the transition after the batch is
 * written.
 */
export class QueueLifeCycle {
  readonly #options: LifeCycleOptions;
  #ready: WorkQueue[] = [];
  #readyHead = 0;
  readonly #snoozed = new WakeHeap<WorkQueue>();
  #cancelTimer: (() => void) | undefined;
  #closed = false;
  /** URIs in queues that are not retired. */
  queued = 0;

  constructor(options: LifeCycleOptions) {
    this.#options = options;
  }

  /** T1, T2: leaves the state `exhausted`, after URIs were queued. */
  hold(queue: WorkQueue, batch: GathererBatch): void {
    if (queue.state !== 'exhausted') return;
    const { holdQueues, targetReadyBacklog, clock } = this.#options;
    queue.replenishBalance();
    if (isAsleep(queue.wakeTime, clock.now())) {
      this.snooze(queue);
    } else if (holdQueues && this.#options.memory.status.ready >= targetReadyBacklog) {
      queue.sessionBalance = 0;
      this.#options.writer.after(batch, this.deactivate(queue, batch, 'backlog'));
    } else {
      this.#options.memory.setState(queue, 'ready');
      queue.wakeTime = 0;
    }
  }

  /** T10 to T18: sets the next state of a queue whose URI is returned. */
  dispose(queue: WorkQueue, { outcome, delayMs, reason }: Finish, batch: GathererBatch): () => void {
    if (outcome === 'retire') return this.retire(queue, reason ?? 'operator');
    queue.reason = reason ?? '';
    if (delayMs <= 0) return this.#reenqueue(queue, batch);
    queue.wakeTime = this.#options.clock.now() + delayMs;
    // T18: a queue with a long sleep becomes inactive, so that another one can be active.
    if (delayMs > this.#options.snoozeDeactivateMs && this.#options.inactive.size > 0 && queue.count > 0)
      return this.deactivate(queue, batch, reason ?? 'politeness');
    return () => this.snooze(queue);
  }

  /** T15, T16: makes the queue ready, or inactive if its session is over. */
  #reenqueue(queue: WorkQueue, batch: GathererBatch): () => void {
    queue.wakeTime = 0;
    queue.reason = '';
    if (queue.count === 0 || !queue.isOverBudget) return () => this.makeReady(queue);
    queue.sessionBalance = 0;
    return this.deactivate(queue, batch, 'session-budget');
  }

  retire(queue: WorkQueue, reason: WaitReason): () => void {
    this.#options.memory.setState(queue, 'retired');
    queue.reason = reason;
    queue.wakeTime = 0;
    this.queued -= queue.count;
    return () => this.#options.memory.rest(queue);
  }

  deactivate(queue: WorkQueue, batch: GathererBatch, reason: WaitReason): () => void {
    this.#options.memory.setState(queue, 'inactive');
    queue.reason = reason;
    queue.settlePrecedence();
    const row = this.#options.inactive.push(queue, batch);
    return () => {
      this.#options.inactive.markWritten(row);
      this.#options.memory.rest(queue);
      this.#options.onReady();
    };
  }

  /** T4 to T6: activates an inactive queue. */
  activate(queue: WorkQueue, batch: GathererBatch): () => void {
    this.#options.inactive.remove(inactiveRowOf(queue), batch);
    queue.replenishBalance();
    if (queue.count > 0 && queue.isOverBudget) return this.retire(queue, 'total-budget');
    if (queue.precedence >= PRECEDENCE_FLOOR) return this.retire(queue, 'operator');
    if (isAsleep(queue.wakeTime, this.#options.clock.now())) {
      this.snooze(queue);
    } else {
      queue.wakeTime = 0;
      queue.reason = '';
      this.makeReady(queue);
    }
    return () => undefined;
  }

  /** Appends a queue to the ready queues; an empty queue becomes exhausted (T9). */
  makeReady(queue: WorkQueue): void {
    if (queue.count === 0) {
      this.exhaust(queue);
      return;
    }
    this.#options.memory.setState(queue, 'ready');
    if (queue.listed) return;
    queue.listed = true;
    this.#ready.push(queue);
    this.#options.onReady();
  }

  exhaust(queue: WorkQueue): void {
    this.#options.memory.setState(queue, 'exhausted');
    this.#options.memory.rest(queue);
  }

  takeReady(): WorkQueue | undefined {
    const queue = this.#ready[this.#readyHead];
    if (queue === undefined) return undefined;
    this.#readyHead++;
    if (this.#readyHead > 1024 && this.#readyHead * 2 > this.#ready.length) {
      this.#ready = this.#ready.slice(this.#readyHead);
      this.#readyHead = 0;
    }
    queue.listed = false;
    return queue;
  }

  snooze(queue: WorkQueue): void {
    // An empty queue sleeps too: a URI that is queued meanwhile must wait for its host.
    this.#options.memory.setState(queue, 'snoozed');
    this.#snoozed.push(queue.wakeTime, queue);
    this.#setTimer();
  }

  /** T17: wakes the queues whose wake time has come. */
  wakeDue(): void {
    const now = this.#options.clock.now();
    for (let queue = this.#snoozed.popDue(now); queue !== undefined; queue = this.#snoozed.popDue(now))
      this.#wake(queue);
  }

  /** T20: wakes all snoozed queues. */
  wakeAll(): void {
    for (let queue = this.#snoozed.pop(); queue !== undefined; queue = this.#snoozed.pop()) this.#wake(queue);
    this.#setTimer();
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer?.();
  }

  #wake(queue: WorkQueue): void {
    const batch = this.#options.writer.store.batch();
    const wasOverBudget = queue.count > 0 && queue.isOverBudget;
    const complete = this.#reenqueue(queue, batch);
    if (wasOverBudget) this.#options.writer.submitInBackground(batch, [queue], complete);
    else complete();
  }

  #setTimer(): void {
    this.#cancelTimer?.();
    const earliest = this.#snoozed.earliest;
    if (earliest === undefined || this.#closed) return;
    this.#cancelTimer = this.#options.clock.setTimer(() => {
      this.wakeDue();
      this.#setTimer();
    }, earliest - this.#options.clock.now());
  }
}
