// Answers a query of the form as a page, RSS or JSON.

import { literalTerms, TermFinder } from '../../../clients/broker/query-terms.js';
import type { Query } from '../../../protocols/broker/index.js';
import { Budget } from '../../../protocols/budget.js';
import { type BrokerQueryConfig, usesVariable } from '../../../protocols/config/broker-query-cf.js';
import { ConnectionError, messageOf } from '../../../protocols/errors.js';
import { addressGroup, LogLimiter } from '../../host/index.js';
import { type Content, type Html, html } from '../../web/html.js';
import { beginPage, endPage } from '../../web/page-shell.js';
import { AlternativeFinder, renderAlternatives, renderReading } from './alternatives.js';
import { type Answer, type AskContext, askForPage } from './ask-broker.js';
import type { ConfigFiles } from './config-files.js';
import type { FacetCounter, FacetCounts } from './facets.js';
import { jsonResult, rssResult } from './feeds.js';
import { ForgivingReader, forgivenText, readWithoutForms, renderForgiven } from './forgiving.js';
import { isEmptyForm, type QueryForm, readForm, subjectOf, withOwnFlags, writeForm } from './form.js';
import { renderGathering } from './gathering.js';
import { highlighter } from './highlight.js';
import { holdList, type ListMemory } from './large-reply.js';
import { pageShell, type SiteLinks } from './layout.js';
import { LinkedFrom, orderByLinks } from './linked-from.js';
import { listedBy, type Paging, pagingOf, selectPage } from './paging.js';
import { type PassageSource, passagesOf } from './passages.js';
import { type FaultyQuery, type QueryTarget, readTyped, type TypedQuery } from './query.js';
import { isStructured } from './query-words.js';
import type { ShownHit, ShownResult } from './results.js';
import { type ResultsView, renderNotice, renderResultItem, resultVariables } from './results-page.js';
import type { RouteContext } from './route-context.js';
import { renderSearchForm } from './search-form.js';
import { objectVariables, renderDefinition, renderTemplate, type Variables } from './templates.js';
import { PageTurns, type Visitor } from './visitor.js';

/** The reply to a query in the requested format. */
export interface ResultReply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  /** That of a long list; the sender of the body disposes of it. */
  readonly memory?: ListMemory | undefined;
}

/** Context of {@link Results}. */
export interface ResultsContext extends RouteContext, PassageSource {
  readonly site: SiteLinks;
  readonly files: ConfigFiles;
  readonly counter: FacetCounter;
  readonly summaryPath: ShownResult['summaryPath'];
}

/** A Broker to query, and whether it is one of Brokers.cf. */
type Target = QueryTarget & { readonly listed: boolean };

/** A query, its target, and the definitions of its pages. */
interface PageQuery {
  readonly form: QueryForm;
  readonly config: BrokerQueryConfig;
  readonly target: Target;
  readonly paging: Paging;
  /** The message line for the broker. */
  readonly message: string;
  /** Ends the reply of a client that does not read it. */
  readonly cut: () => void;
  readonly visitor: Visitor;
  readonly turns: PageTurns;
}

/** Default of `maxListed`. */
const MAX_LISTED = 20_000;

/** The cost of writing a page, in milliseconds of processor time. */
const RENDERING_COST_MS = 1;
/** The same for each object of its list. */
const OBJECT_COST_MS = 0.1;

/** Objects that `References-Rank` orders. */
const RAISED_OBJECTS = 50;

/** With fewer objects, the page looks for queries that find more. */
const FEW_OBJECTS = 3;

const HTML = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';
const RSS_TYPE = 'application/rss+xml; charset=utf-8';

/**
 * Answers queries of the form as pages by the definitions of BrokerQuery.cf (BRK-9.5 to 9.8), as RSS and as
 * JSON.
 */
export class Results implements AsyncDisposable {
  readonly #context: ResultsContext;
  #linkedFrom: LinkedFrom | undefined;
  readonly #lines: LogLimiter;
  readonly #alternatives: AlternativeFinder;
  readonly #forgiving: ForgivingReader;
  readonly #listed: Budget<string>;

  constructor(context: ResultsContext) {
    this.#context = context;
    this.#listed = new Budget(context.maxListed ?? MAX_LISTED);
    this.#alternatives = new AlternativeFinder(context.broker.indexer);
    this.#forgiving = new ForgivingReader(context.broker.indexer);
    this.#lines = new LogLimiter((text) => context.log.warn(`Query page: ${text}`));
  }

