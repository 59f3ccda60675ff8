// Runs clients of gatherd against scripted servers.
import { NotApplicable } from '../case.js';
import { type ClientRun, type ClientContext as Context, runAgainst, SharedRuns } from '../client-context.js';
import type { Address, ClientEnd, ClientUnderTest } from '../command-client.js';
import { bytes } from '../printable.js';
import { type Script, ScriptedServer } from '../scripted-server.js';
import { type Behavior, dialogue } from './dialogue.js';
import type { Content } from './objects.js';
import { OutputReader } from './output.js';

export type ClientContext = Context<Bench>;

/** The observable results of a run of the client. */
export interface Observation extends ClientRun {
  readonly output: OutputReader;
}

/** The clients under test, as programs or as functions. */
export interface ClientsUnderTest {
  /** Fetches everything; the cases about SEND-UPDATE are skipped without it. */
  readonly client?: ClientUnderTest;
  /** Fetches the description; the cases about INFO are skipped without it. */
  readonly infoClient?: ClientUnderTest;
  /** Whether their output is what they received. Default true. */
  readonly checksOutput?: boolean;
}

/** Runs the clients against scripted servers. A run that several cases check is made once. */
export class Bench {
  readonly #client: ClientUnderTest | undefined;
  readonly #infoClient: ClientUnderTest | undefined;
  readonly #checksOutput: boolean;
  readonly #shared = new SharedRuns<Behavior, Observation>();

  constructor(clients: ClientsUnderTest) {
    this.#client = clients.client;
    this.#infoClient = clients.infoClient;
    this.#checksOutput = clients.checksOutput ?? true;
  }

  /** Runs the client against a server with this behavior. */
  async observe(behavior: Behavior, context: ClientContext): Promise<Observation> {
    return this.#run(this.#updateClient(), dialogue(behavior), context);
  }

  /** As {@link observe}, once for all cases with the same behavior. */
  observeOnce(behavior: Behavior, context: ClientContext): Promise<Observation> {
    return this.#shared.get(behavior, context.transcript, () => this.observe(behavior, context));
  }

  /** Returns the run of an earlier {@link observeOnce}; runs nothing. */
  observed(behavior: Behavior): Observation | undefined {
    return this.#shared.ended(behavior);
  }

  /** Runs the client for INFO. @throws NotApplicable if no command for INFO is given */
  async observeInfo(behavior: Behavior, context: ClientContext): Promise<Observation> {
    if (this.#infoClient === undefined) throw new NotApplicable('no command for INFO is given (--info)');
    return this.#run(this.#infoClient, dialogue(behavior), context);
  }

  /** Runs the client against a server that sends only this and closes. */
  async observeRefusal(words: string, context: ClientContext): Promise<Observation> {
    const script: Script = async (peer) => {
      await peer.send(bytes(words));
      peer.end();
    };
    return this.#run(this.#updateClient(), script, context);
  }

  /** Runs the client with the address of a port on which no server listens. */
  async observeNoServer(context: ClientContext): Promise<ClientEnd> {
    const address = await ScriptedServer.unusedPort();
    context.transcript.note('no server listens on the port that the client is given');
    return this.#start(this.#updateClient(), address, new OutputReader(), context);
  }

  /** Compares the output with what the server sent, unless output is not checked. @throws Mismatch */
  compareOutput(observation: Observation, content: Content): void {
    if (this.#checksOutput) observation.output.compare(content);
  }

  #updateClient(): ClientUnderTest {
    if (this.#client === undefined) throw new NotApplicable('no command that fetches objects is given');
    return this.#client;
  }

  async #run(client: ClientUnderTest, script: Script, context: ClientContext): Promise<Observation> {
    const output = new OutputReader();
    const run = await runAgainst(script, context, (address) => this.#start(client, address, output, context));
    return { ...run, output };
  }

  async #start(
    client: ClientUnderTest,
    address: Address,
    output: OutputReader,
    { signal }: ClientContext,
  ): Promise<ClientEnd> {
    const end = await client.run(
      address,
      (piece) => {
        if (this.#checksOutput) output.push(piece);
      },
      signal,
    );
    output.end();
    return end;
  }
}
