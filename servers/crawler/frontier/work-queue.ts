import {
  highestUriPrecedence,
  QUEUE_PRECEDENCE,
  successCountsPrecedence,
} from '../../../protocols/urls/index.js';
import type { QueueEntry, QueueRecord } from '../../../storage/index.js';
import { QUEUE_STATUS } from '../../../storage/index.js';
import type { QueueReport } from '../control.js';
import { type QueueState, WAIT_REASONS, type WaitReason } from '../states.js';
import type { Budgets } from './contract.js';
import { HeadWindow } from './head-window.js';

/**
 * The pending URIs of one class key (CRAWL-5.2). The URIs are on disk; this object holds the queue's state and
 * its first entries. A queue has one URI in process at a time and provides none while it sleeps (CRAWL-5.6.4).
 */
export class WorkQueue {
  state: QueueState = 'exhausted';
  /** Pending URIs, on disk or in a batch in flight. */
  count = 0;
  enqueued = 0;
  sessionBalance = 0;
  replenish = 0;
  totalExpenditure = 0;
  totalBudget = -1;
  successes = 0;
  errors = 0;
  /** Bytes of successes. */
  bytes = 0;
  lastCost = 0;
  /** Milliseconds since 1970; 0 if it does not sleep. */
  wakeTime = 0;
  reason: WaitReason | '' = '';
  /** CRAWL-9.11. */
  precedence = 0;
  /** Whether the precedence is that of the next URI. */
  #byHead = false;
  /** Its row among the inactive queues: its precedence when it became inactive, and its sequence number. */
  inactivePrecedence = 0;
  sequence = 0;
  lastQueued = '';
  lastPeeked = '';

  /** The URI in process; it stays the head on disk until it is finished (CRAWL-5.2.2). */
  peeked: QueueEntry | undefined;
  readonly window = new HeadWindow<QueueEntry>(compareEntries);
  /** Batches in flight with a record of this queue. */
  writes = 0;
  /** Whether it is in the list of ready queues. */
  listed = false;

  constructor(readonly classKey: string) {}

  static restored(record: QueueRecord): WorkQueue {
    const queue = new WorkQueue(record.classKey);
    const { status, reason, ...values } = record;
    Object.assign(queue, values);
    queue.reason = WAIT_REASONS.find((known) => known === reason) ?? '';
    queue.state =
      status === QUEUE_STATUS.inactive
        ? 'inactive'
        : status === QUEUE_STATUS.retired
          ? 'retired'
          : 'exhausted';
    queue.inactivePrecedence = record.precedence;
    queue.window.clear(record.count > 0);
    return queue;
  }

  toRecord(): QueueRecord {
    return {
      classKey: this.classKey,
      status:
        this.state === 'inactive'
          ? QUEUE_STATUS.inactive
          : this.state === 'retired'
            ? QUEUE_STATUS.retired
            : QUEUE_STATUS.active,
      count: this.count,
      enqueued: this.enqueued,
      sessionBalance: this.sessionBalance,
      replenish: this.replenish,
      totalExpenditure: this.totalExpenditure,
      totalBudget: this.totalBudget,
      successes: this.successes,
      errors: this.errors,
      bytes: this.bytes,
      lastCost: this.lastCost,
      wakeTime: this.wakeTime,
      reason: this.reason,
      // The record of an inactive queue has the precedence of its row.
      precedence: this.state === 'inactive' ? this.inactivePrecedence : this.precedence,
      sequence: this.sequence,
      lastQueued: this.lastQueued,
      lastPeeked: this.lastPeeked,
    };
  }

  report(): QueueReport {
    const { classKey, state, count, enqueued, reason, wakeTime, precedence, sessionBalance } = this;
    const { totalExpenditure, totalBudget, errors, lastPeeked, lastQueued } = this;
    const waits = state === 'snoozed' || state === 'inactive' || state === 'retired';
    return {
      classKey,
      state,
      count,
      enqueued,
      ...(waits && reason !== '' ? { reason } : {}),
      wakeTime: state === 'snoozed' || state === 'inactive' ? wakeTime : 0,
      precedence,
      sessionBalance,
      totalExpenditure,
      totalBudget,
      errors,
      lastPeeked,
      lastQueued,
    };
  }

  /** Whether the session or the total budget is spent (CRAWL-5.4.1, as in Heritrix 1.x). */
  get isOverBudget(): boolean {
    return this.sessionBalance <= 0 || this.isOverTotalBudget;
  }

  get isOverTotalBudget(): boolean {
    return this.totalBudget >= 0 && this.totalExpenditure >= this.totalBudget;
  }

  /** Begins a session: the balance is set, not added to (CRAWL-5.4.2). */
  replenishBalance(): void {
    this.sessionBalance = this.replenish;
  }

  /** Charges the cost of a URI to the budgets (CRAWL-8.4). */
  charge(cost: number): void {
    this.sessionBalance -= cost;
    this.totalExpenditure += cost;
    this.lastCost = cost;
  }

  /** Takes the budgets over from a URI that was queued. */
  setBudgets(budgets: Budgets, { precedence }: Pick<QueueEntry, 'precedence'>): void {
    this.replenish = budgets.replenish;
    this.totalBudget = budgets.totalBudget;
    if (budgets.precedence !== 'highest-uri') this.updatePrecedence(budgets);
    else {
      this.#byHead = true;
      const own = highestUriPrecedence([precedence]);
      this.precedence = this.count === 1 ? own : Math.min(this.precedence, own);
    }
  }

  /** CRAWL-9.11: the precedence by the successes so far, or by the head of the queue. */
  updatePrecedence({ precedence = 'base' }: Budgets, head?: Pick<QueueEntry, 'precedence'>): void {
    this.#byHead = precedence === 'highest-uri';
    if (this.#byHead) {
      if (head !== undefined) this.precedence = highestUriPrecedence([head.precedence]);
    } else
      this.precedence =
        precedence === 'success-counts' ? successCountsPrecedence(this.successes) : QUEUE_PRECEDENCE;
  }

  /**
   * CRAWL-9.11, `highest-uri`: before the queue waits among the inactive ones, its precedence becomes that of
   * its next URI, if that is in memory. URIs are ordered by directive first, so that a later one may have a
   * smaller precedence; then it does not count until its turn.
   */
  settlePrecedence(): void {
    const { first } = this.window;
    if (this.#byHead && first !== undefined) this.precedence = highestUriPrecedence([first.precedence]);
  }

  /** Takes the head for a worker. */
  peek(): QueueEntry | undefined {
    this.peeked = this.window.shift();
    if (this.peeked !== undefined) this.lastPeeked = this.peeked.uri.url;
    return this.peeked;
  }

  /** Whether the next URI is in memory and comes before those of the new entries that are of this queue. */
  goesOnBefore(entries: readonly QueueEntry[]): boolean {
    const { first } = this.window;
    if (first === undefined) return false;
    return entries.every((entry) => entry.classKey !== this.classKey || compareEntries(first, entry) < 0);
  }

  /**
   * Returns the head to the queue: it is the head again unless a URI of higher priority was queued
   * (CRAWL-5.2.2).
   */
  unpeek(entry: QueueEntry): void {
    this.peeked = undefined;
    this.window.putBack(entry);
  }
}

function compareEntries(a: QueueEntry, b: QueueEntry): number {
  return a.directive - b.directive || a.precedence - b.precedence || a.ordinal - b.ordinal;
}
