// Creates a fastify application and opens its port.
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { CloseStack } from '../../protocols/close-stack.js';
import { ConnectionError, messageOf, StorageError } from '../../protocols/errors.js';
import { FairShare, LogLimiter, type LogLimits, type Share } from '../host/index.js';
import { type Asset, addAssets } from './assets.js';
import { type ConnectionGuardOptions, guardConnections } from './connections.js';
import { decodeFields } from './form-fields.js';
import { type HostNames, hostProblem } from './own-host.js';
import { sendLine } from './replies.js';
import { createGatedServer, type GatedServer } from './request-gate.js';

/** Maximum number of bytes of a request's body, unless an application sets its own limit. */
const MAX_BODY_BYTES = 64 * 1024;

/** Default of `requestTimeoutMs`. */
const REQUEST_TIMEOUT_MS = 30_000;

/** Milliseconds for which a connection without a request stays open. */
const KEEP_ALIVE_MS = 72_000;

/** Longest time between two looks for requests that have not arrived in time. */
const TIMEOUT_CHECK_MS = 5000;

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
  /** Milliseconds in which a request must arrive, header and body, however many bytes arrive meanwhile. Default 30 000. */
  readonly requestTimeoutMs?: number;
  /** Limits of the connections that the application accepts itself. Default: none, for an application that is given its connections. */
  readonly connections?: ConnectionGuardOptions;
  /** Adds a HEAD route to each GET route. Off for applications with a GET that streams or that changes something. Default true. */
  readonly headRoutes?: boolean;
  /** The application's names, read for every request: one that names another server is refused (DNS rebinding). */
  readonly hostNames: () => HostNames;
  /** Runs before everything else, to decide about the client's address. A reply that it sends ends the request. */
  readonly admitClient?: (request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined;
  /** Runs before every request, malformed ones too, if its host is accepted. A reply that it sends ends the request. */
  readonly admit?: (request: FastifyRequest, reply: FastifyReply) => Awaitable<FastifyReply | undefined>;
  /** Replies to a path that has no route. */
  readonly notFound: (request: FastifyRequest, reply: FastifyReply) => Awaitable<FastifyReply>;
  /** Replies to a request that failed: a status from 400 to 499 if the request is at fault, else 500. */
  readonly failed: (failure: Failure) => Awaitable<FastifyReply>;
  /** Receives the errors that are not the request's fault, within `logLimits`. */
  readonly logFailure?: (error: unknown) => void;
  /** Receives sentences about errors beyond `logLimits`: how many were left out. */
  readonly logSuppressed?: (sentence: string) => void;
  /** Limits of the errors that clients cause in the log, for each address and in all. */
  readonly logLimits?: LogLimits;
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
  const { headers, bodies, requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  const admit = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    reply.headers(headers);
    return (
      options.admitClient?.(request, reply) ??
      refuseForeignHost(request, reply, options.hostNames()) ??
      refuseExpectation(request, reply) ??
      (await options.admit?.(request, reply))
    );
  };
  const failed = (error: unknown, request: FastifyRequest, reply: FastifyReply): Awaitable<FastifyReply> => {
    const status = statusOf(error);
    if (status >= 500 && limiter.allows(request.ip)) options.logFailure?.(error);
    return options.failed({ error, request, reply, status });
  };
  await using opened = new CloseStack();
  const limiter = new LogLimiter((text) => options.logSuppressed?.(text), options.logLimits);
  let refuseUnreadable: GatedServer['refuseUnreadable'] = (_error, socket) => socket.destroy();
  const app = fastify({
    bodyLimit: options.maxBodyBytes ?? MAX_BODY_BYTES,
    serverFactory: (handler) => {
      const gated = createGatedServer(handler, {
        requestTimeout: requestTimeoutMs,
        connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, requestTimeoutMs),
        keepAliveTimeout: KEEP_ALIVE_MS,
        refusalHeaders: headers,
      });
      ({ refuseUnreadable } = gated);
      return gated.server;
    },
    clientErrorHandler: (error, socket) => refuseUnreadable(error, socket),
    forceCloseConnections: true,
    exposeHeadRoutes: options.headRoutes ?? true,
    trustProxy: false,
    // A URL that cannot be decoded: fastify runs no hooks for it.
    frameworkErrors: async (error, request, reply) =>
      (await admit(request, reply)) ?? failed(error, request, reply),
  });
  opened.defer(() => app.close());
  if (options.connections !== undefined) guardConnections(app.server, options.connections);
  app.addHook('onClose', () => Promise.resolve(limiter[Symbol.dispose]()));
  shareEventLoop(app);
  app.addHook('onRequest', admit);
  addBodyParsers(app, bodies);
  app.setNotFoundHandler(options.notFound);
  app.setErrorHandler(failed);
  await addAssets(app, options.assets);
  await options.routes(app);
  await app.ready();
  opened.move();
  return app;
}

function refuseForeignHost(
  request: FastifyRequest,
  reply: FastifyReply,
  names: HostNames,
): FastifyReply | undefined {
  const problem = hostProblem(request.raw, names);
  if (problem === undefined) return undefined;
  return sendLine(reply.header('cache-control', 'no-store'), problem.status, problem.text);
}

/** RFC 9110, 10.1.1: the only expectation is a `100 Continue`, which Node sends. */
function refuseExpectation(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined {
  const { expect } = request.headers;
  if (expect === undefined || /^100-continue$/i.test(expect)) return undefined;
  return sendLine(reply.header('connection', 'close'), 417, 'This server does not know the expectation.');
}

/** What a page costs, in milliseconds of processor time. */
const PAGE_COST_MS = 1;

/** Makes requests wait while others have their turn: a client may send hundreds of them at once, over many connections. */
function shareEventLoop(app: FastifyInstance): void {
  const fairShare = new FairShare();
  const shares = new WeakMap<Socket, Share>();
  app.addHook('onRequest', async ({ raw: { socket } }, reply) => {
    const share = shares.get(socket) ?? fairShare.join(socket.remoteAddress);
    shares.set(socket, share);
    if (!share.mayContinue()) await waitForTurn(share, socket);
    share.charge(PAGE_COST_MS);
    // The client is gone: there is no need to make its page.
    return socket.destroyed ? reply.hijack() : undefined;
  });
}

async function waitForTurn(share: Share, socket: Socket): Promise<void> {
  const gone = new AbortController();
  const onClose = (): void => gone.abort();
  socket.once('close', onClose);
  await share.turn(gone.signal);
  socket.off('close', onClose);
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
  if (typeof status === 'number' && status >= 400 && status < 500) return status;
  // The program is in order, but its files are not.
  return error instanceof StorageError ? 503 : 500;
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
