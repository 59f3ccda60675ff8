// The interface of a client under test.
/** The address of the scripted server. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** How a run of the client ended. */
export interface ClientEnd {
  /** Exit status; undefined if a signal ended it. */
  readonly status: number | undefined;
  /** The end of its standard error. */
  readonly diagnostics: string;
}

/**
 * The client under test. It requests data from a server (everything from a gatherd, the result of a query from
 * a Broker) and writes out what it received. It is a program ({@link CommandClient}) or a function. `Task`
 * contains its parameters.
 */
export interface ClientUnderTest<Task extends Address = Address> {
  /** The command line, for reports. */
  readonly name: string;
  /**
   * Runs one session against the server.
   * @param output receives each piece of the client's output; the caller awaits it, for backpressure
   * @param signal ends the run
   */
  run(
    task: Task,
    output: (piece: Uint8Array) => void | Promise<void>,
    signal: AbortSignal,
  ): Promise<ClientEnd>;
}
