import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CloseStack } from '../../../protocols/close-stack.js';
import { StateError, UsageError } from '../../../protocols/errors.js';
import { type Certificate, type Logger, LogLimiter } from '../../host/index.js';
import { type Address, createApplication, listenOn, localUrl } from '../../web/application.js';
import type { Asset } from '../../web/assets.js';
import { pathOf } from '../../web/form-fields.js';
import { isCrossOrigin } from '../../web/request-origin.js';
import { securityHeaders } from '../../web/security-headers.js';
import { visitorOf } from '../../web/visitor.js';
import type { CrawlControl } from '../controller.js';
import { type Caller, ConsoleAccess, type Refusal } from './access.js';
import { fieldsOf } from './actions.js';
import { addApi } from './api.js';
import { removeConsoleFile, writeConsoleFile } from './console-file.js';
import type { ConsoleContext } from './context.js';
import { SnapshotFeed } from './feed.js';
import { messagePage } from './page.js';
import { addPageRoutes, sendUncached } from './routes.js';

/** Options of {@link CrawlConsole.start}. */
export interface CrawlConsoleOptions {
  /** The crawl that is shown and controlled. */
  readonly control: CrawlControl;
  /** Address to listen on, default 127.0.0.1. Any other address than loopback requires a password. */
  readonly host?: string;
  /** TCP port; 0 for a free one. */
  readonly port: number;
  /** Serves HTTPS with this certificate. Default: HTTP. */
  readonly certificate?: Certificate | undefined;
  /** Empty: only the token in `file` gives access. */
  readonly password: string;
  /** Closes the console when aborted. */
  readonly signal?: AbortSignal;
  /** The crawl's name, for titles. */
  readonly name: string;
  readonly log: Logger;
  /**
   * Names other than `localhost` that browsers may use in URLs of the console; addresses are always allowed.
   */
  readonly allowedHosts?: readonly string[];
  /** File for address and token, which local commands read (mode 0600); usually `GATHERER/console.json`. */
  readonly file?: string;
  /** Milliseconds between snapshots, default 1000; 0: only {@link SnapshotFeed.tick} takes them. */
  readonly intervalMs?: number;
  /** Maximum number of concurrent connections; default 128. */
  readonly maxConnections?: number;
  /**
   * Maximum number of concurrent streams of events; default 32. A newcomer ends the oldest one of the address
   * with the most.
   */
  readonly maxFollowers?: number;
  /**
   * Maximum number of streams of one IPv4 address or IPv6 /64. Default: a quarter of `maxFollowers`; for this
   * machine all of them.
   */
  readonly maxFollowersPerAddress?: number;
  /** Maximum number of bytes of a form, default 16 KiB. */
  readonly maxBodyBytes?: number;
}

const HEADERS = securityHeaders({
  scripts: true,
  images: true,
  connections: true,
  referrer: 'same-origin',
  more: { 'cross-origin-resource-policy': 'same-origin' },
});

/** Files that need no login, because the login page needs them. */
const ASSETS: readonly Asset[] = [
  { path: '/style.css', file: '#web-assets/style.css' },
  { path: '/console.css', file: '#console-assets/console.css' },
  { path: '/console.js', file: '#console-assets/console.js' },
  { path: '/icon.svg', file: '#console-assets/icon.svg' },
  { path: '/favicon.ico', file: '#console-assets/icon.svg' },
];

const OPEN_PATHS: ReadonlySet<string> = new Set(['/login', ...ASSETS.map(({ path }) => path)]);

/** Shows and controls a running crawl: page, events, JSON and metrics on one port (CRAWL-20, 22). */
export class CrawlConsole implements AsyncDisposable {
  readonly address: Address;
  /** URL of the page, as this machine reaches it. */
  readonly url: string;
  /** Gives its bearer full access; random at each start. */
  readonly token: string;
  readonly #app: FastifyInstance;
  readonly feed: SnapshotFeed;
  readonly #options: CrawlConsoleOptions;
  #closed: Promise<void> | undefined;

  private constructor(
    app: FastifyInstance,
    context: ConsoleContext,
    options: CrawlConsoleOptions,
    address: Address,
  ) {
    this.#app = app;
    this.feed = context.feed;
    this.#options = options;
    this.token = context.access.token;
    this.address = address;
    this.url = localUrl(address, options.certificate === undefined ? 'http' : 'https');
  }