  /** Closes the connection to the References Server. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#lines[Symbol.dispose]();
    await this.#linkedFrom?.[Symbol.asyncDispose]();
  }

  /**
   * @param address the browser's address
   * @param cut ends the reply of a client that does not read it
   */
  async reply(
    fields: URLSearchParams,
    address: string,
    signal: AbortSignal,
    cut: () => void = () => undefined,
  ): Promise<ResultReply> {
    const { files, log } = this.#context;
    const filled = readForm(fields);
    const config = await files.query(filled.config);
    const target = await this.#findTarget(filled, config, address);
    const form = target.listed ? filled : withOwnFlags(filled);
    const visitor = { client: addressGroup(address), signal };
    const paging = pagingOf(form, target.maxResults, hasPager(config));
    const turns = new PageTurns(address, signal);
    const pageQuery: PageQuery = { form, config, target, paging, message: '', cut, visitor, turns };
    const read = isEmptyForm(form) ? undefined : readTyped(form);
    if (read === undefined) return this.#renderNothingAsked(pageQuery);
    if (read.kind === 'fault')
      return this.#renderFailure(400, pageQuery, refusal(read.message, renderFault(form.query, read)));
    using _listed = await this.#listed.take(listedBy(form, paging), { key: visitor.client, signal });
    const context: AskContext = {
      form,
      target,
      turns,
      paging,
      count: async (query, flags, until) =>
        target.listed ? undefined : this.#countFacets(query, flags, { ...visitor, signal: until }, turns),
      hasMostWords: !target.listed && this.#context.broker.indexer.capabilities.mostWords,
    };
    try {
      // Other forms of words are whole words, and of this index.
      const withForms = form.matchWord && !target.listed;
      const reading = !form.forms
        ? undefined
        : withForms
          ? await this.#forgiving.read(read.query, visitor)
          : readWithoutForms(read.query);
      const answer = await askForPage(context, read.query, reading, signal);
      const sent = { ...pageQuery, message: answer.message };
      if (!('kind' in answer)) return await this.#renderWithin(sent, read, answer);
      if (answer.kind === 'unreadable') return this.#renderFailure(400, pageQuery, refusal(answer.text));
      const status = /busy|cannot answer now/i.test(answer.text) ? 503 : 400;
      const notice = renderNotice('error', 'The broker refused the query:', answer.text);
      const message = html`<div id="${ERROR_ID}">${notice}</div>`;
      return this.#renderFailure(status, sent, refusal('the broker refused the query', message));
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      if (this.#lines.allows(address)) log.error(`Query page: ${error.message}`);
      // BRK-9.6
      const failure = { definition: 'BrokerDown', text: 'the broker does not answer' } as const;
      return this.#renderFailure(503, pageQuery, failure);
    }
  }

  /** Returns the broker of Brokers.cf that the form names (BRK-9.3), or else our own. */
  async #findTarget(form: QueryForm, config: BrokerQueryConfig, address: string): Promise<Target> {
    const { broker, brokerAddress, portCertificate, files } = this.#context;
    const { maxResults } = broker.config;
    const timeout = config.timeout === undefined ? {} : { timeout: config.timeout };
    const listed = await files.broker(form.broker);
    return listed === undefined
      ? {
          port: brokerAddress.port,
          host: portCertificate === undefined ? brokerAddress.host : `tls://${brokerAddress.host}`,
          fingerprint: portCertificate?.fingerprint,
          opaqueMode: broker.queries.opaqueMode,
          maxResults,
          ...timeout,
          listed: false,
          register: (local) => broker.callers.register(local, address),
        }
      : {
          host: listed.host,
          port: listed.port,
          opaqueMode: 'suppress',
          maxResults,
          ...timeout,
          listed: true,
        };
  }

