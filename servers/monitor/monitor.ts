// The port of a monitor: health, readiness, metrics.
import type { FastifyInstance } from 'fastify';
import { messageOf } from '../../protocols/errors.js';
import { authorityOf } from '../../protocols/urls/parse-url.js';
import type { Address } from '../web/application.js';
import type { MonitoredServer } from './figures.js';

export interface MonitorOptions {
  /** Where it listens: a host and a port (0: a free one), or the path of a socket in the file system. */
  readonly address: Address | { readonly path: string };
  readonly servers: readonly MonitoredServer[];
  readonly log: { error(line: string): void };
}

/**
 * Answers `/healthz` (200 while the process answers at all), `/readyz` (200 if every server can do its work,
 * else 503 and the reasons) and `/metrics` (Prometheus). It has no access list: its port belongs to loopback or
 * to a network of operators.
 */
export class Monitor implements AsyncDisposable {
  readonly #app: FastifyInstance;

  private constructor(
    app: FastifyInstance,
    /** `host:port`, or the path. */
    readonly address: string,
  ) {
    this.#app = app;
  }

  /** @throws ConnectionError when it cannot listen there */
  static async listen({ address, servers, log }: MonitorOptions): Promise<Monitor> {
    // Few servers have a monitor; the others need neither fastify nor the metrics.
    const [{ createApplication, listenOn }, { sendLine }, { securityHeaders }, { Metrics }] =
      await Promise.all([
        import('../web/application.js'),
        import('../web/replies.js'),
        import('../web/security-headers.js'),
        import('./metrics.js'),
      ]);
    const metrics = new Metrics(servers);
    const app = await createApplication({
      headers: { ...securityHeaders({ referrer: 'no-referrer' }), 'cache-control': 'no-store' },
      assets: [],
      bodies: 'none',
      connections: { maxConnections: 64 },
      notFound: (_request, reply) => sendLine(reply, 404, 'There are /healthz, /readyz and /metrics.'),
      failed: ({ reply, status }) => sendLine(reply, status, 'The request failed.'),
      hostNames: () => ({ names: [], remedy: 'ask by the address' }),
      logFailure: (error) => log.error(`the monitor failed: ${messageOf(error)}`),
      logSuppressed: (sentence) => log.error(`monitor: ${sentence}`),
      routes: (app) => {
        app.get('/healthz', () => ({ status: 'ok' }));
        app.get('/readyz', (_request, reply) => {
          const problems = servers.flatMap(({ name, problems }) =>
            problems().map((text) => `${name}: ${text}`),
          );
          const notes = servers.flatMap(({ name, notes }) =>
            (notes?.() ?? []).map((text) => `${name}: ${text}`),
          );
          return reply.code(problems.length === 0 ? 200 : 503).send({
            status: problems.length === 0 ? 'ready' : 'not ready',
            problems,
            ...(notes.length === 0 ? {} : { notes }),
          });
        });
        app.get('/metrics', async (_request, reply) =>
          reply.type(metrics.contentType).send(await metrics.text()),
        );
      },
    });
    if ('path' in address) {
      await app.listen({ path: address.path });
      return new Monitor(app, address.path);
    }
    const { host, port } = await listenOn(app, address, 'monitor');
    return new Monitor(app, authorityOf(host, port));
  }

  close(): Promise<void> {
    return this.#app.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