  /**
   * Listens, and writes the file for local commands.
   *
   * @throws UsageError without a password for any other address than loopback
   * @throws ConnectionError when the port is not available
   * @throws StorageError when the file cannot be written
   */
  static async start(options: CrawlConsoleOptions): Promise<CrawlConsole> {
    const { host = '127.0.0.1', port, password, signal, name, log, control } = options;
    signal?.throwIfAborted();
    if (password === '' && !isLoopback(host))
      throw new UsageError(`console: a password is required to listen on ${host}`);
    const access = new ConsoleAccess(password);
    const feed = new SnapshotFeed({ ...options, control, log });
    const callers = new WeakMap<FastifyRequest, Caller>();
    const context: ConsoleContext = {
      control,
      feed,
      access,
      name,
      log,
      lines: new LogLimiter((text) => log.warn(`console: ${text}`)),
      callerOf(request) {
        const caller = callers.get(request);
        if (caller === undefined) throw new StateError('console: the request has no caller');
        return caller;
      },
      secure: options.certificate !== undefined,
      cookieName: (request) => `harvest-console-${request.socket.localPort ?? 0}`,
    };
    await using opened = new CloseStack();
    opened.use(feed);
    const app = opened.adopt(await createApp(options, context, callers), (app) => app.close());
    const address = await listenOn(app, { host, port }, 'console');
    const console = new CrawlConsole(app, context, options, address);
    opened.use(console);
    await console.#begin();
    opened.move();
    return console;
  }

  /** Ends streams and connections, and removes the file. */
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
    this.feed[Symbol.dispose]();
    if (file !== undefined) await removeConsoleFile(file, this.token);
    await this.#app.close();
  }
}

function createApp(
  options: CrawlConsoleOptions,
  context: ConsoleContext,
  callers: WeakMap<FastifyRequest, Caller>,
): Promise<FastifyInstance> {
  const names = options.allowedHosts ?? [];
  return createApplication({
    headers: HEADERS,
    assets: ASSETS,
    bodies: 'form and json',
    maxBodyBytes: options.maxBodyBytes ?? 16 * 1024,
    certificate: options.certificate,
    connections: { maxConnections: options.maxConnections ?? 128 },
    // `/events` is a stream, so HEAD cannot be answered like GET.
    headRoutes: false,
    hostNames: () => ({ names, remedy: 'add it to console.hostNames in the crawl order' }),
    admit: (request, reply) => {
      if (OPEN_PATHS.has(pathOf(request))) return undefined;
      const caller = context.access.identify(
        request.headers,
        visitorOf(request),
        context.cookieName(request),
      );
      if (caller.by === 'unknown') return refuseUnknown(request, reply, caller);
      callers.set(request, caller);
      return undefined;
    },
    notFound: (request, reply) => refuse(request, reply, 404, 'There is no such page.'),
    failed: ({ request, reply, status }) =>
      status === 500
        ? refuse(request, reply, 500, 'The console failed; see the log.')
        : refuse(request, reply, status, 'The request cannot be understood.'),
    logFailure: (error) => context.log.error({ err: error }, 'console'),
    logSuppressed: (sentence) => context.log.warn(`console: ${sentence}`),
    routes: (app) => {
      // A browser sends its cookie with every request to this server; only our own forms have the token.
      app.addHook('preHandler', async (request, reply) => {
        if (request.method !== 'POST' || !callers.has(request)) return undefined;
        const caller = context.callerOf(request);
        const hasFormToken =
          caller.by !== 'session' ||
          context.access.isOwnForm(caller.session, fieldsOf(request).get('token') ?? '');
        if (hasFormToken && !isCrossOrigin(request.headers)) return undefined;
        return refuse(
          request,
          reply,
          403,
          'The form has expired or came from another page. Reload the page and try again.',
        );
      });
      addPageRoutes(app, context);
      addApi(app, context);
    },
  });
}

/** Redirects browsers to the login page; programs receive an error. */
function refuseUnknown(request: FastifyRequest, reply: FastifyReply, { seconds }: Refusal): FastifyReply {
  if (seconds > 0) {
    reply.header('retry-after', String(seconds));
    return refuse(request, reply, 429, `Too many wrong passwords: wait ${seconds} seconds.`);
  }
  if (wantsPage(request)) return reply.redirect('/login', 303);
  return refuse(request, reply, 401, 'A password or token is required.');
}

function refuse(request: FastifyRequest, reply: FastifyReply, status: number, text: string): FastifyReply {
  if (wantsPage(request)) return sendUncached(reply, status, messagePage('Request refused', text));
  return reply.code(status).header('cache-control', 'no-store').send({ ok: false, error: text });
}

function wantsPage({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') === true;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
