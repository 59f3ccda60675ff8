// The messages between the soak and the process of its servers.

/** Ports of the servers on 127.0.0.1. */
export interface ServerAddresses {
  readonly gatherd: number;
  readonly broker: number;
  readonly web: number;
  readonly references: number;
  /** URL of the gathered site, with a slash at its end. */
  readonly site: string;
  /** Objects in the Broker at the beginning. */
  readonly objects: number;
}

/** What the process of the servers holds, in bytes and counts, after a garbage collection. */
export interface Measurement {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly arrayBuffers: number;
  /** Open file descriptors. */
  readonly files: number;
  /** Active resources of Node, by name: sockets, timers, servers. */
  readonly resources: Readonly<Record<string, number>>;
  /** Rounds of gathering, publishing and collecting so far. */
  readonly cycles: number;
}

/** `hold` keeps the next round of gathering from starting, `resume` lets it start. */
export type ToChild = 'hold' | 'measure' | 'resume' | 'stop';

export interface FromChild {
  readonly ready?: ServerAddresses;
  readonly measurement?: Measurement;
}
