// What a gatherd has done since its start, for a monitor.
import type { GatherdCommand } from '../../protocols/gatherd/index.js';

/** Counters of a gatherd; they only grow. */
export interface GatherdCounts {
  /** Sessions that ended. */
  sessions: number;
  /** Connections that the access list refused. */
  denied: number;
  /** Updates that were sent completely. */
  transfers: number;
  /** Transfers that ended because the database could not be read. */
  failures: number;
  /** Objects sent. */
  objects: number;
  /** Bytes sent. */
  bytes: number;
  readonly commands: Map<GatherdCommand['kind'], number>;
}

export function zeroCounts(): GatherdCounts {
  return { sessions: 0, denied: 0, transfers: 0, failures: 0, objects: 0, bytes: 0, commands: new Map() };
}
