import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchQuery, QueryKind } from './queries.js';

/** One side of the comparison. */
export interface Engine {
  readonly label: string;
  /** What it can answer at all. */
  readonly kinds: ReadonlySet<QueryKind>;
  /** Every query starts a process, whose start is part of its time. */
  readonly process: boolean;
  /** Makes the index; the caller takes the time. */
  build(): Promise<void>;
  /** Bytes of the index on disk. */
  size(): number;
  /** The first ten answers; returns how many came. */
  top(query: BenchQuery): Promise<number>;
  /** How many documents match in all. */
  count(query: BenchQuery): Promise<number>;
  close(): Promise<void>;
}

/** Bytes of the files directly below a directory whose names match. */
export function bytesOf(directory: string, names: RegExp): number {
  return readdirSync(directory)
    .filter((name) => names.test(name))
    .reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
}
