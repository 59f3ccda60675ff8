// Creates a fastify application and opens its port.
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { CloseStack } from '../../protocols/close-stack.js';
import { ConnectionError, StorageError } from '../../protocols/errors.js';
import { authorityOf } from '../../protocols/urls/parse-url.js';
import { type FairShare, type SessionShare, threadShare } from '../host/fair-share.js';
import { FairSocket } from '../host/fair-socket.js';
import { connectionsWithinLimit } from '../host/fd-limit.js';
import { LogLimiter, type LogLimits } from '../host/log-limit.js';
import type { NewcomerCounts } from '../host/newcomers.js';
import { listenFailure } from '../host/port-holder.js';
import { RefusalBrake } from '../host/refusal-brake.js';
import type { Certificate } from '../host/tls.js';
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

/** What {@link addApplication} adds to a fastify instance. */
export interface ApplicationParts {
  /** Headers of every reply, usually from `securityHeaders`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly assets: readonly Asset[];
  /**
   * Bodies that are read: fields of a form, also JSON, or none. Others are answered with 415; `none` discards
   * every body.
   */
  readonly bodies: 'form' | 'form and json' | 'none';
  /**
   * The application's names, read for every request: one that names another server is refused (DNS rebinding).
   * Default: every name, for an application whose owner checks it.
   */
  readonly hostNames?: () => HostNames;
  /**
   * Runs before everything else, to decide about the client's address. A reply that it sends ends the request.
   */
  readonly admitClient?: (request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined;
  /**
   * Runs before every request, malformed ones too, if its host is accepted. A reply that it sends ends the
   * request.
   */
  readonly admit?: (request: FastifyRequest, reply: FastifyReply) => Awaitable<FastifyReply | undefined>;
  /** Replies to a path that has no route. */
  readonly notFound: (request: FastifyRequest, reply: FastifyReply) => Awaitable<FastifyReply>;
  /** Replies to a request that failed: a status from 400 to 499 if the request is at fault, else 500. */
  readonly failed: (failure: Failure) => Awaitable<FastifyReply>;
  /**
   * Receives the errors that are not the request's fault, within `logLimits`, and the request's id, which the
   * reply has as `X-Request-Id`.
   */
  readonly logFailure?: (error: unknown, request: string) => void;
  /** Receives sentences about errors beyond `logLimits`: how many were left out. */
  readonly logSuppressed?: (sentence: string) => void;
  /** Limits of the errors that clients cause in the log, for each address and in all. */
  readonly logLimits?: LogLimits;
  /**
   * Whether the peer of a connection may have any other answer than 403, also to bytes that are not a request.
   * Default: every peer.
   */
  readonly admitConnection?: (socket: Socket) => boolean;
  /** Adds the application's own routes and hooks. */
  readonly routes: (app: FastifyInstance) => Awaitable<void>;
  /** Shares the event loop among the connections. Default: that of this thread. */
  readonly fairShare?: FairShare | undefined;
  /** Paths whose replies browsers often do not wait for, such as those of suggestions. Default: none. */
  readonly oftenLeft?: ReadonlySet<string> | undefined;
}

/** The options of {@link createApplication}. */
export interface ApplicationOptions extends ApplicationParts {
  /** Default 64 KiB. */
  readonly maxBodyBytes?: number | undefined;
  /**
   * Milliseconds in which a request must arrive, header and body, however many bytes arrive meanwhile. Default
   * 30 000.
   */
  readonly requestTimeoutMs?: number;
  /**
   * Limits of the connections that the application accepts itself. Default: none, for an application that is
   * given its connections.
   */
  readonly connections?: ConnectionGuardOptions;
  /**
   * Adds a HEAD route to each GET route. Off for applications with a GET that streams or that changes
   * something. Default true.
   */
  readonly headRoutes?: boolean;
  /** Serves HTTPS with this certificate. Default: HTTP. */
  readonly certificate?: Certificate | undefined;
  /**
   * Addresses and ranges (`10.0.0.0/8`) of the proxies in front: their `X-Forwarded-For` and `-Proto` are
   * believed, as far as they come from proxies of this list. Default: none.
   */
  readonly trustedProxies?: readonly string[] | undefined;
}

/** A request that failed. */
interface Failure {
  readonly error: unknown;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly status: number;
}

/**
 * Adds an application to a fastify instance, or to a context of one that has a prefix: headers, checks of each
 * request, bodies, error pages, assets and routes. The limits of connections, and of bytes that are not a
 * request, are those of the server: see {@link createApplication}.
 */
export async function addApplication(app: FastifyInstance, parts: ApplicationParts): Promise<void> {
  const limiter = new LogLimiter((text) => parts.logSuppressed?.(text), parts.logLimits);
  app.addHook('onClose', () => Promise.resolve(limiter[Symbol.dispose]()));
  const { fairShare = threadShare } = parts;
  app.addHook('onRequest', (request, reply) => waitForTurn(fairShare, request, reply));
  const brake = new RefusalBrake();
  app.addHook('onRequest', (request, reply) => slowLeavers(brake, parts, request, reply));
  app.addHook('onRequest', (request, reply) => admitRequest(parts, request, reply));
  addBodyParsers(app, parts.bodies);
  app.setNotFoundHandler(parts.notFound);
  app.setErrorHandler((error, request, reply) => replyToFailure(parts, limiter, { error, request, reply }));
  await addAssets(app, parts.assets);
  await parts.routes(app);
}

async function admitRequest(
  parts: ApplicationParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  reply.headers(parts.headers);
  return (
    parts.admitClient?.(request, reply) ??
    refuseAsterisk(request, reply) ??
    (parts.hostNames === undefined ? undefined : refuseForeignHost(request, reply, parts.hostNames())) ??
    refuseExpectation(request, reply) ??
    (await parts.admit?.(request, reply))
  );
}

function replyToFailure(
  parts: ApplicationParts,
  limiter: LogLimiter,
  failure: Omit<Failure, 'status'>,
): Awaitable<FastifyReply> {
  // Its client is gone, and so its work was ended.
  if (isAborted(failure)) return failure.reply.hijack();
  const status = statusOf(failure.error);
  if (status >= 500 && limiter.allows(failure.request.ip)) {
    failure.reply.header('x-request-id', failure.request.id);
    parts.logFailure?.(failure.error, failure.request.id);
  }
  return parts.failed({ ...failure, status });
}

/**
 * Creates an application that is ready for requests but has no port yet. `X-Forwarded-For` counts from trusted
 * proxies only, because the password throttle counts by address. Closing the application drops open
 * connections.
 */
export async function createApplication(options: ApplicationOptions): Promise<FastifyInstance> {
  const { headers, certificate, requestTimeoutMs = REQUEST_TIMEOUT_MS, trustedProxies = [] } = options;
  const { fairShare = threadShare } = options;
  await using opened = new CloseStack();
  const limiter = new LogLimiter((text) => options.logSuppressed?.(text), options.logLimits);
  opened.defer(() => limiter[Symbol.dispose]());
  let created: GatedServer | undefined;
  const app = fastify({
    bodyLimit: options.maxBodyBytes ?? MAX_BODY_BYTES,
    serverFactory: (handler) => {
      const gated = createGatedServer(handler, {
        requestTimeout: requestTimeoutMs,
        connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, requestTimeoutMs),
        keepAliveTimeout: KEEP_ALIVE_MS,
        refusalHeaders: headers,
        tls: certificate?.options,
        fairShare,
        admits: options.admitConnection,
      });
      created = gated;
      if (gated.secure !== undefined) certificate?.uses(gated.secure);
      return gated.server;
    },
    clientErrorHandler: (error, socket) => created?.refuseUnreadable(error, socket),
    forceCloseConnections: true,
    exposeHeadRoutes: options.headRoutes ?? true,
    genReqId: () => randomUUID(),
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    // A URL that cannot be decoded: fastify runs no hooks for it.
    frameworkErrors: async (error, request, reply) =>
      (await waitForTurn(fairShare, request, reply)) ??
      (await admitRequest(options, request, reply)) ??
      replyToFailure(options, limiter, { error, request, reply }),
  });
  opened.defer(() => app.close());
  app.addHook('onClose', () => Promise.resolve(limiter[Symbol.dispose]()));
  if (options.connections !== undefined && created !== undefined) {
    const maxConnections = connectionsWithinLimit(options.connections.maxConnections);
    const counts = guardConnections(
      created,
      { ...options.connections, maxConnections },
      {
        refusalHeaders: headers,
        refused: (address) => {
          if (limiter.allows(address)) options.logSuppressed?.(`${address}: refused, too many connections`);
        },
        report: (sentence) => options.logSuppressed?.(sentence),
      },
    );
    counted.set(app, counts);
  }
  await addApplication(app, options);
  await app.ready();
  opened.move();
  return app;
}

