// One login at an FTP server.
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { Client, FTPError } from 'basic-ftp';
import { ConnectionError, errorCode, StorageError } from '../../protocols/errors.js';
import type { UnixSeconds } from '../../protocols/time.js';
import { authorityOf } from '../../protocols/urls/parse-url.js';
import { asConnectionError } from '../connection/index.js';
import { monotonicClock } from '../connection/monotonic-clock.js';
import type { BodyCollector } from './bounded-body.js';
import type { PooledConnection } from './connection-pool.js';
import { type FtpListing, parseListing } from './ftp-listing.js';
import { hideWords } from './hidden-text.js';
import { resolveHost } from './private-addresses.js';
import { DEFAULT_CONNECT_MS, idleTimeoutOf, type TransferOptions, TransferWatch } from './transfer.js';
import type { FetchRequest } from './types.js';

export interface FtpLogin {
  readonly user: string;
  readonly password: string;
}

/** Bytes of one directory listing; a longer one fails. */
const MAX_LISTING_BYTES = 32 * 1024 * 1024;

/** Bytes of replies to one operation: basic-ftp reads the beginning of a reply again with each piece of it. */
const MAX_REPLY_BYTES = 256 * 1024;

/** A server's refusal (4xx, 5xx). */
export class FtpRefusal {
  readonly code: number;
  /** The reply as the server wrote it. */
  readonly text: string;

  /** @param password is hidden where the server repeats it */
  constructor({ code, message }: FTPError, password: string) {
    this.code = code;
    this.text = hideWords(message, [password]);
  }
}

/** One login at an FTP server by basic-ftp: passive, binary, names as bytes. One operation at a time. */
export class FtpConnection implements PooledConnection {
  readonly host: string;
  /** The server's refusal of the login; the connection cannot be used then. */
  refusal: FtpRefusal | undefined;
  /** Host and port, for messages. */
  readonly #name: string;
  readonly #client: Client;
  readonly #password: string;
  #home = '';
  #busy = false;
  #replyBytes = 0;
  #lost = false;
  #stopped: Error | undefined;
  #timedOut = false;
  #dataSocket: Socket | undefined;
  /** Bytes of the data connections before that one. */
  #dataBytes = 0;

  private constructor(host: string, port: number, client: Client, password: string) {
    this.host = host;
    this.#name = authorityOf(host, port);
    this.#client = client;
    this.#password = password;
  }

