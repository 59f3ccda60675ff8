// The routes of the web pages, and the pages themselves.

import { setMaxListeners } from 'node:events';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OTHERS } from '../../../clients/broker/repeated-lines.js';
import { textOfUrl } from '../../../protocols/soif/index.js';
import type { StoredParts } from '../../../storage/index.js';
import { addressGroup } from '../../host/index.js';
import { queryFields } from '../../web/form-fields.js';
import { html } from '../../web/html.js';
import { sendPage } from '../../web/replies.js';
import { WalkCache } from '../admin/walk-cache.js';
import { sharedCollections } from '../collect/shared-state.js';
import { brokerPath, objectPath, oidOf, oidOfPath } from '../query/object-path.js';
import { AdminRoutes } from './admin-routes.js';
import { type AgeSpan, countAges } from './ages.js';
import { ConfigFiles } from './config-files.js';
import { FacetCounter } from './facets.js';
import { OPEN_SEARCH_TYPE, openSearchDescription } from './feeds.js';
import { DEFAULT_FORM, isEmptyForm, readForm } from './form.js';
import { type Gathering, gatheringText } from './gathering.js';
import { renderAdminHelp, renderHelp, renderSoifHelp } from './help-page.js';
import { renderHome } from './home-page.js';
import { sendList } from './large-reply.js';
import { renderBrokerPage, type SiteLinks } from './layout.js';
import { renderObject } from './object-page.js';
import { sendObject, shownObject } from './object-reply.js';
import { Results } from './result-reply.js';
import type { PageReply, RouteContext } from './route-context.js';
import { renderAdvancedForm } from './search-form.js';
import { renderStatistics } from './stats-page.js';
import { SUGGESTIONS_TYPE, Suggestions } from './suggestions.js';

/** Path of the programs of the original (BRK-9.4). */
const CGI = '/Harvest/cgi-bin';
const QUERY_PROGRAMS = ['BrokerQuery.cgi', 'BrokerQuery.pl.cgi', 'nph-search.cgi'];
const DISPLAY_PROGRAM = `${CGI}/DisplayObject.cgi`;
export const SUGGESTIONS = '/Harvest/suggestions';
const OPEN_SEARCH = '/Harvest/opensearch.xml';
const HEALTH = '/healthz';
const ADMIN_PROGRAM = `${CGI}/BrokerAdmin.cgi`;

/** Adds every route of the broker's web pages. */
export function addRoutes(app: FastifyInstance, pages: BrokerPages): void {
  const { context } = pages;
  const { broker } = context;
  const { home } = pages;
  const show = async (reply: FastifyReply, page: PageReply | Promise<PageReply>) =>
    pages.send(reply, await page);
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const fields = requestFields(request);
    const cut = () => void reply.raw.destroy();
    const answered = await pages.results.reply(fields, request.ip, disconnectSignal(reply), cut);
    const { status, type, body, memory } = answered;
    reply.code(status).type(type).header('x-robots-tag', 'noindex');
    return memory === undefined ? reply.send(body) : sendList(reply, body, memory);
  };
  /**
   * Returns the paths of a page. BRK-9.13: the broker's pages are also at the root and next to the programs.
   */
  const everywhere = (name: string) => [`/${name}`, `/Harvest/${name}`, `${home}${name}`];

  for (const path of [
    '/',
    home,
    home.slice(0, -1),
    ...everywhere('query.html'),
    ...everywhere('index.html'),
  ]) {
    app.get(path, (request, reply) =>
      isEmptyForm(readForm(queryFields(request))) ? show(reply, pages.search()) : answer(request, reply),
    );
  }
  for (const program of QUERY_PROGRAMS) {
    app.route({
      method: ['GET', 'POST'],
      url: `${CGI}/${program}`,
      handler: answer,
    });
  }
  const simple: readonly (readonly [string, () => PageReply | Promise<PageReply>])[] = [
    ['advanced.html', () => pages.advanced()],
    ['queryhelp.html', () => pages.help('queryhelp')],
    ['adminhelp.html', () => pages.help('adminhelp')],
    ['soifhelp.html', () => pages.help('soifhelp')],
    ['stats.html', () => pages.statistics()],
  ];
  for (const [name, page] of simple) {
    for (const path of everywhere(name)) app.get(path, (_request, reply) => show(reply, page()));
  }
  const admin = new AdminRoutes(context, pages.site, (reply, page) => pages.send(reply, page));
  admin.add(app, ADMIN_PROGRAM, [...everywhere('admin.html'), `${home}admin/admin.html`]);
  app.get<{ Params: { directory: string; file: string } }>(
    `${home}objects/:directory/:file`,
    async ({ params }, reply) => {
      const object = await pages.openObject(oidOf(params.directory, params.file));
      if (object === undefined) return show(reply, pages.notFound());
      return sendObject(reply, object);
    },
  );
  app.get(DISPLAY_PROGRAM, (request, reply) =>
    show(reply, pages.object(requestFields(request).get('object') ?? '')),
  );
  app.get(SUGGESTIONS, async (request, reply) => {
    const text = queryFields(request).get('query') ?? '';
    const visitor = { client: addressGroup(request.ip), signal: disconnectSignal(reply) };
    const json = await pages.suggestions.reply(text, visitor);
    return reply.type(SUGGESTIONS_TYPE).header('x-robots-tag', 'noindex').send(json);
  });
  app.get(OPEN_SEARCH, (_request, reply) =>
    reply.type(`${OPEN_SEARCH_TYPE}; charset=utf-8`).send(pages.openSearch()),
  );
  app.get(HEALTH, () => ({
    status: 'ok',
    objects: broker.store.count,
    gathering: gatheringState(context.gathering?.()),
  }));
  app.get('/robots.txt', (_request, reply) =>
    reply
      .type('text/plain; charset=utf-8')
      .send(`User-agent: *\nDisallow: ${CGI}/\nDisallow: ${home}objects/\n`),
  );
}