  /** Counts the whole result. Returns undefined if counting fails, so that the page appears without counts. */
  async #countFacets(
    query: Query,
    form: QueryForm,
    { client, signal }: Visitor,
    turns: PageTurns,
  ): Promise<FacetCounts | undefined> {
    try {
      return await this.#context.counter.count(query, form, signal, client, turns);
    } catch (error) {
      if (!signal.aborted && this.#lines.allows(client)) {
        this.#context.log.warn(`Query page: no counts: ${messageOf(error)}`);
      }
      return undefined;
    }
  }

  /**
   * Returns the client of the References Server in the current configuration, which `#restart` may have
   * changed.
   */
  async #openLinkedFrom(): Promise<LinkedFrom | undefined> {
    const { referencesServer, referencesUrl } = this.#context.broker.config;
    if (this.#linkedFrom?.server !== referencesServer) {
      const former = this.#linkedFrom;
      this.#linkedFrom =
        referencesServer === undefined
          ? undefined
          : new LinkedFrom(referencesServer, {
              pagesUrl: referencesUrl,
              certificate: this.#context.referencesCertificate,
            });
      await former?.[Symbol.asyncDispose]();
    }
    return this.#linkedFrom;
  }

  /** Renders results within the memory for replies. */
  async #renderWithin(pageQuery: PageQuery, typed: TypedQuery, answer: Answer): Promise<ResultReply> {
    const { paging, visitor, cut } = pageQuery;
    const objects = Math.min(paging.pageObjects, answer.results.hits.length);
    const memory = await holdList(objects, this.#context.broker.queries.memory, visitor, cut);
    try {
      return { ...(await this.#renderResults(pageQuery, typed, answer)), memory };
    } catch (error) {
      memory?.[Symbol.dispose]();
      throw error;
    }
  }

  async #renderResults(pageQuery: PageQuery, typed: TypedQuery, answer: Answer): Promise<ResultReply> {
    const { form, visitor } = pageQuery;
    const { results: found, counts } = answer;
    const { site, broker, summaryPath } = this.#context;
    const links = await this.#openLinkedFrom();
    const raise = broker.config.referencesRank === true && form.sort === 'by-rank';
    const countLinks = async (hits: readonly ShownHit[]) => {
      const urls = hits.map(({ url }) => url);
      return (await links?.count(urls, visitor.signal)) ?? new Map<string, number>();
    };
    // The same objects on every page, so that the order of the list does not depend on the page.
    const best = found.hits.slice(0, RAISED_OBJECTS);
    const raised = raise ? await countLinks(best) : undefined;
    const hits =
      raised === undefined ? found.hits : [...orderByLinks(best, raised), ...found.hits.slice(best.length)];
    const results = { ...found, hits };
    const part = selectPage(form, results, counts, pageQuery.paging);
    const shown = {
      action: site.action,
      home: site.home,
      form,
      results,
      counts,
      part,
      linkedFrom: await countLinks(part.hits),
      summaryPath,
    };
    const terms = TermFinder.of(literalTerms(answer.query), form);
    const hasPassages = !pageQuery.target.listed && terms !== undefined;
    const passages = hasPassages
      ? await passagesOf(part.hits, terms, this.#context, visitor.signal, pageQuery.turns)
      : new Map();
    await pageQuery.turns.take(RENDERING_COST_MS);
    const { addressOf } = this.#context;
    const gathering = pageQuery.target.listed ? undefined : this.#context.gathering?.();
    if (form.format !== 'html') {
      const origin = new URL(broker.urls.homePage).origin;
      const reading = forgivenText({ ...answer.forgiven, said: typed.said });
      const source = {
        ...shown,
        passages,
        reading,
        brokerName: site.brokerName,
        origin,
        message: pageQuery.message,
        gathering,
        addressOf,
      };
      return form.format === 'json'
        ? { status: 200, type: JSON_TYPE, body: jsonResult(source) }
        : { status: 200, type: RSS_TYPE, body: rssResult(source) };
    }
    return this.#renderList(pageQuery, {
      ...shown,
      maxResults: pageQuery.target.maxResults,
      highlight: highlighter(terms),
      passages,
      help: await this.#renderHelp(pageQuery, typed, answer),
      linksPage: (url) => links?.pageOf(url),
      gathering: renderGathering(gathering, site.health),
      addressOf,
    });
  }

  /** BRK-9.8 */
  async #renderList(pageQuery: PageQuery, view: ResultsView): Promise<ResultReply> {
    const { config, turns } = pageQuery;
    const { part } = view;
    const set = { ...this.#pageVariables(pageQuery), ...resultVariables(view) };
    const render = (name: Parameters<typeof renderDefinition>[1]) => renderDefinition(config, name, set);
    const objects: Html[] = [];
    for (const [i, hit] of part.hits.entries()) {
      await turns.take(OBJECT_COST_MS);
      const variables = objectVariables(hit, part.first + i + 1, config);
      const object = renderResultItem(hit, view);
      objects.push(renderTemplate(config.templates.PrintObject, { ...set, ...variables, object }));
    }
    const body = html`${render('ResultHeader')}
${render('ResultSetBegin')}
${objects}${render('ResultSetEnd')}
${part.limit === undefined ? '' : html`${render('TruncateWarning')}\n`}${render('EndBrokerResults')}
${render('ResultTrailer')}
`;
    return { status: 200, type: HTML, body: body.text };
  }

  /** How the query was understood, and what finds more if it found nothing or little. */
  async #renderHelp(
    { form, target, visitor }: PageQuery,
    { query, text, said }: TypedQuery,
    { results: { hits, truncated, failure }, forgiven }: Answer,
  ): Promise<Content> {
    const { action } = this.#context.site;
    const exactUrl = `${action}?${writeForm({ ...form, page: 1, forms: false })}`;
    const reading = renderForgiven({ ...forgiven, said }, exactUrl);
    if (target.listed) return reading;
    const isFew = hits.length < FEW_OBJECTS && !truncated && failure === undefined;
    const asRead = { ...form, query: text };
    const alternatives = isFew ? await this.#alternatives.find(asRead, hits.length, visitor) : [];
    return [
      reading,
      query.kind !== 'all' && (hits.length === 0 || isStructured(query)) ? renderReading(query) : '',
      renderAlternatives(alternatives, action),
    ];
  }

  /** Nothing to search for is no error of a person, but one of a program. */
  #renderNothingAsked(pageQuery: PageQuery): ResultReply {
    const text = 'Type at least one word to search for.';
    const message = html`<p class="note" role="status" id="${ERROR_ID}">${text}</p>`;
    const status = pageQuery.form.format === 'html' ? 200 : 400;
    return this.#renderFailure(status, pageQuery, { ...refusal(text, message), isWrong: false });
  }

  /** Renders a definition instead of results; the reply to a program is the reason alone. */
  #renderFailure(status: number, pageQuery: PageQuery, failure: Failure): ResultReply {
    const { config, form } = pageQuery;
    const { definition, text, message } = failure;
    if (form.format === 'json')
      return { status, type: JSON_TYPE, body: `${JSON.stringify({ query: form.query, failure: text })}\n` };
    if (form.format === 'rss') return { status, type: 'text/plain; charset=utf-8', body: `${text}\n` };
    const variables = {
      ...this.#pageVariables(pageQuery, message && ERROR_ID, failure.isWrong),
      nobjects: '0',
      nopaquelines: '0',
      message: message ?? '',
    };
    const body = html`${renderDefinition(config, 'ResultHeader', variables)}
${renderDefinition(config, definition, variables)}
${renderDefinition(config, 'ResultTrailer', variables)}
`;
    return { status, type: HTML, body: body.text };
  }

  /** BRK-9.7: returns the variables before results, and our own fragments of a page. */
  #pageVariables(
    { form, config, target, paging, message }: PageQuery,
    errorId?: string,
    isWrong = true,
  ): Variables {
    const { site } = this.#context;
    const feed = (format: 'rss' | 'json') => `${site.action}?${writeForm({ ...form, page: 1, format })}`;
    const shell = pageShell(site, {
      title: isEmptyForm(form) ? `Search ${site.brokerName}` : `${subjectOf(form)} – ${site.brokerName}`,
      noindex: true,
      canonical: `${site.action}?${writeForm({ ...form, format: 'html' })}`,
      harvestUrl: config.harvestUrl,
      ...(message === ''
        ? {}
        : {
            alternates: [
              { type: 'application/rss+xml', title: 'These results as RSS', href: feed('rss') },
              { type: 'application/json', title: 'These results as JSON', href: feed('json') },
            ],
          }),
    });
    const heading = errorId === undefined ? '' : html`<h1>Search ${site.brokerName}</h1>\n`;
    const shown = renderSearchForm(form, site, {
      autofocus: errorId !== undefined,
      errorId,
      isWrong,
    });
    return {
      maxresult: String(form.maxResults ?? paging.most),
      host: target.host,
      port: String(target.port),
      query: form.query,
      bquery: message,
      page_begin: beginPage(shell),
      form: html`${heading}${shown}`,
      page_end: endPage(shell),
    };
  }
}

