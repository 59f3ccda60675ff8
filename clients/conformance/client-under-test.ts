/** Where the scripted server listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** How a run of the client ended. */
export interface ClientEnd {
  /** Exit status; `undefined` when a signal ended it. */
  readonly status: number | undefined;
  /** The end of what it said on standard error, for people. */
  readonly diagnostics: string;
}

/**
 * What is judged: something that asks a server (a gatherd for everything it has, a Broker a query) and puts out what it
 * received. A program ({@link CommandClient}), or a library behind a function. `Task` is what it has to know.
 */
export interface ClientUnderTest<Task extends Address = Address> {
  /** For people: the command line. */
  readonly name: string;
  /**
   * Runs one session against the server.
   * @param output takes each piece of what the client puts out; to be awaited, for backpressure
   * @param signal ends the run by force
   */
  run(
    task: Task,
    output: (piece: Uint8Array) => void | Promise<void>,
    signal: AbortSignal,
  ): Promise<ClientEnd>;
}
