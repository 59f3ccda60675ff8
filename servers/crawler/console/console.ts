import { readFile } from 'node:fs/promises';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { ConnectionError, messageOf, UsageError } from '../../../protocols/errors.js';
import type { Logger } from '../../host/index.js';
import type { CrawlControl } from '../control.js';
import { type Caller, ConsoleAccess, isFromElsewhere, isOurHost, type Refusal } from './access.js';
import { addApi, fieldsOf } from './api.js';
import { removeConsoleFile, writeConsoleFile } from './console-file.js';
import { SnapshotFeed } from './feed.js';
import { messagePage } from './page.js';
import { addPages, page } from './pages.js';

/** What {@link CrawlConsole.start} needs. */
export interface CrawlConsoleOptions {
  /** The crawl that is shown and told. */
  readonly control: CrawlControl;
  /** Address to listen on, default 127.0.0.1. Anything beyond loopback needs a password. */
  readonly host?: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Empty: only the token in `file` lets somebody in. */
  readonly password: string;
  /** Ends the console. */
  readonly signal?: AbortSignal;
  /** The crawl's name, for titles. */
  readonly name: string;
  readonly log: Logger;
  /** Further names under which browsers may ask for it; addresses and `localhost` always may. */
  readonly allowedHosts?: readonly string[];
  /** Where address and token are written for local commands (mode 0600), usually `GATHERER/console.json`. */
  readonly file?: string;
  /** Milliseconds between snapshots, default 1000; 0: none by itself. */
  readonly intervalMs?: number;
  /** Connections at once, default 128. */
  readonly maxConnections?: number;
  /** Streams of events at once, default 32. */
  readonly maxFollowers?: number;
  /** Most bytes of a form, default 16 KiB. */
  readonly maxBodyBytes?: number;
}

/** What the routes work with. */
export interface ConsoleContext {
  readonly control: CrawlControl;
  readonly feed: SnapshotFeed;
  readonly access: ConsoleAccess;
  readonly name: string;
  readonly log: Logger;
  /** Who asks; every request but those for the login page has been let in. */
  callerOf(request: FastifyRequest): Caller;
  /** Cookies do not know ports: two consoles of one machine have two names. */
  cookieName(request: FastifyRequest): string;
}

/** Nothing but our own files is loaded, nothing written into a page runs, nobody frames us. */
const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  // With `no-referrer` browsers would not say either where a form was sent from.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** Files, and the paths under which everybody may have them: the login page needs them. The look is the Broker's. */
const ASSETS = [
  { path: '/style.css', file: '#web-assets/style.css', type: 'text/css; charset=utf-8' },
  { path: '/console.css', file: '#console-assets/console.css', type: 'text/css; charset=utf-8' },
  { path: '/console.js', file: '#console-assets/console.js', type: 'text/javascript; charset=utf-8' },
  { path: '/icon.svg', file: '#console-assets/icon.svg', type: 'image/svg+xml' },
  { path: '/favicon.ico', file: '#console-assets/icon.svg', type: 'image/svg+xml' },
] as const;

const OPEN_PATHS: ReadonlySet<string> = new Set(['/login', ...ASSETS.map(({ path }) => path)]);

/** Shows a running crawl, and tells it what to do: page, events, JSON and metrics on one port (issue 7, CRAWL-20, 22). */
export class CrawlConsole implements AsyncDisposable {
  readonly address: { readonly host: string; readonly port: number };
  /** URL of the page, as this machine reaches it. */
  readonly url: string;
  /** Lets its bearer look and act; new with every start. */
  readonly token: string;
  readonly #app: FastifyInstance;
  readonly #feed: SnapshotFeed;
  readonly #options: CrawlConsoleOptions;
  #closed: Promise<void> | undefined;

  private constructor(
    app: FastifyInstance,
    context: ConsoleContext,
    options: CrawlConsoleOptions,
    address: { readonly host: string; readonly port: number },
  ) {
    this.#app = app;
    this.#feed = context.feed;
    this.#options = options;
    this.token = context.access.token;
    this.address = address;
    this.url = localUrl(address);
  }

  /**
   * Listens, and writes the file for local commands.
   *
   * @throws UsageError when it would listen beyond loopback without a password
   * @throws ConnectionError when the port cannot be had
   * @throws StorageError when the file cannot be written
   */
  static async start(options: CrawlConsoleOptions): Promise<CrawlConsole> {
    const { host = '127.0.0.1', port, password, signal, name, log, control } = options;
    signal?.throwIfAborted();
    if (password === '' && !isLoopback(host))
      throw new UsageError(`console: a password is wanted to listen on ${host}`);
    const access = new ConsoleAccess(password);
    const feed = new SnapshotFeed({ ...options, control, log });
    const callers = new WeakMap<FastifyRequest, Caller>();
    const context: ConsoleContext = {
      control,
      feed,
      access,
      name,
      log,
      callerOf(request) {
        const caller = callers.get(request);
        if (caller === undefined) throw new UsageError('console: nobody was let in');
        return caller;
      },
      cookieName: (request) => `harvest-console-${request.socket.localPort ?? 0}`,
    };
    const app = await createApp(options, context, callers);
    try {
      await app.listen({ host, port });
    } catch (cause) {
      feed[Symbol.dispose]();
      await app.close();
      const why = messageOf(cause);
      throw new ConnectionError(`console: cannot listen on ${host}:${port}: ${why}`, { cause });
    }
    const bound = app.server.address();
    const address =
      bound === null || typeof bound === 'string'
        ? { host, port }
        : { host: bound.address, port: bound.port };
    const made = new CrawlConsole(app, context, options, address);
    try {
      await made.#begin();
    } catch (error) {
      await made.close();
      throw error;
    }
    return made;
  }