/** The message in place of a page that cannot be made, by status. */
const FAILURES: ReadonlyMap<number, string> = new Map([
  [500, 'The server failed to create this page.'],
  [503, 'The server cannot read its files now. Its administrator finds the reason in its log.'],
]);

/** Builds the pages of a broker, except those of its administration. */
export class BrokerPages {
  /** The path of the first page as routes have it; those in links may have a base before it. */
  readonly home: string;
  readonly site: SiteLinks;
  readonly results: Results;
  readonly suggestions: Suggestions;
  readonly #counter: FacetCounter;
  readonly #ages: WalkCache<readonly AgeSpan[]>;
  readonly #base: string;

  private constructor(
    readonly context: RouteContext,
    files: ConfigFiles,
  ) {
    const { broker } = context;
    const { brokerName } = broker.config;
    this.#base = context.base ?? broker.urls.base;
    this.home = brokerPath(brokerName);
    const home = this.at(this.home);
    this.site = {
      brokerName,
      home,
      advanced: `${home}advanced.html`,
      help: `${home}queryhelp.html`,
      stats: `${home}stats.html`,
      admin: `${home}admin/admin.html`,
      soifHelp: `${home}soifhelp.html`,
      action: this.at(`${CGI}/${QUERY_PROGRAMS[0]}`),
      suggestions: this.at(SUGGESTIONS),
      health: this.at(HEALTH),
      adminAction: this.at(ADMIN_PROGRAM),
      adminHelp: `${home}adminhelp.html`,
      stylesheet: this.at('/Harvest/style.css'),
      script: this.at('/Harvest/enhance.js'),
      icon: this.at('/Harvest/icon.svg'),
      openSearch: this.at(OPEN_SEARCH),
    };
    this.suggestions = new Suggestions(broker);
    this.#counter = new FacetCounter(broker, { clock: context.clock, ...context.facets });
    this.#ages = new WalkCache(broker.store, countAges);
    this.results = new Results({
      ...context,
      site: this.site,
      files,
      counter: this.#counter,
      summaryPath: (url) => this.#summaryPath(url),
      openObject: (url) => this.openObject(this.#oidOfUrl(url)),
      readObjects: (urls) => this.#readObjects(urls.map((url) => this.#oidOfUrl(url))),
      openBeside: (url, length) => this.#openBeside(url, length),
    });
  }

  static async open(context: RouteContext): Promise<BrokerPages> {
    const { broker, log } = context;
    return new BrokerPages(context, await ConfigFiles.open(broker.config.brokerDirectory, log));
  }

  /** The path of a page as its links have it. */
  at(path: string): string {
    return `${this.#base}${path}`;
  }

  send(reply: FastifyReply, page: PageReply): FastifyReply {
    return sendPage(reply, page.status, renderBrokerPage(this.site, page));
  }

  /** The search page; its fields have the defaults (BRK-8.6). */
  async search(): Promise<PageReply> {
    const { broker } = this.context;
    const content = renderHome(this.site, {
      form: DEFAULT_FORM,
      statistics: await broker.statistics.get(broker.now()),
      objects: broker.store.count,
      gathering: this.context.gathering?.(),
    });
    return { status: 200, title: `Search ${this.site.brokerName}`, content, current: 'home' };
  }

  openSearch(): string {
    return openSearchDescription(this.site, new URL(this.context.broker.urls.homePage).origin);
  }

  advanced(): PageReply {
    const content = renderAdvancedForm(DEFAULT_FORM, this.site);
    return { status: 200, title: `Advanced search – ${this.site.brokerName}`, content, current: 'advanced' };
  }

  help(page: 'queryhelp' | 'adminhelp' | 'soifhelp'): PageReply {
    const { brokerName } = this.site;
    switch (page) {
      case 'queryhelp':
        return { status: 200, title: `How to search ${brokerName}`, content: renderHelp(), current: 'help' };
      case 'adminhelp':
        return { status: 200, title: 'Help for administrators', content: renderAdminHelp(this.site.admin) };
      case 'soifhelp':
        return { status: 200, title: 'About summaries', content: renderSoifHelp() };
    }
  }

  async statistics(): Promise<PageReply> {
    const { broker } = this.context;
    const statistics = await broker.statistics.get(broker.now());
    const content = renderStatistics({
      statistics,
      ages: await this.#ages.get(statistics.computedAt),
      timetable: broker.timetable.rows(),
      collections: await sharedCollections(broker.store),
      action: this.site.action,
    });
    return { status: 200, title: `Statistics of ${this.site.brokerName}`, content, current: 'stats' };
  }

  async object(path: string): Promise<PageReply> {
    const { brokerName } = this.site;
    const oid = oidOfPath(brokerName, path);
    const stored = await this.openObject(oid);
    if (oid === undefined || stored === undefined) return this.notFound();
    const shown = await shownObject(stored);
    const address = this.context.addressOf?.(shown.url);
    const content = renderObject(shown, this.at(objectPath(brokerName, oid)), address);
    return { status: 200, title: `Summary of ${textOfUrl(shown.url)}`, content, noindex: true };
  }

  /** The bytes of an object; a large one is open and must be closed. */
  async openObject(oid: number | undefined): Promise<Uint8Array | StoredParts | undefined> {
    if (oid === undefined) return undefined;
    const { store } = this.context.broker;
    const large = await store.large(oid);
    if (large !== undefined) return large;
    const [bytes] = await store.objects([oid]);
    return bytes;
  }

  /** The bytes of objects; an object that is stored in parts is `large`. */
  async #readObjects(
    oids: readonly (number | undefined)[],
  ): Promise<readonly (Uint8Array | 'large' | undefined)[]> {
    const known = oids.filter((oid) => oid !== undefined);
    const objects = await this.context.broker.store.objects(known, async () => new Uint8Array(0));
    const found = new Map(known.map((oid, i) => [oid, objects[i]]));
    return oids.map((oid) => {
      const bytes = oid === undefined ? undefined : found.get(oid);
      return bytes?.length === 0 ? 'large' : bytes;
    });
  }