/** Whether the pages of these definitions have links to each other. */
function hasPager({ templates }: BrokerQueryConfig): boolean {
  return usesVariable(templates.EndBrokerResults, 'pager') || usesVariable(templates.ResultTrailer, 'pager');
}

/** Why there are no results. */
interface Failure {
  readonly definition: 'FailBrokerResults' | 'BrokerDown';
  readonly text: string;
  /** What the page says; an element with {@link ERROR_ID}. */
  readonly message?: Html;
  /** Whether something is wrong with the query. Default true. */
  readonly isWrong?: boolean;
}

/** Identifier of the element that says why a query was refused. */
const ERROR_ID = 'query-error';

function refusal(
  text: string,
  message = html`<p class="error" role="alert" id="${ERROR_ID}">${text}</p>`,
): Failure {
  return { definition: 'FailBrokerResults', text, message };
}

/** Renders the query with a mark under its error. */
function renderFault(query: string, fault: FaultyQuery): Html {
  const marks = '^'.repeat(Math.max(1, fault.end - fault.start));
  return html`<div class="error" role="alert" id="${ERROR_ID}" data-fault="${fault.start}"><strong>The query cannot be read at position ${fault.start + 1}:</strong> ${fault.message}</div>
<pre class="fault" aria-hidden="true">${query}
${' '.repeat(fault.start)}${marks}</pre>`;
}
