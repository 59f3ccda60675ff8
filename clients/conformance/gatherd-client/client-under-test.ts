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
 * What is judged: something that asks a gatherd for everything it has (or for its description) and puts out what
 * it received. A program ({@link CommandClient}), or a library behind a function.
 */
export interface ClientUnderTest {
  /** For people: the command line. */
  readonly name: string;
  /**
   * Runs one session against the server.
   * @param output takes each piece of what the client puts out; to be awaited, for backpressure
   * @param signal ends the run by force
   */
  run(
    address: Address,
    output: (piece: Uint8Array) => void | Promise<void>,
    signal: AbortSignal,
  ): Promise<ClientEnd>;
}
