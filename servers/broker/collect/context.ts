// Context and limits that both collectors share.
import type { LargeObjects, ReceiveLimits } from '../../../clients/connection/index.js';
import type { CollectionPoint } from '../../../protocols/config/index.js';
import { defined } from '../../../protocols/defined.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import { SpoolFile } from '../../../storage/files/spool-file.js';
import type { ApplyObserver, ApplyOptions, BrokerStore } from '../../../storage/index.js';

/** Limits of a collection from one point. */
export interface CollectLimits extends ReceiveLimits {
  /** Objects applied in one batch, default 256. */
  readonly batchObjects?: number;
  /** Time in which a peer must accept the connection, default 30 000. */
  readonly connectTimeoutMs?: number;
  /** Time for which a peer may send nothing, default 120 000 (GATHERD-12.3). */
  readonly timeoutMs?: number;
  /** Connections in a row that may fail without a new object, default 5. */
  readonly maxFailures?: number;
  /**
   * Pause before a broken transfer is resumed, default 1000; doubled after each attempt without a new object.
   */
  readonly retryPauseMs?: number;
}

/** Context of a collection from one point. */
export interface CollectContext {
  readonly store: BrokerStore;
  /** The points of the collection. */
  readonly points: readonly CollectionPoint[];
  /** BT-7: the file with `<last>` for points that the store does not know. */
  readonly lastCollections: string;
  /** Directory of temporary files with large objects while they arrive. */
  readonly spoolDirectory: string;
  /**
   * Called after each applied batch. The next batch is received in the meantime, and applied after this
   * resolves.
   */
  readonly applied: () => Promise<void>;
  /** The right of each change of the store: see {@link ApplyOptions}. */
  readonly allow?: ApplyOptions['allow'];
  readonly now: () => UnixSeconds;
  /** Called with the latest Update-Time of what was received. */
  readonly witness: (newest: UnixSeconds) => void;
  /** Called with the outcome of each change. */
  readonly observe: ApplyObserver;
  /** Called for each object that is not stored because of its URL (SOIF-2.9), with a sentence that names it. */
  readonly onUnwritable: (reason: string) => void;
  /** Called when a transfer broke and will be resumed. */
  readonly onRetry: (reason: string, pauseMs: number) => void;
  readonly limits: CollectLimits;
  readonly signal: AbortSignal;
}

/** The option of the clients that keeps large objects outside the memory. */
export function largeObjects({ spoolDirectory }: CollectContext): LargeObjects {
  return { open: () => SpoolFile.open(spoolDirectory) };
}

/** Returns the timeouts of a connection to a collection point, and the limits on what the point may send. */
export function connectionLimits({ limits }: CollectContext): ReceiveLimits & {
  readonly connectTimeoutMs: number;
  readonly timeoutMs: number;
} {
  // By name: the limits of a Broker have more members, which a client refuses.
  const { connectTimeoutMs = 30_000, timeoutMs = 120_000 } = limits;
  const { maxReceivedBytes, maxDurationMs, minBytesPerSecond, minRateGraceMs } = limits;
  const received = defined({ maxReceivedBytes, maxDurationMs, minBytesPerSecond, minRateGraceMs });
  return { connectTimeoutMs, timeoutMs, ...received };
}
