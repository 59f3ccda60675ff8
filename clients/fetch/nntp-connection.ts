// One connection to a news server.
import { ConnectionError } from '../../protocols/errors.js';
import { type NntpEvent, NntpReplyDecoder } from '../../protocols/nntp/index.js';
import type { Connection } from '../connection/index.js';
import type { PooledConnection } from './connection-pool.js';
import { hideWords } from './hidden-text.js';
import { connectTo, idleTimeoutOf, type TransferOptions, TransferWatch } from './transfer.js';
import type { FetchRequest } from './types.js';

/** A server's status line. */
export interface NntpStatus {
  readonly code: number;
  readonly text: string;
}

export interface NntpLogin {
  readonly user: string;
  readonly password: string;
}

/** RFC 3977 3.1: a command line has at most 512 bytes, its end included. */
const MAX_COMMAND_BYTES = 510;

/** A connection to a news server. One command at a time. */
export class NntpConnection implements PooledConnection {
  readonly #connection: Connection;
  readonly #login: NntpLogin | undefined;
  readonly #decoder = new NntpReplyDecoder();
  readonly #events: NntpEvent[] = [];
  #busy = false;
  #lost = false;
  #group: string | undefined;

  private constructor(connection: Connection, login: NntpLogin | undefined) {
    this.#connection = connection;
    this.#login = login;
  }

  /**
   * Connects, reads the greeting, sends MODE READER.
   * @throws ConnectionError if the server cannot be reached or refuses to serve now
   */
  static async open(
    host: string,
    port: number,
    login: NntpLogin | undefined,
    request: FetchRequest,
    options: TransferOptions,
  ): Promise<NntpConnection> {
    const connection = new NntpConnection(await connectTo(host, port, request, options), login);
    using watch = new TransferWatch(host, request, options, connection);
    try {
      const greeting = await connection.#nextStatus();
      if (greeting.code !== 200 && greeting.code !== 201) throw connection.refusal(greeting);
      const mode = await connection.command('MODE READER');
      // A server that does not need the command may not know it.
      if (mode.code === 400 || mode.code === 502) throw connection.refusal(mode);
      return connection;
    } catch (error) {
      connection.close();
      throw watch.causeOf(error);
    }
  }

  get remoteAddress(): string {
    return this.#connection.remoteAddress;
  }

  /** Bytes that the server has sent so far. */
  get bytesRead(): number {
    return this.#connection.bytesRead;
  }

  get usable(): boolean {
    return !this.#busy && !this.#connection.closed;
  }

  get lost(): boolean {
    return this.#lost || this.#connection.lost;
  }

  /** Whether the server was silent for too long. */
  get timedOut(): boolean {
    return this.#connection.timedOut;
  }

  /** Sets the idle timeout of the request (G-85) for the commands that follow. */
  setIdleTimeout(request: FetchRequest): void {
    this.#connection.idleTimeoutMs = idleTimeoutOf(request);
  }

  /** Destroys the connection; pending operations fail with `reason`. */
  destroy(reason: Error): void {
    this.#connection.destroy(reason);
  }

  close(): void {
    this.#connection.destroy();
  }

  /** The server's refusal as a failure of the connection. */
  refusal(status: NntpStatus): ConnectionError {
    return new ConnectionError(
      `${this.#connection.name}: the news server replied ${status.code} ${status.text}`,
    );
  }

  /** Selects a group; the status is 211 if it exists. */
  async group(name: string): Promise<NntpStatus> {
    const status = await this.command(`GROUP ${name}`);
    this.#group = status.code === 211 ? name : undefined;
    return status;
  }

  /** The selected group. */
  get selectedGroup(): string | undefined {
    return this.#group;
  }

  /**
   * Sends a command. If the server requests a login (480) and one is known, logs in and sends the command
   * again.
   * @param blockCodes answers with a block, which {@link block} then must read to its end
   */
  async command(line: string, blockCodes: readonly number[] = []): Promise<NntpStatus> {
    const status = await this.#send(line, blockCodes);
    if (status.code !== 480 || this.#login === undefined) return status;
    const user = await this.#send(`AUTHINFO USER ${this.#login.user}`, []);
    const login = user.code === 381 ? await this.#send(`AUTHINFO PASS ${this.#login.password}`, []) : user;
    if (login.code !== 281) return login;
    return await this.#send(line, blockCodes);
  }

  /**
   * The pieces of the block after the last status. If the reader stops early, the connection cannot be used
   * again.
   */
  async *block(): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const event = await this.#nextEvent();
      if (event.kind === 'end') break;
      if (event.kind === 'data') yield event.bytes;
    }
    this.#busy = false;
  }

  async #send(line: string, blockCodes: readonly number[]): Promise<NntpStatus> {
    const bytes = Buffer.from(line, 'utf8');
    if (bytes.length > MAX_COMMAND_BYTES || /[\r\n\0]/.test(line)) {
      return { code: 501, text: 'a command cannot contain this name' };
    }
    this.#decoder.expect(blockCodes);
    this.#busy = true;
    await this.#connection.write(Buffer.concat([bytes, Buffer.from('\r\n')]));
    const status = await this.#nextStatus();
    // 400 and 205: the server closes.
    this.#busy = blockCodes.includes(status.code) || status.code === 400 || status.code === 205;
    if (status.code === 400) {
      this.#lost = true;
      throw this.refusal(status);
    }
    return status;
  }

  async #nextStatus(): Promise<NntpStatus> {
    const event = await this.#nextEvent();
    if (event.kind === 'status') {
      return { code: event.code, text: hideWords(event.text, [this.#login?.password ?? '']) };
    }
    throw new ConnectionError(`${this.#connection.name}: the news server sent an unexpected answer`);
  }

  async #nextEvent(): Promise<NntpEvent> {
    for (;;) {
      const event = this.#events.shift();
      if (event?.kind === 'broken') throw new ConnectionError(`${this.#connection.name}: ${event.reason}`);
      if (event !== undefined) return event;
      const chunk = await this.#read();
      this.#events.push(...this.#decoder.push(chunk));
    }
  }

  async #read(): Promise<Uint8Array> {
    const chunk = await this.#connection.read();
    if (chunk !== undefined) return chunk;
    this.#lost = true;
    throw new ConnectionError(`${this.#connection.name}: the news server closed the connection`);
  }
}
