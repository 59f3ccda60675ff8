// Serves the files of directories that are gathered, so that a browser opens them from results: it follows no
// link from a web page to a `file:` URL.
import type { FileHandle } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { entryUrl, localPathOf, openLocal } from '../../clients/fetch/index.js';
import { ConnectionError, messageOf } from '../../protocols/errors.js';
import type { Logger } from '../host/index.js';
import { type Address, createApplication, listenOn, localUrl } from '../web/application.js';
import { type Html, html } from '../web/html.js';
import { renderPage } from '../web/page-shell.js';
import { sendPage } from '../web/replies.js';
import { securityHeaders } from '../web/security-headers.js';
import { fileTypeOf, HEAD_BYTES } from './file-types.js';

export interface FilesServerOptions {
  /** A loopback address: every program that reaches the port can read the files. */
  readonly host: string;
  /** TCP port. A free one is taken if it is in use: no URL that is stored has it. */
  readonly port: number;
  /** The directories, as canonical `file:` URLs that end in a slash. */
  readonly roots: readonly string[];
  /** Whether hidden files and directories are served. Default: false. */
  readonly hidden?: boolean;
  /** Receives the requests that failed. */
  readonly log: Pick<Logger, 'error'>;
}

/** What is served. */
type Served = Required<Pick<FilesServerOptions, 'roots' | 'hidden'>>;

const ORIGIN = 'file://localhost';
const STYLE = '/.style.css';
const NAME = 'Gathered files';
const CONNECTIONS = { maxConnections: 256 } as const;

/** Pages of a directory load what lies beside them, and run no script. */
const FILE_POLICY = [
  "default-src 'none'",
  "img-src 'self' data:",
  "media-src 'self'",
  "font-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
  "frame-src 'self'",
  "frame-ancestors 'self'",
  "form-action 'none'",
  "base-uri 'none'",
].join('; ');

/**
 * An HTTP server for the files below some directories. A file has the path that it has on this machine. What
 * symbolic links lead to elsewhere, anything that is neither a file nor a directory, and, unless it is asked for,
 * what is hidden, is not served.
 */
export class FilesServer implements AsyncDisposable {
  readonly #app: FastifyInstance;
  readonly #address: Address;
  readonly #served: Served;

  private constructor(app: FastifyInstance, address: Address, served: Served) {
    this.#app = app;
    this.#address = address;
    this.#served = served;
  }

  /** @throws ConnectionError when the host has no free port */
  static async listen(options: FilesServerOptions): Promise<FilesServer> {
    const { host, port, roots, hidden = false, log } = options;
    const served = { roots, hidden };
    const open = async (port: number): Promise<FilesServer> => {
      const app = await createFilesApplication(served, log);
      return new FilesServer(app, await listenOn(app, { host, port }, 'documents'), served);
    };
    try {
      return await open(port);
    } catch (error) {
      if (!(error instanceof ConnectionError) || port === 0) throw error;
      return await open(0);
    }
  }

