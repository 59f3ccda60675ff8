// The TCP server of gatherd.
import { CloseStack } from '../../protocols/close-stack.js';
import { BUSY_LINE, MAKE_ROOM_LINE } from '../../protocols/gatherd/index.js';
import { HostedServer, type HostOptions, TcpHost } from '../host/tcp-host.js';
import { GatherdService, type GatherdServiceOptions } from './service.js';

/** The defaults of the host, except `maxConnections`: 2048 (GATHERD-12.4 requires 32). */
export interface GatherdServerOptions
  extends GatherdServiceOptions,
    Omit<HostOptions, 'name' | 'signal' | 'lastWords'> {}

/** Serves a Gatherer's database on a TCP port. */
export class GatherdServer extends HostedServer {
  readonly service: GatherdService;

  private constructor(host: TcpHost, service: GatherdService) {
    super(host);
    this.service = service;
  }

  /** Listens and follows the generations. @throws ConnectionError when the address is not available */
  static async listen(options: GatherdServerOptions): Promise<GatherdServer> {
    await using parts = new CloseStack();
    const service = parts.use(new GatherdService(options));
    let port = options.port;
    const { maxConnections = 2048 } = options;
    const host = await TcpHost.listen(
      {
        ...options,
        name: 'gatherd',
        maxConnections,
        lastWords: { refused: BUSY_LINE, evicted: MAKE_ROOM_LINE },
      },
      (connection) => service.serve(connection, port),
    );
    port = host.address.port;
    options.log.info(`listening on ${host.address.host}${port === 0 ? '' : `:${port}`}`);
    parts.move();
    return new GatherdServer(host, service);
  }

  /** Closes the sessions (see {@link TcpHost.close}), then the database. */
  override async close(options?: { readonly graceMs?: number }): Promise<void> {
    await super.close(options);
    await this.service.close();
  }
}
