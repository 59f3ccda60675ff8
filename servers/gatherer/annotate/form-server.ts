import { createHash, randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { KitError } from '../../../protocols/errors.js';
import { Mutex } from '../../../protocols/mutex.js';
import { DEFAULT_TYPE } from '../../../protocols/soif/index.js';
import { createApplication, listenOn } from '../../web/application.js';
import { readCookie, sessionCookie } from '../../web/cookies.js';
import { bodyFields } from '../../web/form-fields.js';
import { PasswordThrottle } from '../../web/password-throttle.js';
import { sendPage } from '../../web/replies.js';
import { equalSecrets } from '../../web/secrets.js';
import { securityHeaders } from '../../web/security-headers.js';
import { AnnotationFile, shownUrl } from './annotation-file.js';
import { pageOfObjects } from './objects.js';
import { editPage, listPage, messagePage, PAGE_ANNOTATIONS } from './pages.js';

export interface FormServerOptions {
  /** The annotation file; it may be absent. */
  readonly file: string;
  /**
   * Data-Directory of a Gatherer, whose objects are listed too. Default: only the annotated documents are
   * listed.
   */
  readonly dataDirectory?: string | undefined;
  /** TCP port; 0 for a free one. Default 0. */
  readonly port?: number;
  /** Token of the URL. Default: a random one. */
  readonly token?: string;
}

/** Only this machine can connect. */
const LOOPBACK = '127.0.0.1';
const COOKIE = 'harvest-annotate';
/** Maximum number of bytes of a submitted form. */
const MAX_FORM_BYTES = 1024 * 1024;

/** Pages are not cached: the file may change between two requests. */
const HEADERS = securityHeaders({ referrer: 'same-origin', more: { 'cache-control': 'no-store' } });

/**
 * The local form for annotations (G-141). The token in {@link url} gives access to the file; the first request
 * turns it into a cookie. The file is read again for every page, so that it may be edited by hand at the same
 * time.
 */
export class FormServer implements AsyncDisposable {
  readonly #app: FastifyInstance;
  readonly #token: string;

  private constructor(
    app: FastifyInstance,
    readonly port: number,
    token: string,
  ) {
    this.#app = app;
    this.#token = token;
  }

  /** @throws ConnectionError when the port is in use, and the errors of {@link AnnotationFile.open} */
  static async listen({
    file,
    dataDirectory,
    port = 0,
    token = randomBytes(18).toString('base64url'),
  }: FormServerOptions): Promise<FormServer> {
    // An error in the file is thrown here rather than shown in a browser.
    await AnnotationFile.open(file);
    const throttle = new PasswordThrottle();
    const app = await createApplication({
      headers: HEADERS,
      connections: { maxConnections: MAX_CONNECTIONS },
      assets: [{ path: '/style.css', file: '#web-assets/style.css' }],
      bodies: 'form',
      maxBodyBytes: MAX_FORM_BYTES,
      hostNames: () => ({ names: [] }),
      admit: (request, reply) => admit(request, reply, token, throttle),
      notFound: (_request, reply) => sendPage(reply, 404, messagePage('There is no such page.')),
      failed: ({ error, reply, status }) => {
        // A KitError is a problem of the input or the file, which the user can solve.
        const isExpected = error instanceof KitError;
        return sendPage(
          reply,
          isExpected ? 400 : status,
          messagePage(isExpected ? error.message : 'The form failed.'),
        );
      },
      routes: (app) => addRoutes(app, file, dataDirectory),
    });
    const address = await listenOn(app, { host: LOOPBACK, port }, 'annotate');
    return new FormServer(app, address.port, token);
  }

  /** URL of the first page; it contains the token. */
  get url(): string {
    return `http://${LOOPBACK}:${this.port}/?token=${this.#token}`;
  }

  close(): Promise<void> {
    return this.#app.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** One person uses the form, perhaps in some windows. */
const MAX_CONNECTIONS = 64;

interface Query {
  readonly token?: string;
  readonly q?: string;
  readonly page?: string;
  readonly url?: string;
}

function addRoutes(app: FastifyInstance, file: string, dataDirectory: string | undefined): void {
  /** One form is saved at a time. */
  const edits = new Mutex();
  app.get('/', async (request: FastifyRequest<{ Querystring: Query }>, reply) => {
    const { q = '', page: number = '1' } = request.query;
    const annotations = await AnnotationFile.open(file);
    const page = Math.max(1, Math.floor(Number(number)) || 1);
    const others =
      dataDirectory === undefined
        ? undefined
        : await pageOfObjects(
            dataDirectory,
            q,
            { first: (page - 1) * PAGE_ANNOTATIONS, size: PAGE_ANNOTATIONS },
            (url) => annotations.get(annotations.urlOf(url)) !== undefined,
          );
    return sendPage(reply, 200, listPage(file, annotations.list(q), q, page, others));
  });
  app.get('/edit', async (request: FastifyRequest<{ Querystring: Query }>, reply) => {
    const annotations = await AnnotationFile.open(file);
    const url = annotations.urlOf(request.query.url?.trim() ?? '');
    const found = annotations.get(url) ?? { type: DEFAULT_TYPE, url, attributes: [] };
    return sendPage(reply, 200, editPage(found, versionOf(annotations)));
  });
  app.post('/edit', async (request, reply) => {
    const form = bodyFields(request);
    return edits.runExclusive(() => saveForm(form, reply, file));
  });
}

/** Saves a submitted form, unless the file has changed since the form was shown. */
async function saveForm(form: URLSearchParams, reply: FastifyReply, file: string): Promise<FastifyReply> {
  const annotations = await AnnotationFile.open(file);
  const url = annotations.urlOf(form.get('url')?.trim() ?? '');
  if (form.get('version') !== versionOf(annotations))
    return sendPage(
      reply,
      409,
      messagePage('The file was changed by another program. Reload the page and repeat the change.'),
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
  return reply.redirect(form.has('more') ? `/edit?url=${encodeURIComponent(shownUrl(url))}` : '/', 303);
}

/**
 * Admits requests with the token, to this server's own address only: another site cannot reach the form under
 * its own name (DNS rebinding) or make a browser send it.
 */
function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
  throttle: PasswordThrottle,
): FastifyReply | undefined {
  const ownHost = `${LOOPBACK}:${request.socket.localPort ?? ''}`;
  const { host, origin } = request.headers;
  const site = request.headers['sec-fetch-site'];
  if (host !== ownHost || (origin !== undefined && origin !== `http://${ownHost}`) || site === 'cross-site')
    return sendPage(reply, 403, messagePage('The request came from another site.'));
  const given = (request.query as Query).token;
  if (given !== undefined && request.method === 'GET') {
    // Always accepted: it cannot be guessed, and other clients of the address must not lock out the owner.
    if (equalSecrets(given, token)) {
      reply.header('set-cookie', sessionCookie(COOKIE, token));
      return reply.redirect('/', 303);
    }
    const seconds = throttle.secondsToWait(request.ip);
    if (seconds > 0) {
      reply.header('retry-after', String(seconds));
      return sendPage(reply, 429, messagePage(`Too many wrong tokens: wait ${seconds} seconds.`));
    }
    throttle.recordFailure(request.ip);
  }
  if (equalSecrets(readCookie(request.headers, COOKIE) ?? '', token)) return undefined;
  return sendPage(reply, 403, messagePage('Please open the address that "harvest annotate" printed.'));
}

/** Returns a digest of the annotations, so that a form does not overwrite changes made after it was shown. */
function versionOf(annotations: AnnotationFile): string {
  return createHash('sha256').update(annotations.bytes()).digest('hex').slice(0, 16);
}
