import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ConnectionError } from '../../../protocols/errors.js';
import { decodeSoif } from '../../../protocols/soif/index.js';
import type { Logger } from '../../host/index.js';
import type { Broker } from '../broker.js';
import { brokerPath, objectPath, oidOf, oidOfPath } from '../object-path.js';
import { DEFAULT_FORM, decodeFields, type QueryForm, readForm } from './form.js';
import { helpPart } from './help-page.js';
import { highlighter, literalTerms } from './highlight.js';
import { type Html, html } from './html.js';
import { layout, type Page, type SiteLinks } from './layout.js';
import { objectPart } from './object-page.js';
import { askBroker, type QueryFault, readQuery } from './query.js';
import { notice, resultsPart } from './results-page.js';
import { type SearchFormOptions, searchForm } from './search-form.js';
import { statsPart } from './stats-page.js';

/** Where the programs of the original lay (BRK-9.4). */
const CGI = '/Harvest/cgi-bin';
const QUERY_PROGRAMS = ['BrokerQuery.cgi', 'BrokerQuery.pl.cgi', 'nph-search.cgi'];
const DISPLAY_PROGRAM = `${CGI}/DisplayObject.cgi`;

/** What the routes work with. */
export interface RouteContext {
  readonly broker: Broker;
  readonly brokerAddress: { readonly host: string; readonly port: number };
  readonly log: Logger;
}

/** One reply that is a page. */
interface PageReply extends Page {
  readonly status: number;
}

/** Adds every route of the broker's web pages. */
export function addRoutes(app: FastifyInstance, context: RouteContext): void {
  const pages = new BrokerPages(context);
  const { home } = pages.site;
  const show = async (reply: FastifyReply, page: PageReply | Promise<PageReply>) =>
    pages.send(reply, await page);

  for (const path of ['/', home, home.slice(0, -1), `${home}query.html`, `${home}index.html`]) {
    app.get(path, (_request, reply) => show(reply, pages.search()));
  }
  for (const program of QUERY_PROGRAMS) {
    app.route({
      method: ['GET', 'POST'],
      url: `${CGI}/${program}`,
      handler: (request, reply) => show(reply, pages.results(fieldsOf(request), goneSignal(reply))),
    });
  }
  app.get(`${home}queryhelp.html`, (_request, reply) => show(reply, pages.help()));
  for (const path of ['/stats.html', `${home}stats.html`]) {
    app.get(path, (_request, reply) => show(reply, pages.statistics()));
  }
  app.get<{ Params: { directory: string; file: string } }>(
    `${home}objects/:directory/:file`,
    async ({ params }, reply) => {
      const bytes = await pages.objectBytes(oidOf(params.directory, params.file));
      if (bytes === undefined) return show(reply, pages.notFound());
      return reply
        .type(`text/plain; charset=${charsetOf(bytes)}`)
        .header('x-robots-tag', 'noindex')
        .send(bytes);
    },
  );
  app.get(DISPLAY_PROGRAM, (request, reply) =>
    show(reply, pages.object(fieldsOf(request).get('object') ?? '')),
  );
  app.get('/healthz', () => ({ status: 'ok', objects: context.broker.count }));
  app.get('/robots.txt', (_request, reply) =>
    reply
      .type('text/plain; charset=utf-8')
      .send(`User-agent: *\nDisallow: ${CGI}/\nDisallow: ${home}objects/\n`),
  );
  app.setNotFoundHandler((_request, reply) => show(reply, pages.notFound()));
  app.setErrorHandler((error, _request, reply) => show(reply, pages.failed(error)));
}

class BrokerPages {
  readonly site: SiteLinks;
  readonly #form: Omit<SearchFormOptions, 'autofocus'>;

  constructor(readonly context: RouteContext) {
    const { brokerName } = context.broker.config;
    const home = brokerPath(brokerName);
    this.site = {
      brokerName,
      home,
      help: `${home}queryhelp.html`,
      stats: `${home}stats.html`,
      stylesheet: '/Harvest/style.css',
      icon: '/Harvest/icon.svg',
    };
    this.#form = { action: `${CGI}/${QUERY_PROGRAMS[0]}`, help: this.site.help };
  }

  send(reply: FastifyReply, page: PageReply): FastifyReply {
    return reply.code(page.status).type('text/html; charset=utf-8').send(layout(this.site, page).text);
  }

  search(): PageReply {
    const { brokerName } = this.site;
    const count = this.context.broker.count;
    const content = html`<h1>Search ${brokerName}</h1>
${searchForm(DEFAULT_FORM, { ...this.#form, autofocus: true })}
<p class="count">${count} ${count === 1 ? 'object' : 'objects'} in this broker.</p>`;
    return { status: 200, title: `Search ${brokerName}`, content, current: 'home' };
  }