  /**
   * Connects and logs in; {@link refusal} is set if the server does not accept the login.
   * @throws ConnectionError if it cannot be reached, does not answer in time or is too busy
   */
  static async open(
    host: string,
    port: number,
    login: FtpLogin,
    request: FetchRequest,
    options: TransferOptions,
  ): Promise<FtpConnection> {
    const address = await resolveHost(host, request.publicOnly === true, request.signal);
    const client = new Client(idleTimeoutOf(request), { maxListingBytes: MAX_LISTING_BYTES });
    // FTP names are bytes; in this encoding every byte is one character.
    client.ftp.encoding = 'latin1';
    const connection = new FtpConnection(host, port, client, login.password);
    const connectMs = options.connectTimeoutMs ?? DEFAULT_CONNECT_MS;
    using watch = new TransferWatch(host, request, options, connection);
    const cancelTimer = (options.clock ?? monotonicClock).setTimer(() => {
      connection.destroy(new ConnectionError(`${connection.#name}: no connection within ${connectMs} ms`));
    }, connectMs);
    try {
      const connecting = client.connect(address, port).finally(cancelTimer);
      connection.#limitReplies();
      await connecting;
      await client.login(login.user, login.password);
      await client.useDefaultSettings();
      connection.#home = await client.pwd().catch((error: unknown) => {
        if (client.closed) throw error;
        return ''; // a server without PWD: paths stay relative
      });
      return connection;
    } catch (error) {
      const isLoginRefused =
        error instanceof FTPError && !client.closed && Math.floor(error.code / 100) === 5;
      const failure = watch.causeOf(connection.#asFailure(error));
      client.close();
      if (!isLoginRefused) throw failure;
      connection.refusal = new FtpRefusal(error, login.password);
      return connection;
    }
  }

  get remoteAddress(): string {
    return this.#client.ftp.socket.remoteAddress ?? '';
  }

  /** Bytes of replies, files and listings so far. */
  get bytesRead(): number {
    const { socket, dataSocket } = this.#client.ftp;
    if (dataSocket !== this.#dataSocket) {
      this.#dataBytes += this.#dataSocket?.bytesRead ?? 0;
      this.#dataSocket = dataSocket;
    }
    return socket.bytesRead + this.#dataBytes + (dataSocket?.bytesRead ?? 0);
  }

  get usable(): boolean {
    return !this.#busy && !this.#client.closed;
  }

  get lost(): boolean {
    return this.#lost;
  }

  /** Whether the server was silent for too long. */
  get timedOut(): boolean {
    return this.#timedOut;
  }

  close(): void {
    this.#client.close();
  }

  /** Destroys the connection; pending operations fail with `reason`. */
  destroy(reason: Error): void {
    this.#stopped ??= reason;
    this.#client.close();
  }

  /** Modification time; 0 if the server does not report it. */
  async modified(path: string): Promise<UnixSeconds> {
    const date = await this.#query(() => this.#client.lastMod(this.#absolute(path)));
    return date !== undefined && date.getTime() > 0 ? Math.floor(date.getTime() / 1000) : 0;
  }

  /** Bytes of a file; undefined if the server does not report them. */
  async size(path: string): Promise<number | undefined> {
    const size = await this.#query(() => this.#client.size(this.#absolute(path)));
    return size !== undefined && size >= 0 ? size : undefined;
  }

  /**
   * Retrieves a file. If it is larger than the body's limit, the connection is closed and the call ends
   * normally.
   */
  async retrieve(path: string, isText: boolean, body: BodyCollector): Promise<FtpRefusal | undefined> {
    const sink = new Writable({
      write: (chunk: Uint8Array, _, done) => {
        body.push(chunk);
        if (body.truncated) done(LIMIT_REACHED);
        else body.whenRoom((error) => done(error ?? null));
      },
    });
    const refusal = await this.#run(async () => {
      if (isText) await this.#client.send('TYPE A');
      try {
        await this.#client.downloadTo(sink, this.#absolute(path));
      } catch (error) {
        if (!body.truncated) throw error;
        this.#client.close();
        return;
      }
      if (isText) await this.#client.send('TYPE I');
    });
    return refusal instanceof FtpRefusal ? refusal : undefined;
  }

  /** Lists a directory. @param maxFiles files that are kept */
  async list(path: string, maxFiles: number): Promise<FtpListing | FtpRefusal> {
    let text = '';
    // The client would parse the whole listing in one turn of the event loop.
    this.#client.parseList = (listing) => {
      text = listing;
      return [];
    };
    const refusal = await this.#run(async () => {
      await this.#client.cd(this.#absolute(path));
      await this.#client.list();
    });
    return refusal instanceof FtpRefusal ? refusal : await parseListing(text, maxFiles, this.host);
  }

  #limitReplies(): void {
    this.#client.ftp.socket.on('data', (text) => {
      this.#replyBytes += text.length;
      if (this.#replyBytes <= MAX_REPLY_BYTES) return;
      this.destroy(new ConnectionError(`${this.#name}: the FTP server's replies do not end`));
    });
  }

  /** Makes a path independent of the directory that an earlier operation changed to. */
  #absolute(path: string): string {
    if (path.startsWith('/') || this.#home === '') return path;
    return path === '' ? this.#home : `${this.#home.replace(/\/$/, '')}/${path}`;
  }

  /** @returns undefined if the server refuses or its reply cannot be read */
  async #query<T>(operation: () => Promise<T>): Promise<T | undefined> {
    const answer = await this.#run(() =>
      operation().catch((error: unknown) => {
        if (error instanceof FTPError || this.#client.closed) throw error;
        return undefined;
      }),
    );
    return answer instanceof FtpRefusal ? undefined : answer;
  }

  async #run<T>(operation: () => Promise<T>): Promise<T | FtpRefusal> {
    this.#busy = true;
    this.#replyBytes = 0;
    try {
      const result = await operation();
      this.#busy = false;
      return result;
    } catch (error) {
      if (!(error instanceof FTPError) || this.#client.closed) throw this.#asFailure(error);
      // 421: the server ends the session; 425, 426: the data connection failed, not the request.
      if (error.code === 421) this.#lost = true;
      if (error.code === 421 || error.code === 425 || error.code === 426) throw this.#asFailure(error);
      this.#busy = false;
      return new FtpRefusal(error, this.#password);
    }
  }

  #asFailure(error: unknown): Error {
    if (this.#stopped !== undefined) return this.#stopped;
    // The disk failed, not the server.
    if (error instanceof StorageError) return error;
    const message = error instanceof Error ? error.message : '';
    if (/^Timeout/.test(message)) {
      this.#timedOut = true;
      return new ConnectionError(`${this.#name}: nothing received for ${this.#client.ftp.timeout} ms`, {
        cause: error,
      });
    }
    const code = errorCode(error) ?? '';
    this.#lost ||= /FIN packet|closed connection|is closed because/.test(message) || code === 'ECONNRESET';
    if (error instanceof Error) error.message = hideWords(error.message, [this.#password]);
    return asConnectionError(this.#name, error);
  }
}

const LIMIT_REACHED = new Error('the body limit is reached');
