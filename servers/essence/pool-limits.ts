// The limits of a pool's threads and processes, and how the memory of the whole pool is divided among them.

import { availableParallelism } from 'node:os';
import type { Complete } from '../../protocols/defined.js';

/** Limits of the threads and processes that summarize (E-45, E-70, E-140). */
export interface PoolLimits {
  /**
   * Threads; 0 summarizes in the calling thread, without any limit below. Default: one less than the
   * processors, at least 1, at most 4.
   */
  readonly workers?: number;
  /**
   * Milliseconds of processor time one document may take before its worker is replaced; ten times as many by
   * the clock (E-70). A reader stops by itself at four fifths of them. What was read until then is kept.
   * Default 30 000.
   */
  readonly timeLimitMs?: number | undefined;
  /** Heap of one thread in MiB; a document that needs more ends its thread, not the process. Default 256. */
  readonly maxWorkerHeapMb?: number;
  /**
   * Memory of one reader process in MiB, everything counted: heap, buffers, native code (E-45). A document that
   * needs more is summarized by its name. Default 384.
   */
  readonly maxReaderMemoryMb?: number | undefined;
  /**
   * Memory of all reader processes in MiB (E-45). It bounds their number: at most as many as {@link workers},
   * and each may use {@link maxReaderMemoryMb}. Default 1024.
   */
  readonly maxPoolMemoryMb?: number | undefined;
  /** Milliseconds after which a reader process without a document ends. Default 60 000. */
  readonly readerIdleMs?: number;
}

/** {@link PoolLimits} with every default filled in, and the number of reader processes. */
export interface ResolvedPoolLimits extends Complete<PoolLimits> {
  /** Reader processes; at least 1 unless there are no workers. */
  readonly readers: number;
}

/** The least memory of a reader process: Node itself and the summarizers take a third of it. */
const MIN_READER_MEMORY_MB = 128;

/** Fills in the defaults. */
export function resolvePoolLimits(limits: PoolLimits): ResolvedPoolLimits {
  const workers = limits.workers ?? Math.max(1, Math.min(4, availableParallelism() - 1));
  const maxPoolMemoryMb = Math.max(MIN_READER_MEMORY_MB, limits.maxPoolMemoryMb ?? 1024);
  const maxReaderMemoryMb = Math.min(
    maxPoolMemoryMb,
    Math.max(MIN_READER_MEMORY_MB, limits.maxReaderMemoryMb ?? 384),
  );
  return {
    workers,
    timeLimitMs: limits.timeLimitMs ?? 30_000,
    maxWorkerHeapMb: limits.maxWorkerHeapMb ?? 256,
    maxReaderMemoryMb,
    maxPoolMemoryMb,
    readerIdleMs: limits.readerIdleMs ?? 60_000,
    readers:
      workers === 0 ? 0 : Math.max(1, Math.min(workers, Math.floor(maxPoolMemoryMb / maxReaderMemoryMb))),
  };
}