  async results(fields: URLSearchParams, signal: AbortSignal): Promise<PageReply> {
    const form = readForm(fields);
    if (form.query === '') {
      return this.#refusal(
        400,
        form,
        (id) => html`<p class="error" role="alert" id="${id}">Type at least one word to search for.</p>`,
      );
    }
    const read = readQuery(form.query);
    if (read.kind === 'fault') return this.#refusal(400, form, (id) => faultBox(form.query, read, id));
    const { opaqueMode, config } = this.context.broker;
    const target = { ...this.context.brokerAddress, opaqueMode, maxResults: config.maxResults };
    try {
      const outcome = await askBroker(form, read.query, target, signal);
      if (outcome.kind === 'refused') {
        const { message } = outcome;
        return this.#refusal(/busy/i.test(message) ? 503 : 400, form, () =>
          notice('error', 'The broker refused the query:', message),
        );
      }
      const part = resultsPart(form, outcome.results, {
        action: this.#form.action,
        highlight: highlighter(literalTerms(read.query), form),
        summaryPath: (url) => this.#summaryPath(url),
      });
      return this.#results(
        200,
        form,
        html`${searchForm(form, { ...this.#form, autofocus: false })}\n${part}`,
      );
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      // BRK-9.6 BrokerDown.
      this.context.log.error(`Query page: ${error.message}`);
      return this.#refusal(503, form, () =>
        notice(
          'error',
          'The broker does not answer.',
          'It may be starting or stopping. Try again in a minute.',
        ),
      );
    }
  }

  help(): PageReply {
    return {
      status: 200,
      title: `How to search ${this.site.brokerName}`,
      content: helpPart(),
      current: 'help',
    };
  }

  async statistics(): Promise<PageReply> {
    const content = statsPart(await this.context.broker.statistics());
    return { status: 200, title: `Statistics of ${this.site.brokerName}`, content, current: 'stats' };
  }

  async object(path: string): Promise<PageReply> {
    const { brokerName } = this.site;
    const oid = oidOfPath(brokerName, path);
    const bytes = await this.objectBytes(oid);
    if (oid === undefined || bytes === undefined) return this.notFound();
    const object = decodeSoif(bytes, { maxObjectBytes: bytes.length });
    const content = objectPart(object, objectPath(brokerName, oid), bytes.length);
    return { status: 200, title: `Summary of ${object.url}`, content, noindex: true };
  }

  async objectBytes(oid: number | undefined): Promise<Uint8Array | undefined> {
    if (oid === undefined) return undefined;
    const [bytes] = await this.context.broker.store.objects([oid]);
    return bytes;
  }

  notFound(): PageReply {
    const content = html`<h1>Not here</h1>
<p>There is no such page. An object that was here may have expired or been replaced; <a href="${this.site.home}">search again</a>.</p>`;
    return { status: 404, title: 'Not found', content, noindex: true };
  }

  failed(error: unknown): PageReply {
    const given =
      typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : undefined;
    const status = typeof given === 'number' && given >= 400 && given < 500 ? given : 500;
    if (status === 500) this.context.log.error({ err: error }, 'Web page failed');
    const text =
      status === 500 ? 'The server failed to make this page.' : 'The server did not understand the request.';
    return { status, title: 'Error', content: html`<h1>Error</h1>\n<p>${text}</p>`, noindex: true };
  }

  /** The form with what is wrong below it; nothing was searched. */
  #refusal(status: number, form: QueryForm, box: (id: string) => Html): PageReply {
    const errorId = 'query-error';
    const content = html`<h1>Search ${this.site.brokerName}</h1>
${searchForm(form, { ...this.#form, autofocus: true, errorId })}
<div id="${errorId}">${box(`${errorId}-text`)}</div>`;
    return this.#results(status, form, content);
  }

  #results(status: number, form: QueryForm, content: Html): PageReply {
    const title =
      form.query === '' ? `Search ${this.site.brokerName}` : `${form.query} – ${this.site.brokerName}`;
    return { status, title, content, noindex: true };
  }

  /** The readable view of an object of this broker, whatever host its `125` names. */
  #summaryPath(objectUrl: string): string | undefined {
    if (!URL.canParse(objectUrl)) return undefined;
    const path = new URL(objectUrl).pathname;
    return oidOfPath(this.site.brokerName, path) === undefined
      ? undefined
      : `${DISPLAY_PROGRAM}?${new URLSearchParams({ object: path })}`;
  }
}

/** The query with a mark under the place of the fault. */
function faultBox(query: string, fault: QueryFault, id: string): Html {
  return html`<div class="error" role="alert" id="${id}"><strong>The query cannot be read at position ${fault.at + 1}:</strong> ${fault.message}</div>
<pre class="fault" aria-hidden="true">${query}
${' '.repeat(fault.at)}^</pre>`;
}

/** The fields of a form, from the URL or from the body of a POST. */
function fieldsOf(request: FastifyRequest): URLSearchParams {
  if (request.body instanceof URLSearchParams) return request.body;
  const question = request.url.indexOf('?');
  return decodeFields(question < 0 ? '' : request.url.slice(question + 1));
}

/** Aborted when the reader of the page has gone, so that nothing is searched for nobody. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  return gone.signal;
}

/** SOIF has no character set of its own (SOIF-7.4): UTF-8 if it is that, else windows-1252. */
function charsetOf(bytes: Uint8Array): string {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return 'utf-8';
  } catch {
    return 'windows-1252';
  }
}
