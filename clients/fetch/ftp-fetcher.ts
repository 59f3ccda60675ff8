// Fetches `ftp:` URLs.
import type { FileInfo } from 'basic-ftp';
import { ConnectionError } from '../../protocols/errors.js';
import { withUserInfo } from '../../protocols/urls/index.js';
import type { BodyCollector } from './bounded-body.js';
import { bodyAnswer, collectorFor, cutBy } from './collected-body.js';
import { ConnectionPool } from './connection-pool.js';
import { publishDebug } from './debug-channel.js';
import { entryOfBytes } from './entry-names.js';
import type { FtpConnection, FtpLogin, FtpRefusal } from './ftp-connection.js';
import { FTP_PORT, type FtpAddress, parseFtpUrl } from './ftp-url.js';
import { refusePrivate } from './private-addresses.js';
import { idleTimeoutOf, type ServerLogin, type TransferOptions, TransferWatch } from './transfer.js';
import {
  type Answer,
  DIRECTORY_TYPE,
  type Fetcher,
  type FetchRequest,
  type FetchResult,
  resultOf,
} from './types.js';

export interface FtpFetcherOptions extends TransferOptions {
  /** Logins by server (G-83); the first match is used. The user of a URL takes precedence (G-81). */
  readonly ftpAuth?: readonly ServerLogin[] | undefined;
  /** Mail address that anonymous logins send as password; default `harvest@`. */
  readonly from?: string | undefined;
  /** Maximum number of names of a directory listing; default 100 000. */
  readonly maxEntries?: number | undefined;
}

const ANONYMOUS = 'anonymous';

/** Fetches `ftp:` URLs over kept logins (G-88): files, and directories as `entries`. */
export class FtpFetcher implements Fetcher {
  readonly #options: FtpFetcherOptions;
  readonly #pool: ConnectionPool<FtpConnection>;

  constructor(options: FtpFetcherOptions = {}) {
    this.#options = options;
    this.#pool = new ConnectionPool(options);
  }

  async fetch(request: FetchRequest): Promise<FetchResult> {
    const address = parseFtpUrl(withUserInfo(request.url, request.login));
    const login = this.#loginFor(address);
    const beginTime = Date.now();
    const key = [address.host, address.port, login.user, login.password, idleTimeoutOf(request)].join(' ');
    request.signal?.throwIfAborted();
    const answer = await this.#pool.use(
      key,
      () => request.signal,
      async () => {
        // Loaded at the first ftp URL: most programs meet none.
        const { FtpConnection } = await import('./ftp-connection.js');
        return FtpConnection.open(address.host, address.port, login, request, this.#options);
      },
      async (connection) => {
        if (connection.refusal !== undefined) return refusedAnswer(connection.refusal);
        if (request.publicOnly === true) refusePrivate(address.host, connection.remoteAddress);
        using watch = new TransferWatch(address.host, request, this.#options, connection);
        try {
          const { remoteAddress } = connection;
          return { remoteAddress, ...(await this.#retrieve(connection, address, request, watch)) };
        } catch (error) {
          throw watch.causeOf(error);
        }
      },
    );
    publishDebug(23, 1, () => {
      const { host, port, path } = address;
      const outcome = answer.entries === undefined ? `${answer.body?.length ?? 0} bytes` : 'a directory';
      const reply = answer.headers?.['ftp-reply'] ?? outcome;
      return `${host}:${port} as ${login.user}: ${path ?? 'no path'}: status ${answer.status}, ${reply}`;
    });
    return resultOf(
      request.url,
      beginTime,
      login.user === ANONYMOUS ? answer : { ...answer, personal: true },
    );
  }

  async close(): Promise<void> {
    this.#pool.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #loginFor(address: FtpAddress): FtpLogin {
    const anonymous = this.#options.from ?? 'harvest@';
    if (address.user !== undefined) return { user: address.user, password: address.password ?? anonymous };
    const known = this.#options.ftpAuth?.find(
      ({ host, port }) => host.toLowerCase() === address.host && (port ?? FTP_PORT) === address.port,
    );
    return known ?? { user: ANONYMOUS, password: anonymous };
  }

  async #retrieve(
    connection: FtpConnection,
    address: FtpAddress,
    request: FetchRequest,
    watch: TransferWatch,
  ): Promise<Answer> {
    const { path } = address;
    if (path === undefined) return { status: 404 };
    if (address.isDirectory) return await this.#list(connection, path);
    const body = collectorFor(request);
    try {
      return await this.#retrieveInto(body, connection, { ...address, path }, request, watch);
    } catch (error) {
      await body.drop();
      throw error;
    }
  }

  async #retrieveInto(
    body: BodyCollector,
    connection: FtpConnection,
    address: FtpAddress & { readonly path: string },
    request: FetchRequest,
    watch: TransferWatch,
  ): Promise<Answer> {
    const { path } = address;
    const lastModified = await connection.modified(path);
    const known = request.headers?.lastModified;
    // A file with an older time may be another one, or the clock of the server was set back.
    if (known && lastModified !== 0 && lastModified === known) return { status: 304, lastModified };
    const size = address.isText ? undefined : await connection.size(path);
    let cut: ReturnType<typeof cutBy> = {};
    let refusal: FtpRefusal | undefined;
    try {
      refusal = await connection.retrieve(path, address.isText, body);
      if (body.length > 0 && !body.truncated) checkEnd(address.host, body.length, size, refusal);
    } catch (error) {
      if (body.length === 0) throw error;
      cut = cutBy(error, watch, request, connection.timedOut);
    }
    if (refusal !== undefined && body.length === 0) {
      // Servers send the same reply for a directory and for a missing file.
      const listing = refusal.code === 550 ? await this.#list(connection, path) : undefined;
      return listing?.status === 200 ? listing : refusedAnswer(refusal);
    }
    if (body.length === 0) checkEnd(address.host, 0, size, undefined);
    return { status: 200, lastModified, ...(await bodyAnswer(body, request)), ...cut };
  }