  /** URL of the first page, which lists the directories. */
  get url(): string {
    return localUrl(this.#address);
  }

  /** The address at which the file of a `file:` URL can be opened; undefined if it is not served. */
  addressOf(url: string): string | undefined {
    if (!isServed(url, this.#served)) return undefined;
    return `${this.url}${url.slice(`${ORIGIN}/`.length).replace(/[?#].*$/s, '')}`;
  }

  close(): Promise<void> {
    return this.#app.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function createFilesApplication(served: Served, log: FilesServerOptions['log']): Promise<FastifyInstance> {
  return createApplication({
    headers: securityHeaders({
      referrer: 'no-referrer',
      more: { 'cross-origin-resource-policy': 'same-origin' },
    }),
    assets: [{ path: STYLE, file: '#web-assets/style.css' }],
    bodies: 'none',
    connections: CONNECTIONS,
    hostNames: () => ({ names: [] }),
    notFound: (request, reply) => sendLocal(request, reply, served),
    failed: ({ error, reply, status }) => sendPage(reply, status, missingPage(messageOf(error))),
    logFailure: (error) => log.error(`documents: ${messageOf(error)}`),
    routes: (app) => {
      const list = served.roots.map((root) => root.slice(ORIGIN.length));
      app.get('/', (_request, reply) => sendPage(reply, 200, listPage(NAME, list)));
    },
  });
}

/** Replies with a file, the list of a directory, or 404. */
async function sendLocal(
  request: FastifyRequest,
  reply: FastifyReply,
  served: Served,
): Promise<FastifyReply> {
  const { roots, hidden } = served;
  const { method, url } = request;
  const urlPath = url.replace(/\?.*$/s, '');
  if ((method !== 'GET' && method !== 'HEAD') || !isServed(`${ORIGIN}${urlPath}`, served))
    return sendMissing(reply);
  const path = localPathOf(`${ORIGIN}${urlPath}`);
  const found = path && (await openLocal(path, { roots: roots.map(directoryOf), withoutHidden: !hidden }));
  if (found === undefined || found.kind === 'missing' || found.kind === 'forbidden')
    return sendMissing(reply);
  if (found.kind === 'directory') {
    if (!urlPath.endsWith('/')) return reply.redirect(`${urlPath}/`, 301);
    const shown = found.entries.filter((name) => hidden || !name.startsWith('.'));
    return sendPage(
      reply,
      200,
      listPage(
        urlPath,
        shown.map((name) => entryUrl(urlPath, name)),
      ),
    );
  }
  const { file, stats } = found;
  const modified = new Date(Math.floor(stats.mtimeMs / 1000) * 1000);
  reply.header('content-security-policy', FILE_POLICY).header('last-modified', modified.toUTCString());
  if (modified.getTime() <= Date.parse(request.headers['if-modified-since'] ?? '')) {
    await file.close();
    return reply.code(304).send();
  }
  reply.type(fileTypeOf(urlPath, await headOf(file))).header('content-length', stats.size);
  if (method === 'HEAD') {
    await file.close();
    return reply.code(200).send();
  }
  // It ends where the file ended when its length was announced; the stream closes the file.
  const end = Math.max(0, stats.size - 1);
  if (stats.size === 0) {
    await file.close();
    return reply.code(200).send('');
  }
  return reply.code(200).send(file.createReadStream({ start: 0, end }));
}

/** @param root as in {@link FilesServerOptions.roots} */
function directoryOf(root: string): string {
  return localPathOf(root)?.toString() ?? '';
}

async function headOf(file: FileHandle): Promise<Uint8Array> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}

const HIDDEN = /\/(?:\.|%2e)/i;
const UP = /\/(?:\.|%2e){1,2}(?:\/|$)/i;

/** Whether a `file:` URL is below a root, and no name below it is `..`, however its dots are escaped, or hidden. */
function isServed(url: string, { roots, hidden }: Served): boolean {
  const root = roots.find((root) => `${url}/`.startsWith(root));
  if (root === undefined) return false;
  const below = `/${url.slice(root.length).replace(/[?#].*$/s, '')}`;
  return !(hidden ? UP : HIDDEN).test(below);
}

function sendMissing(reply: FastifyReply): FastifyReply {
  return sendPage(reply, 404, missingPage('There is no file with this address that is shown here.'));
}

/** @param paths as in URLs */
function listPage(title: string, paths: readonly string[]): Html {
  return filesPage(
    title,
    html`<h1>${shownPath(title)}</h1>
<ul>
${paths.map((path) => html`<li><a href="${path}">${shownPath(path)}</a></li>\n`)}</ul>`,
  );
}

function missingPage(text: string): Html {
  return filesPage('Not found', html`<h1>Not found</h1>\n<p>${text}</p>`);
}

function filesPage(title: string, content: Html): Html {
  return renderPage({ title: shownPath(title), styles: [STYLE], site: { name: NAME, href: '/' } }, content);
}

/** A path as a person reads it; as it is if its bytes are not UTF-8. */
function shownPath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
