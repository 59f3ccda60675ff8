// Creates a fastify application and opens its port.
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { CloseStack } from '../../protocols/close-stack.js';
import { ConnectionError, messageOf } from '../../protocols/errors.js';
import { type Asset, addAssets } from './assets.js';
import { decodeFields } from './form-fields.js';

/** Maximum number of bytes of a request's body, unless an application sets its own limit. */
const MAX_BODY_BYTES = 64 * 1024;

/** Milliseconds in which a request must arrive, header and body. */
const REQUEST_TIMEOUT_MS = 30_000;

type Awaitable<T> = T | Promise<T>;

/** The options of {@link createApplication}. */
export interface ApplicationOptions {
  /** Headers of every reply, usually from `securityHeaders`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly assets: readonly Asset[];
  /**
   * Bodies that are read: fields of a form, also JSON, or none. Others are answered with 415; `none` discards every
   * body.
   */
  readonly bodies: 'form' | 'form and json' | 'none';
  /** Default 64 KiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Connections at once that the application accepts itself. Default: no limit. */
  readonly maxConnections?: number | undefined;
  /** Adds a HEAD route to each GET route. Off for applications with a GET that streams or that changes something. Default true. */
  readonly headRoutes?: boolean;
  /** Runs before every request, malformed ones too. A reply that it sends ends the request. */
  readonly admit?: (request: FastifyRequest, reply: FastifyReply) => Awaitable<FastifyReply | undefined>;
  /** Replies to a path that has no route. */
  readonly notFound: (request: FastifyRequest, reply: FastifyReply) => Awaitable<FastifyReply>;
  /** Replies to a request that failed: a status from 400 to 499 if the request is at fault, else 500. */
  readonly failed: (failure: Failure) => Awaitable<FastifyReply>;
  /** Receives every error that is not the request's fault. */
  readonly logFailure?: (error: unknown) => void;
  /** Adds the application's own routes and hooks. */
  readonly routes: (app: FastifyInstance) => Awaitable<void>;
}

/** A request that failed. */
interface Failure {
  readonly error: unknown;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly status: number;
}

/**
 * Creates an application that is ready for requests but has no port yet. Addresses in `X-Forwarded-For` are not
 * trusted, because the password throttle counts by address. Closing the application drops open connections.
 */
export async function createApplication(options: ApplicationOptions): Promise<FastifyInstance> {
  const { headers, admit, bodies } = options;
  const failed = (error: unknown, request: FastifyRequest, reply: FastifyReply): Awaitable<FastifyReply> => {
    const status = statusOf(error);
    if (status === 500) options.logFailure?.(error);
    return options.failed({ error, request, reply, status });
  };
  await using opened = new CloseStack();
  const app = fastify({
    bodyLimit: options.maxBodyBytes ?? MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    forceCloseConnections: true,
    exposeHeadRoutes: options.headRoutes ?? true,
    trustProxy: false,
    // A URL that cannot be decoded: fastify runs no hooks for it.
    frameworkErrors: async (error, request, reply) => {
      reply.headers(headers);
      return (await admit?.(request, reply)) ?? failed(error, request, reply);
    },
  });
  opened.defer(() => app.close());
  if (options.maxConnections !== undefined) app.server.maxConnections = options.maxConnections;
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(headers);
    return admit?.(request, reply);
  });
  addBodyParsers(app, bodies);
  app.setNotFoundHandler(options.notFound);
  app.setErrorHandler(failed);
  await addAssets(app, options.assets);
  await options.routes(app);
  await app.ready();
  opened.move();
  return app;
}

function addBodyParsers(app: FastifyInstance, bodies: ApplicationOptions['bodies']): void {
  if (bodies === 'form and json') app.removeContentTypeParser('text/plain');
  else app.removeAllContentTypeParsers();
  if (bodies === 'none') {
    app.addContentTypeParser('*', (_request, body, done) => {
      body.resume();
      done(null);
    });
    return;
  }
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => done(null, decodeFields(body.toString())),
  );
}

function statusOf(error: unknown): number {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : 500;
}

/** An address that an application listens on. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * Opens the port of an application; port 0 takes a free one. An application that cannot listen is closed.
 *
 * @param name of the server, the beginning of the error message
 * @throws ConnectionError when the port is not available
 */
export async function listenOn(app: FastifyInstance, address: Address, name: string): Promise<Address> {
  const { host, port } = address;
  try {
    await app.listen({ host, port });
  } catch (cause) {
    await app.close();
    throw new ConnectionError(`${name}: cannot listen on ${host}:${port}: ${messageOf(cause)}`, { cause });
  }
  const bound = app.server.address();
  return bound === null || typeof bound === 'string' ? address : { host: bound.address, port: bound.port };
}

/** The URL of the first page as this machine reaches it: at the loopback address for a server that listens on all addresses. */
export function localUrl({ host, port }: Address): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}/`;
}
