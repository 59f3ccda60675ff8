import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchQuery, QueryKind } from './queries.js';

/** One side of the comparison. */
export interface Engine {
  readonly label: string;
  /** Kinds of query that it supports. */
  readonly kinds: ReadonlySet<QueryKind>;
  /** Every query starts a process; its start is part of the latency. */
  readonly process: boolean;
  /** Builds the index; the caller measures the time. */
  build(): Promise<void>;
  /** Bytes of the index on disk. */
  size(): number;
  /** Requests the first ten answers; returns their number. */
  top(query: BenchQuery): Promise<number>;
  /** Number of all matching documents. */
  count(query: BenchQuery): Promise<number>;
  close(): Promise<void>;
}

/** Bytes of the files directly below a directory whose names match. */
export function bytesOf(directory: string, names: RegExp): number {
  return readdirSync(directory)
    .filter((name) => names.test(name))
    .reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
}