  /** Objects that are stored beside a URL, see `BrokerStore.beside`; none that is stored in parts. */
  async #openBeside(url: string, length: number): Promise<Uint8Array[]> {
    const { store } = this.context.broker;
    const oids = await store.beside(url, length, OTHERS);
    const objects = await store.objects(oids, async () => new Uint8Array(0));
    return objects.filter((bytes): bytes is Uint8Array => bytes !== undefined && bytes.length > 0);
  }

  notFound(): PageReply {
    const content = html`<h1>Not found</h1>
<p>There is no such page. The object may have expired or been replaced; <a href="${this.site.home}">search again</a>.</p>`;
    return { status: 404, title: 'Not found', content, noindex: true };
  }

  failed(status: number): PageReply {
    const text = FAILURES.get(status) ?? 'The server did not understand the request.';
    return { status, title: 'Error', content: html`<h1>Error</h1>\n<p>${text}</p>`, noindex: true };
  }

  /** Returns the path of the readable view of an object of this broker, whatever host its `125` names. */
  #summaryPath(objectUrl: string): string | undefined {
    return this.#oidOfUrl(objectUrl) === undefined
      ? undefined
      : this.at(`${DISPLAY_PROGRAM}?${new URLSearchParams({ object: ownPath(objectUrl) })}`);
  }

  #oidOfUrl(objectUrl: string): number | undefined {
    if (!URL.canParse(objectUrl)) return undefined;
    return oidOfPath(this.site.brokerName, ownPath(objectUrl));
  }
}

/** The run in progress with its sentence for people; absent from JSON while nothing is gathered. */
function gatheringState(gathering: Gathering | undefined) {
  return gathering && { ...gathering, text: gatheringText(gathering) };
}

/** The path of an object's URL without the base that another address of the pages may have. */
function ownPath(objectUrl: string): string {
  const { pathname } = new URL(objectUrl);
  return pathname.slice(Math.max(0, pathname.indexOf('/Harvest/brokers/')));
}

/** Returns the fields of a form, from the body of a POST or from the URL. */
function requestFields(request: FastifyRequest): URLSearchParams {
  return request.body instanceof URLSearchParams ? request.body : queryFields(request);
}

/** Returns a signal that is aborted when the client closes the connection, to end its search. */
function disconnectSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  // A page asks the index for each word of its query at a time.
  setMaxListeners(0, gone.signal);
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  return gone.signal;
}
