// What benchmark `broker` needs of a search engine.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchQuery, QueryKind } from './queries.js';

/** One side of the comparison. */
export interface Engine {
  readonly label: string;
  /** The kinds of query that it supports. */
  readonly kinds: ReadonlySet<QueryKind>;
  /** Whether every query starts a process, which is part of the latency. */
  readonly process: boolean;
  /** Builds the index; the caller measures the time. */
  build(): Promise<void>;
  /** Bytes of the index on disk. */
  size(): number;
  /** Requests the first ten answers; returns their number. */
  top(query: BenchQuery): Promise<number>;
  /** Returns the number of all matching documents. */
  count(query: BenchQuery): Promise<number>;
  close(): Promise<void>;
}

/** Total bytes of the files directly below a directory whose names match. */
export function bytesOf(directory: string, names: RegExp): number {
  return readdirSync(directory)
    .filter((name) => names.test(name))
    .reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
}
