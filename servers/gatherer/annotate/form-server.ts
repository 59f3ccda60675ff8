import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { ConnectionError, KitError, messageOf } from '../../../protocols/errors.js';
import { DEFAULT_TYPE } from '../../../protocols/soif/index.js';
import { AnnotationFile } from './annotation-file.js';
import { editPage, listPage, messagePage } from './pages.js';

export interface FormServerOptions {
  /** The annotation file; it need not exist yet. */
  readonly file: string;
  /** 0: any free port. Default 0. */
  readonly port?: number;
  /** For tests. Default: a random one. */
  readonly token?: string;
}

/** Only this machine reaches the form. */
const LOOPBACK = '127.0.0.1';
const COOKIE = 'harvest-annotate';
/** Bytes of a form that is sent back. */
const MAX_FORM = 1024 * 1024;

/** Nothing but our stylesheet is loaded, nothing written into a page runs, nobody frames us. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  // With no-referrer, browsers would send a form without its origin.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

/**
 * The local form for annotations (G-141). Who has the token, which stands in {@link url}, may read and write the file; it becomes
 * a cookie at the first visit. The file is read again for every page, so that people may edit it by hand beside the form.
 */
export class FormServer implements AsyncDisposable {
  private constructor(
    readonly app: FastifyInstance,
    readonly port: number,
    readonly token: string,
  ) {}

  /** @throws ConnectionError when the port is taken; what {@link AnnotationFile.open} throws */
  static async listen({
    file,
    port = 0,
    token = randomBytes(18).toString('base64url'),
  }: FormServerOptions): Promise<FormServer> {
    // What is wrong with the file is better said now than in a browser.
    await AnnotationFile.open(file);
    const app = fastify({ bodyLimit: MAX_FORM, forceCloseConnections: true });
    addRoutes(app, file, token);
    const style = await readFile(new URL(import.meta.resolve('#web-assets/style.css')));
    app.get('/style.css', (_request, reply) => reply.type('text/css; charset=utf-8').send(style));
    try {
      await app.listen({ host: LOOPBACK, port });
    } catch (cause) {
      await app.close();
      const why = messageOf(cause);
      throw new ConnectionError(`cannot listen on port ${port}: ${why}`, { cause });
    }
    const address = app.server.address();
    return new FormServer(app, typeof address === 'object' ? (address?.port ?? port) : port, token);
  }

  /** Where to begin; it holds the token. */
  get url(): string {
    return `http://${LOOPBACK}:${this.port}/?token=${this.token}`;
  }

  close(): Promise<void> {
    return this.app.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

interface Query {
  readonly token?: string;
  readonly q?: string;
  readonly page?: string;
  readonly url?: string;
}

function addRoutes(app: FastifyInstance, file: string, token: string): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request: FastifyRequest, body, done) => done(null, new URLSearchParams(body.toString())),
  );
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(HEADERS);
    return admit(request, reply, token);
  });
  app.setNotFoundHandler((_request, reply) => page(reply, 404, messagePage('There is no such page.')));
  app.setErrorHandler((error, _request, reply) => {
    // A KitError is about what was typed or about the file: the user can do something.
    const known = error instanceof KitError;
    return page(reply, known ? 400 : 500, messagePage(known ? error.message : 'The form failed.'));
  });

  app.get('/', async (request: FastifyRequest<{ Querystring: Query }>, reply) => {
    const { q = '', page: number = '1' } = request.query;
    const annotations = await AnnotationFile.open(file);
    return page(reply, 200, listPage(file, annotations.list(q), q, Math.max(1, Number(number) || 1)));
  });
  app.get('/edit', async (request: FastifyRequest<{ Querystring: Query }>, reply) => {
    const url = request.query.url?.trim() ?? '';
    const annotations = await AnnotationFile.open(file);
    const found = annotations.get(url) ?? { type: DEFAULT_TYPE, url, attributes: [] };
    return page(reply, 200, editPage(found, versionOf(annotations)));
  });
  app.post('/edit', async (request, reply) => {
    const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
    const url = form.get('url')?.trim() ?? '';
    const annotations = await AnnotationFile.open(file);
    if (form.get('version') !== versionOf(annotations))
      return page(
        reply,
        409,
        messagePage('The file was changed meanwhile: load the page again, and nothing is lost.'),
      );
    const names = form.getAll('name');
    const values = form.getAll('value');
    const attributes = form.has('delete')
      ? []
      : names.flatMap((name, i) =>
          name.trim() === '' ? [] : [[name.trim(), (values[i] ?? '').trim()] as const],
        );
    const type = annotations.get(url)?.type ?? DEFAULT_TYPE;
    annotations.put({ type, url, attributes: attributes.filter(([, value]) => value !== '') });
    await annotations.save();
    return reply.redirect(form.has('more') ? `/edit?url=${encodeURIComponent(url)}` : '/', 303);
  });
}

/**
 * Lets through who has the token, and only under the name that the form was given: a page of another site that has its own name
 * lead here, or has a browser send a form, gets nothing.
 */
function admit(request: FastifyRequest, reply: FastifyReply, token: string): FastifyReply | undefined {
  const own = `${LOOPBACK}:${request.socket.localPort ?? ''}`;
  const { host, origin, cookie = '' } = request.headers;
  const site = request.headers['sec-fetch-site'];
  if (host !== own || (origin !== undefined && origin !== `http://${own}`) || site === 'cross-site')
    return page(reply, 403, messagePage('Asked from elsewhere.'));
  const given = (request.query as Query).token;
  if (given !== undefined && request.method === 'GET' && isSame(given, token)) {
    reply.header('set-cookie', `${COOKIE}=${token}; Path=/; HttpOnly; SameSite=Strict`);
    return reply.redirect('/', 303);
  }
  const held = new RegExp(`(?:^|;\\s*)${COOKIE}=([\\w-]+)`).exec(cookie)?.[1] ?? '';
  if (isSame(held, token)) return undefined;
  return page(reply, 403, messagePage('Please open the address that "harvest annotate" printed.'));
}

function isSame(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}

/** So that a form does not overwrite what was changed after it was shown. */
function versionOf(annotations: AnnotationFile): string {
  return createHash('sha256').update(annotations.text()).digest('hex').slice(0, 16);
}

function page(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply.code(status).type('text/html; charset=utf-8').send(text);
}