  /** Takes a snapshot now, beside that of every second: a change of state is seen at once. */
  sample(): void {
    this.#feed.tick();
  }

  /** Ends streams and connections, and takes the file away. */
  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #begin(): Promise<void> {
    const { file, name, signal } = this.#options;
    if (file !== undefined)
      await writeConsoleFile(file, { url: this.url, token: this.token, pid: process.pid, name });
    signal?.throwIfAborted();
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  readonly #onAbort = (): void => {
    this.close().catch((error: unknown) => this.#options.log.error({ err: error }, 'console: close'));
  };

  async #end(): Promise<void> {
    const { file, signal } = this.#options;
    signal?.removeEventListener('abort', this.#onAbort);
    this.#feed[Symbol.dispose]();
    if (file !== undefined) await removeConsoleFile(file, this.token);
    await this.#app.close();
  }
}

async function createApp(
  options: CrawlConsoleOptions,
  context: ConsoleContext,
  callers: WeakMap<FastifyRequest, Caller>,
): Promise<FastifyInstance> {
  const app = fastify({
    bodyLimit: options.maxBodyBytes ?? 16 * 1024,
    requestTimeout: 30_000,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
  });
  app.server.maxConnections = options.maxConnections ?? 128;
  const allowed = new Set((options.allowedHosts ?? []).map((name) => name.toLowerCase()));
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(SECURITY_HEADERS);
    if (!isOurHost(request.headers.host, allowed))
      return refuse(request, reply, 421, 'This is not that host.');
    const path = request.url.split('?', 1)[0] ?? '';
    if (OPEN_PATHS.has(path)) return undefined;
    const caller = context.access.identify(request.headers, request.ip, context.cookieName(request));
    if (caller.by === 'nobody') return refuseNobody(request, reply, caller);
    callers.set(request, caller);
    return undefined;
  });
  // A browser sends its cookie with whatever it is told to send: only our own forms have the token.
  app.addHook('preHandler', async (request, reply) => {
    if (request.method !== 'POST' || !callers.has(request)) return undefined;
    const caller = context.callerOf(request);
    const isOwn =
      caller.by !== 'session' ||
      context.access.isOwnForm(caller.session, fieldsOf(request).get('token') ?? '');
    if (isOwn && !isFromElsewhere(request.headers)) return undefined;
    return refuse(request, reply, 403, 'The page was too old, or this did not come from it. Try again.');
  });
  app.removeContentTypeParser('text/plain');
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => done(null, new URLSearchParams(body.toString())),
  );
  app.setNotFoundHandler((request, reply) => refuse(request, reply, 404, 'There is no such page.'));
  app.setErrorHandler((error, request, reply) => {
    const status = statusOf(error);
    if (status < 500) return refuse(request, reply, status, 'The request cannot be understood.');
    context.log.error({ err: error }, 'console');
    return refuse(request, reply, 500, 'The console failed; the log says why.');
  });
  for (const { path, file, type } of ASSETS) {
    const content = await readFile(new URL(import.meta.resolve(file)));
    app.get(path, (_request, reply) =>
      reply.type(type).header('cache-control', 'max-age=3600').send(content),
    );
  }
  addPages(app, context);
  addApi(app, context);
  await app.ready();
  return app;
}

/** Browsers are sent to the login page, programs are told. */
function refuseNobody(request: FastifyRequest, reply: FastifyReply, { seconds }: Refusal): FastifyReply {
  if (seconds > 0) {
    reply.header('retry-after', String(seconds));
    return refuse(request, reply, 429, `Too many wrong passwords: wait ${seconds} seconds.`);
  }
  if (wantsPage(request)) return reply.redirect('/login', 303);
  return refuse(request, reply, 401, 'A password or token is wanted.');
}

function refuse(request: FastifyRequest, reply: FastifyReply, status: number, text: string): FastifyReply {
  if (wantsPage(request)) return page(reply, status, messagePage('Not done', text));
  return reply.code(status).header('cache-control', 'no-store').send({ ok: false, error: text });
}

function wantsPage({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') === true;
}

function statusOf(error: unknown): number {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' ? status : 500;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** A server that listens everywhere is reached at the loopback address. */
function localUrl({ host, port }: { readonly host: string; readonly port: number }): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}/`;
}
