// Serves the kit's own documents, for a run without a ROOT.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { messageOf } from '../../protocols/errors.js';
import type { Logger } from '../host/index.js';
import { type Address, createApplication, listenOn, localUrl } from '../web/application.js';
import type { Asset } from '../web/assets.js';
import { Html, html } from '../web/html.js';
import { renderPage } from '../web/page-shell.js';
import { sendPage } from '../web/replies.js';
import { securityHeaders } from '../web/security-headers.js';
import { createDocument, type OwnDocument, packageFolder } from './own-documents.js';

export interface DocumentsServerOptions {
  readonly host: string;
  /** TCP port; 0 for a free one. */
  readonly port: number;
  readonly documents: readonly OwnDocument[];
  /** Receives the requests that failed. */
  readonly log: Pick<Logger, 'error'>;
}

/** The name of the site. */
const NAME = 'Documents of harvest-kit';

/** Concurrent connections; the documents are small. */
const CONNECTIONS = { maxConnections: 256 } as const;

const SECTIONS: readonly { readonly title: string; readonly prefix: RegExp }[] = [
  { title: 'Overview', prefix: /^\/[^/]+$/ },
  { title: 'Documentation', prefix: /^\/docs\// },
  { title: 'Commands', prefix: /^\/commands\// },
  { title: 'Protocols', prefix: /^\/protocols\// },
  { title: 'Servers', prefix: /^\/servers\// },
  { title: 'Clients', prefix: /^\/clients\// },
  { title: 'Storage', prefix: /^\/storage\// },
  { title: 'Examples', prefix: /^\/examples\// },
];

/**
 * An HTTP server for the package's documents: Markdown for programs, HTML for browsers (`Accept: text/html`),
 * with validators for conditional requests, so that a second run fetches none of them again.
 */
export class DocumentsServer implements AsyncDisposable {
  readonly #app: FastifyInstance;
  readonly #address: Address;

  private constructor(app: FastifyInstance, address: Address) {
    this.#app = app;
    this.#address = address;
  }

  /** @throws ConnectionError when the port is in use */
  static async listen({ host, port, documents, log }: DocumentsServerOptions): Promise<DocumentsServer> {
    const byPath = new Map(documents.map((document) => [document.path, document]));
    const contents: Contents = {
      name: NAME,
      sections: SECTIONS.map(({ title, prefix }) => ({
        title,
        documents: documents.filter(({ path }) => prefix.test(path)),
      })).filter((section) => section.documents.length > 0),
    };
    const firstPage = contentsPage(contents);
    const first = createFirstPage(firstPage, documents);
    const app = await createApplication({
      headers: securityHeaders({ referrer: 'no-referrer', images: true }),
      assets: [{ path: STYLE, file: '#web-assets/style.css' }, ...(await findPictures())],
      bodies: 'none',
      connections: CONNECTIONS,
      hostNames: () => ({ names: [] }),
      notFound: (request, reply) => sendFound(request, reply, contents, byPath),
      failed: ({ error, reply, status }) =>
        sendPage(reply, status, missingPage({ ...contents, name: messageOf(error) })),
      logFailure: (error) => log.error(`documents: ${messageOf(error)}`),
      routes: (app) => {
        app.get('/', (request, reply) => sendValidated(request, reply, first, firstPage));
        app.get('/robots.txt', (_request, reply) =>
          reply.type('text/plain; charset=utf-8').send('User-agent: *\nDisallow:\n'),
        );
      },
    });
    return new DocumentsServer(app, await listenOn(app, { host, port }, 'documents'));
  }

  /** URL of the first page. */
  get url(): string {
    return localUrl(this.#address);
  }

  close(): Promise<void> {
    return this.#app.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** The pictures that the documents show; none in a package that was made without them. */
async function findPictures(): Promise<Asset[]> {
  const names = await readdir(join(packageFolder(), 'docs', 'images')).catch(() => []);
  return names
    .filter((name) => name.endsWith('.png'))
    .map((name) => ({ path: `/docs/images/${name}`, file: `#docs-assets/${name}` }));
}

/** The first page changes when a title does; it is as old as the newest document. */
function createFirstPage(page: Html, documents: readonly OwnDocument[]): OwnDocument {
  const newest = Math.max(0, ...documents.map(({ modified }) => modified.getTime()));
  return createDocument('/', page.text, new Date(newest));
}

/** Replies to a path of no route: a document, a folder with a README, or 404. */
async function sendFound(
  request: FastifyRequest,
  reply: FastifyReply,
  contents: Contents,
  byPath: ReadonlyMap<string, OwnDocument>,
): Promise<FastifyReply> {
  const path = request.url.replace(/\?.*$/s, '');
  const document = byPath.get(path);
  if ((request.method !== 'GET' && request.method !== 'HEAD') || document === undefined) {
    const readme = `${path.replace(/\/$/, '')}/README.md`;
    if (byPath.has(readme)) return reply.redirect(readme, 301);
    return sendPage(reply, 404, missingPage(contents));
  }
  reply.header('vary', 'Accept');
  const wantsPage = /\btext\/html\b/i.test(request.headers.accept ?? '');
  const content = wantsPage ? await documentPage(contents, document) : document.markdown;
  return sendValidated(request, reply, document, content);
}

/**
 * Sends HTML or Markdown with its validators, or 304 (RFC 9110, 13.2.2: If-None-Match goes before
 * If-Modified-Since).
 */
function sendValidated(
  request: FastifyRequest,
  reply: FastifyReply,
  { etag, modified }: OwnDocument,
  content: Html | string,
): FastifyReply {
  // The two forms of a document are different representations.
  const tag = typeof content === 'string' ? etag : etag.replace(/"$/, '-html"');
  reply.header('etag', tag).header('last-modified', modified.toUTCString());
  if (isUnchanged(request, tag, modified)) return reply.code(304).send();
  if (typeof content !== 'string') return sendPage(reply, 200, content);
  return reply.code(200).type('text/markdown; charset=utf-8').send(content);
}

function isUnchanged({ headers }: FastifyRequest, tag: string, modified: Date): boolean {
  const tags = headers['if-none-match'];
  if (tags !== undefined)
    return tags.split(',').some((each) => ['*', tag].includes(each.trim().replace(/^W\//, '')));
  const since = Date.parse(headers['if-modified-since'] ?? '');
  return modified.getTime() <= since;
}

/** A documentation's name and the sections of its first page. */
interface Contents {
  readonly name: string;
  readonly sections: readonly { readonly title: string; readonly documents: readonly OwnDocument[] }[];
}

/** The URL of the style sheet. */
const STYLE = '/style.css';

/** The first page: links to all documents. It is gathered like any other document. */
function contentsPage({ name, sections }: Contents): Html {
  return renderPage(
    { title: name, styles: [STYLE], site: { name, href: '/' } },
    html`<h1>${name}</h1>
${sections.map(
  ({ title, documents }) => html`<section>
<h2>${title}</h2>
<ul>
${documents.map(({ path, title }) => html`<li><a href="${path}">${title}</a></li>\n`)}</ul>
</section>
`,
)}`,
  );
}

/** A document as a page. Its Markdown is this package's own, so HTML in it is not escaped. */
async function documentPage({ name }: Contents, { title, markdown }: OwnDocument): Promise<Html> {
  // Loaded at the first page that a browser asks for.
  const { marked } = await import('marked');
  const content = marked.parse(markdown, { async: false, gfm: true });
  return renderPage(
    { title: `${title} - ${name}`, styles: [STYLE], site: { name, href: '/' } },
    html`<article class="document">\n${new Html(content)}</article>`,
  );
}

/** The page of a path that has no document. */
function missingPage({ name }: Contents): Html {
  return renderPage(
    { title: `Not found - ${name}`, styles: [STYLE], site: { name, href: '/' } },
    html`<h1>Not found</h1>
<p>There is no document with this address. <a href="/">All documents</a></p>`,
  );
}
