// Context and limits that both collectors share.
import type { UnixSeconds } from '../../protocols/time.js';
import type { ApplyObserver, BrokerStore } from '../../storage/index.js';

/** Limits of a collection from one point. */
export interface CollectLimits {
  /** Objects applied in one batch, default 256. */
  readonly batchObjects?: number;
  /** Bytes applied in one batch, default 1 MiB. */
  readonly batchBytes?: number;
  /** Time in which a peer must accept the connection, default 30 000. */
  readonly connectTimeoutMs?: number;
  /** Time for which a peer may send nothing, default 120 000 (GATHERD-12.3). */
  readonly idleTimeoutMs?: number;
  /** Connections in a row that may fail without a new object, default 5. */
  readonly maxFailures?: number;
  /** Pause before a broken transfer is resumed, default 1000; doubled after each attempt without a new object. */
  readonly retryPauseMs?: number;
}

/** Context of a collection from one point. */
export interface CollectContext {
  readonly store: BrokerStore;
  /** Called after each applied batch. The next batch is received in the meantime, and applied after this resolves. */
  readonly applied: () => Promise<void>;
  readonly now: () => UnixSeconds;
  /** Called with the outcome of each change. */
  readonly observe?: ApplyObserver;
  /** Called when a transfer broke and will be resumed. */
  readonly onRetry?: (reason: string, pauseMs: number) => void;
  readonly limits?: CollectLimits;
  readonly signal?: AbortSignal;
}

/** Returns the timeouts of a connection to a collection point. */
export function connectionTimeouts({ limits = {} }: CollectContext): {
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number;
} {
  const { connectTimeoutMs = 30_000, idleTimeoutMs = 120_000 } = limits;
  return { connectTimeoutMs, idleTimeoutMs };
}
