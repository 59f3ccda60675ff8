// A server that answers as OpenSearch does, or as a test scripts it.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Test } from 'tap';
import { listen } from '../../helpers/daemon.js';
import { TLS_CERTIFICATE, TLS_KEY } from '../../helpers/tls.js';

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly authorization: string | undefined;
}
export interface Reply {
  readonly status: number;
  readonly body: unknown;
}
/** What the server answers; undefined: what OpenSearch would. */
export type Script = (request: Request) => Reply | 'hang up' | undefined | Promise<Reply | undefined>;

export const refusal = (status: number, type: string, reason: string): Reply => ({
  status,
  body: { error: { root_cause: [{ type, reason }], type, reason }, status },
});
/** As much of OpenSearch as the engine needs, for one index without words. */
export class FakeCluster {
  readonly requests: Request[] = [];
  script: Script = () => undefined;
  #meta: unknown;
  #alias: string | undefined;

  constructor(readonly number = '2.19.1') {}

  async answer(request: Request): Promise<Reply | 'hang up'> {
    this.requests.push(request);
    return (await this.script(request)) ?? this.#usual(request);
  }

  #usual({ method, path, body }: Request): Reply {
    const ok = (reply: unknown = { acknowledged: true }): Reply => ({ status: 200, body: reply });
    if (path === '/') return ok({ version: { number: this.number, distribution: 'opensearch' } });
    if (path.endsWith('/_mapping') && method === 'PUT') {
      this.#meta = JSON.parse(body);
      return ok();
    }
    if (path.endsWith('/_mapping')) {
      const name = /^\/(\w+-\d+)\//.exec(path)?.[1] ?? this.#alias;
      return name === undefined || this.#meta === undefined
        ? refusal(404, 'index_not_found_exception', 'no such index')
        : ok({ [name]: { mappings: this.#meta } });
    }
    if (path === '/_aliases') {
      this.#alias = /"add":\{"index":"([^"]*)"/.exec(body)?.[1];
      return ok();
    }
    if (path.endsWith('/_bulk')) return ok(bulkReply(body, () => ({ status: 200 })));
    if (path === '/_cluster/health') return ok({ status: 'green', number_of_nodes: 1 });
    if (path.startsWith('/_cat/allocation')) return ok([{ node: 'UNASSIGNED' }]);
    if (path.endsWith('/_settings')) return ok({ [path.split('/')[1] ?? '']: { settings: { index: {} } } });
    if (path.endsWith('/_msearch')) {
      const responses = body
        .trim()
        .split('\n')
        .flatMap((_, i) => (i % 2 === 0 ? [] : [{ hits: { total: { value: 0 } } }]));
      return ok({ responses });
    }
    if (path.includes('/_validate/')) return ok({ explanations: [] });
    if (path.endsWith('/_termvectors')) return ok({});
    if (path.endsWith('/_count')) return ok({ count: 0 });
    if (path.includes('/point_in_time') && method === 'POST') return ok({ pit_id: 'state' });
    if (path.startsWith('/_search?')) return ok({ hits: { hits: [] } });
    if (method === 'PUT') this.#meta = (JSON.parse(body) as { mappings: unknown }).mappings;
    return ok();
  }

  of(part: string): Request[] {
    return this.requests.filter(({ path }) => path.includes(part));
  }
}

/** The reply to a bulk request, by its documents. */
export function bulkReply(
  body: string,
  statusOf: (id: string) => { status: number; error?: unknown },
): unknown {
  const ids = [...body.matchAll(/^\{"(?:index|delete)":\{"_id":"(\d+)"/gm)].map(([, id = '']) => id);
  const items = ids.map((_id) => ({ index: { _id, ...statusOf(_id) } }));
  return { errors: items.some(({ index }) => index.status >= 300), items };
}

export async function serve(t: Test, cluster: FakeCluster, isSecure = false): Promise<string> {
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const { method = '', url: path = '', headers } = incoming;
    const body = Buffer.concat(parts).toString();
    const reply = await cluster.answer({ method, path, body, authorization: headers.authorization });
    if (reply === 'hang up') incoming.socket.destroy();
    else
      outgoing
        .writeHead(reply.status, { 'content-type': 'application/json' })
        .end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body));
  };
  const server = isSecure
    ? createSecureServer({ key: TLS_KEY, cert: TLS_CERTIFICATE }, answer)
    : createServer(answer);
  const port = await listen(server);
  t.teardown(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return `${isSecure ? 'https' : 'http'}://127.0.0.1:${port}`;
}