const counted = new WeakMap<FastifyInstance, () => NewcomerCounts>();

/** What became of the connections that an application accepted; undefined if it is given its connections. */
export function newcomersOf(app: FastifyInstance): NewcomerCounts | undefined {
  return counted.get(app)?.();
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

/** RFC 9112, 3.2.4: `*` is no path, and only a target of OPTIONS. The router takes it for the first page. */
function refuseAsterisk({ method, raw }: FastifyRequest, reply: FastifyReply): FastifyReply | undefined {
  if (raw.url?.startsWith('*') !== true || method === 'OPTIONS') return undefined;
  return sendLine(reply.header('cache-control', 'no-store'), 400, 'The request target is not a path.');
}

/** RFC 9110, 10.1.1: the only expectation is a `100 Continue`, which Node sends. */
function refuseExpectation(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined {
  const { expect } = request.headers;
  if (expect === undefined || /^100-continue$/i.test(expect)) return undefined;
  return sendLine(reply.header('connection', 'close'), 417, 'This server does not know the expectation.');
}

/** The cost of a page, in milliseconds of processor time. */
const PAGE_COST_MS = 1;

/**
 * Makes a request wait while others have their turn: a client may send hundreds of them at once, over many
 * connections. The clients behind a proxy share its connections, so they are told apart by their addresses.
 */
async function waitForTurn(
  fairShare: FairShare,
  { ip, raw: { socket } }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  const isOwn = socket instanceof FairSocket && ip === socket.remoteAddress;
  const share = isOwn ? socket.share : fairShare.join(ip);
  // An end that has come with the request shows in the next turn of the event loop.
  if (socket instanceof FairSocket) await setImmediate();
  // A client that has ended its direction is looked for first (see `page-watch.ts`), and meanwhile others go on.
  const hasEnded = socket instanceof FairSocket && socket.hasPeerEnded;
  if (hasEnded || !share.mayContinue()) await turnOf(share, socket);
  share.charge(PAGE_COST_MS);
  // The client disconnected; skip rendering.
  return socket.destroyed ? reply.hijack() : undefined;
}

/**
 * Makes an address wait whose clients leave without their replies again and again, while others are served: a request
 * costs its sender nothing, and its page has begun when it is seen that they are gone. Too many of them get no reply.
 */
async function slowLeavers(
  brake: RefusalBrake,
  { oftenLeft }: ApplicationParts,
  { ip, raw: { socket }, url }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  // A Unix socket has no addresses: those who may open it are let alone.
  if (socket.remoteAddress === undefined) return undefined;
  brake.noteMessage(ip);
  const gone = new AbortController();
  const onClose = (): void => gone.abort();
  socket.once('close', onClose);
  const mayBegin = await brake.beforeSession(ip, gone.signal).catch(() => false);
  socket.off('close', onClose);
  if (!mayBegin) {
    socket.destroy();
    return reply.hijack();
  }
  if (oftenLeft?.has(url.split('?', 1)[0] ?? '') !== true)
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) brake.noteAbandoned(ip);
    });
  return undefined;
}

function isAborted({ error, request }: Omit<Failure, 'status'>): boolean {
  return request.raw.socket.destroyed && error instanceof Error && error.name === 'AbortError';
}

async function turnOf(share: SessionShare, socket: Socket): Promise<void> {
  const gone = new AbortController();
  const onClose = (): void => gone.abort();
  socket.once('close', onClose);
  await (socket instanceof FairSocket ? socket.turn(share, gone.signal) : share.turn(gone.signal));
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
    throw new ConnectionError(`${name}: cannot listen on ${host}:${port}: ${listenFailure(cause, port)}`, {
      cause,
    });
  }
  const bound = app.server.address();
  return bound === null || typeof bound === 'string' ? address : { host: bound.address, port: bound.port };
}

/** The address at which a server listening on `host` is reached from this machine. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

/**
 * The URL of the first page as this machine reaches it: at the loopback address for a server that listens on
 * all addresses.
 */
export function localUrl({ host, port }: Address, scheme: 'http' | 'https' = 'http'): string {
  return `${scheme}://${authorityOf(reachableHost(host), port)}/`;
}
