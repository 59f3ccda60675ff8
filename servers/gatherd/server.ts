// The TCP server of gatherd.
import { CloseStack } from '../../protocols/close-stack.js';
import { type HostOptions, TcpHost } from '../host/tcp-host.js';
import type { GatherdCounts } from './counts.js';
import type { ServedGeneration } from './current-snapshot.js';
import { GatherdService, type GatherdServiceOptions } from './service.js';

export interface GatherdServerOptions
  extends GatherdServiceOptions,
    Pick<
      HostOptions,
      | 'drainTimeoutMs'
      | 'minBytesPerSecond'
      | 'maxPerAddress'
      | 'lingerMs'
      | 'backlog'
      | 'listen'
      | 'lookup'
      | 'logLimits'
    > {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** Concurrent sessions (see {@link HostOptions.maxConnections}). Default 2048 (GATHERD-12.4 requires 32). */
  readonly maxConnections?: number | undefined;
}

/** Serves a Gatherer's database on a TCP port. */
export class GatherdServer implements AsyncDisposable {
  readonly #host: TcpHost;
  readonly #service: GatherdService;

  private constructor(host: TcpHost, service: GatherdService) {
    this.#host = host;
    this.#service = service;
  }

  /** Listens and follows the generations. @throws ConnectionError when the address is not available */
  static async listen(options: GatherdServerOptions): Promise<GatherdServer> {
    await using parts = new CloseStack();
    const service = parts.use(new GatherdService(options));
    let port = options.port;
    const host = await TcpHost.listen(hostOptions(options), (connection) => service.serve(connection, port));
    port = host.address.port;
    options.log.info(`listening on ${host.address.host}${port === 0 ? '' : `:${port}`}`);
    parts.move();
    return new GatherdServer(host, service);
  }

  get address(): { readonly host: string; readonly port: number } {
    return this.#host.address;
  }

  /** Number of open sessions. */
  get connections(): number {
    return this.#host.connections;
  }

  /** What it has done since the start. */
  get counts(): GatherdCounts {
    return this.#service.counts;
  }

  /** The generation that is served; undefined if none is. */
  get serving(): ServedGeneration | undefined {
    return this.#service.serving;
  }

  /** Looks for a new generation now (see {@link GatherdService.refresh}). */
  refresh(): Promise<void> {
    return this.#service.refresh();
  }

  /** Closes the sessions (see {@link TcpHost.close}), then the database. */
  async close(options: { readonly graceMs?: number } = {}): Promise<void> {
    await this.#host.close(options);
    await this.#service.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function hostOptions(options: GatherdServerOptions): HostOptions {
  const { host, port, log, maxConnections = 2048, idleTimeoutMs = 120_000 } = options;
  const {
    drainTimeoutMs,
    minBytesPerSecond,
    maxPerAddress,
    lingerMs,
    backlog,
    listen,
    lookup,
    logLimits,
    clock,
  } = options;
  return {
    host,
    port,
    log,
    name: 'gatherd',
    idleTimeoutMs,
    maxConnections,
    maxPerAddress,
    minBytesPerSecond,
    listen,
    clock,
    drainTimeoutMs,
    lingerMs,
    backlog,
    lookup,
    logLimits,
  };
}