  async #list(connection: FtpConnection, path: string): Promise<Answer> {
    const found = await connection.list(path, this.#options.maxEntries ?? 100_000);
    if ('code' in found) return refusedAnswer(found);
    const entries = found.files.flatMap((file) => entryName(file) ?? []);
    const unique = [...new Set(entries)].sort((a, b) => (a < b ? -1 : 1));
    return {
      status: 200,
      contentType: DIRECTORY_TYPE,
      entries: unique,
      truncated: found.truncated,
    };
  }
}

/** @throws ConnectionError if a transfer ended too soon, as far as that can be known */
function checkEnd(
  host: string,
  length: number,
  size: number | undefined,
  refusal: FtpRefusal | undefined,
): void {
  if (refusal !== undefined)
    throw new ConnectionError(`${host}: the server ended the transfer: ${refusal.text}`);
  if (size !== undefined && length < size)
    throw new ConnectionError(`${host}: only ${length} of ${size} bytes arrived`);
}

/** 5xx is permanent, 4xx is temporary. */
function refusedAnswer({ code, text }: FtpRefusal): Answer {
  const status = code === 530 || code === 532 ? 401 : code >= 500 ? 404 : 503;
  return { status, headers: { 'ftp-reply': text.replace(/[\0-\x1f]+/g, ' ') } };
}

/**
 * The name as it appears in `entries`; undefined for a name that a command cannot contain. The target of a
 * symbolic link is unknown until it is fetched, so a link has no slash. A link to a parent directory is left
 * out, because it would make the listing endless.
 */
function entryName(file: FileInfo): string | undefined {
  const name = entryOfBytes(Buffer.from(file.name, 'latin1'));
  if (name === '.' || name === '..' || name === '' || /[/\r\n\0]/.test(name)) return undefined;
  if (file.isSymbolicLink && leadsUp(file.link?.trim() ?? name)) return undefined;
  return file.isDirectory ? `${name}/` : name;
}

/** Whether a path consists of dots and slashes only. */
function leadsUp(path: string): boolean {
  return path.split('/').every((part) => part === '' || part === '.' || part === '..');
}
