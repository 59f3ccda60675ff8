// What a Broker's port has done since its start, for a monitor.

/** How a query ended. */
export type QueryEnd = 'answered' | 'incomplete' | 'busy' | 'disconnected';

/** Counters of a Broker's port; they only grow. */
export interface BrokerCounts {
  /** Messages, by kind: `user`, `bulk`, `admin`, `malformed`. */
  readonly messages: Map<string, number>;
  readonly queries: Map<QueryEnd, number>;
  /** Objects in the replies to queries. */
  objects: number;
  /** Seconds from a query's message to the end of its reply, all together. */
  querySeconds: number;
}

export function zeroCounts(): BrokerCounts {
  return { messages: new Map(), queries: new Map(), objects: 0, querySeconds: 0 };
}

/** Adds one to a counter of a map. */
export function countIn<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
