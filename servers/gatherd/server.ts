import { hostname as systemHostname } from 'node:os';
import { GATHERD_VERSION } from '../../protocols/gatherd/index.js';
import { Generations } from '../../storage/index.js';
import { type HostOptions, type Logger, TcpHost } from '../host/index.js';
import { admitPeer } from './access.js';
import { CurrentSnapshot, type SnapshotSource } from './current-snapshot.js';
import type { GathererIdentity } from './info.js';
import { type SessionContext, serveGatherd } from './session.js';

export interface GatherdServerOptions
  extends Pick<HostOptions, 'maxConnections' | 'drainTimeoutMs' | 'lingerMs' | 'backlog' | 'lookup'> {
  /** Where the gatherer publishes (DESIGN 4). Until it has, the database is empty. */
  readonly generationsDirectory: string;
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly log: Logger;
  /** Our full host name for the greeting (GATHERD-3.5). Default: the system's. */
  readonly hostname?: string;
  /** Version text of the greeting. Default `1.8`. */
  readonly version?: string;
  /** Who INFO says we are. Default: whoever made the newest object, and our port. */
  readonly identity?: GathererIdentity;
  /** A gatherd.cf (GATHERD-9). Default: everybody may connect. */
  readonly accessFile?: string;
  /** Whether compression is offered. Default true. */
  readonly compression?: boolean;
  /** Milliseconds without a complete command. Default 120 000 (GATHERD-12.3). */
  readonly idleTimeoutMs?: number;
  /** Bytes of the longest command line. Default 8192 (GATHERD-2.4). */
  readonly maxLineBytes?: number;
  /** Replaces the generations directory. */
  readonly source?: SnapshotSource;
}

/** The daemon that exports a Gatherer's database. */
export class GatherdServer implements AsyncDisposable {
  readonly #host: TcpHost;
  readonly #database: CurrentSnapshot;

  private constructor(host: TcpHost, database: CurrentSnapshot) {
    this.#host = host;
    this.#database = database;
  }

  /** Listens and follows the generations. Rejects with ConnectionError when the address cannot be had. */
  static async listen(options: GatherdServerOptions): Promise<GatherdServer> {
    const { host, log, idleTimeoutMs = 120_000, version = GATHERD_VERSION } = options;
    const hostname = options.hostname ?? systemHostname();
    const source = options.source ?? new Generations(options.generationsDirectory);
    const database = new CurrentSnapshot(source, log);
    let port = options.port;
    const context: Omit<SessionContext, 'identity'> = {
      session: {
        hostname,
        version,
        ...(options.compression === undefined ? {} : { compression: options.compression }),
        ...(options.maxLineBytes === undefined ? {} : { maxLineBytes: options.maxLineBytes }),
      },
      database,
      admit: (connection) => admitPeer(connection.peer, options.accessFile, log),
      commandTimeoutMs: idleTimeoutMs,
      log,
    };
    const identity = () => options.identity ?? { name: '', host: hostname, port, version };
    try {
      const server = await TcpHost.listen(hostOptions(options, host, idleTimeoutMs), (connection) =>
        serveGatherd(connection, { ...context, identity: identity() }),
      );
      port = server.address.port;
      log.info(`listening on ${server.address.host}:${port}`);
      return new GatherdServer(server, database);
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  get address(): { readonly host: string; readonly port: number } {
    return this.#host.address;
  }

  /** Sessions open now. */
  get connections(): number {
    return this.#host.connections;
  }

  /** Stops: sessions first (see {@link TcpHost.close}), then the database. */
  async close(options: { readonly graceMs?: number } = {}): Promise<void> {
    await this.#host.close(options);
    await this.#database.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function hostOptions(options: GatherdServerOptions, host: string, idleTimeoutMs: number): HostOptions {
  const { port, log, maxConnections, drainTimeoutMs, lingerMs, backlog, lookup } = options;
  return {
    host,
    port,
    log,
    name: 'gatherd',
    idleTimeoutMs,
    ...(maxConnections === undefined ? {} : { maxConnections }),
    ...(drainTimeoutMs === undefined ? {} : { drainTimeoutMs }),
    ...(lingerMs === undefined ? {} : { lingerMs }),
    ...(backlog === undefined ? {} : { backlog }),
    ...(lookup === undefined ? {} : { lookup }),
  };
}
