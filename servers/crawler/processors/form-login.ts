import { type Fetcher, type FetchRequest, hideWords } from '../../../clients/fetch/index.js';
import { ConnectionError, messageOf, RefusedError } from '../../../protocols/errors.js';
import { hostOf } from '../../../protocols/urls/index.js';
import type { QueuedUri } from '../../../storage/index.js';
import type { Processor, ProcessResult } from '../chains.js';
import { type CrawlUri, FETCH_STATUS } from '../crawl-uri.js';
import { announce } from '../events.js';
import type { CookieJars } from '../requests/cookie-jars.js';
import { extraHeaders, proxyOf } from '../requests/request-settings.js';
import type { ServerCache } from '../servers/server-cache.js';
import type { LoginForm, ProcessorDescriptor } from './parts.js';

interface FormLoginOptions {
  readonly forms: readonly LoginForm[];
  readonly fetcher: Fetcher;
  readonly cookies: CookieJars;
  readonly servers: Pick<ServerCache, 'contact' | 'locks'>;
  readonly timeoutMs: number;
  /** G-174: whether the request for a queued URI must not reach private addresses. */
  readonly mustBePublic: (uri: QueuedUri) => boolean;
}

/** Attempts to send a form, after which its documents are fetched without a login. */
const MAX_TRIES = 3;
/** Bytes of the answer to a form that are read. */
const MAX_ANSWER = 64 * 1024;

interface LoginState {
  readonly form: LoginForm;
  tries: number;
  done: boolean;
  running: Promise<void> | undefined;
}

/**
 * CRAWL-12.4: sends a form of the order before the first document that needs its login, in place of that
 * document: the URI returns to the head of its queue, and is given out again after the politeness delay. The
 * cookies of the answer are the login. Each process logs in once.
 */
class FormLogin implements Processor {
  readonly #options: FormLoginOptions;
  readonly name = 'FormLogin';
  readonly #logins: readonly LoginState[];

  constructor(options: FormLoginOptions) {
    this.#options = options;
    this.#logins = options.forms.map((form) => ({ form, tries: 0, done: false, running: undefined }));
  }

  async process(uri: CrawlUri): Promise<ProcessResult> {
    if (uri.disposition === 'kept' || uri.fetched !== undefined) return 'proceed';
    const login = this.#logins.find(({ form, done }) => !done && isBelow(uri.url, form.url));
    if (login === undefined) return 'proceed';
    const begin = Date.now();
    // Concurrent URIs wait for one login. If its own URI is stopped, the next one begins another.
    login.running ??= this.#logIn(login, uri).finally(() => {
      login.running = undefined;
    });
    try {
      await login.running;
    } catch (error) {
      if (uri.signal.aborted) uri.contacted(begin);
      throw error;
    }
    uri.contacted(begin);
    uri.firstPrerequisite = true;
    uri.status = FETCH_STATUS.deferred;
    uri.disposition = 'retry';
    uri.reason = `login at ${login.form.loginUrl}`;
    return 'post';
  }

  async #logIn(login: LoginState, uri: CrawlUri): Promise<void> {
    const { fetcher, cookies, servers } = this.#options;
    const { loginUrl } = login.form;
    login.tries++;
    try {
      const request = await this.#requestOf(login.form, uri);
      const answer = await servers.locks.shared(hostOf(loginUrl), uri.signal, () => fetcher.fetch(request));
      servers.contact(loginUrl, true);
      await cookies.receive(loginUrl, answer.setCookies ?? [], answer.headers.date);
      if (answer.status >= 400) this.#failed(login, `status ${answer.status}`);
      else if (answer.setCookies === undefined) this.#failed(login, 'the answer sets no cookie');
      else login.done = true;
    } catch (error) {
      if (uri.signal.aborted) {
        login.tries--;
        throw error;
      }
      if (!(error instanceof ConnectionError || error instanceof RefusedError)) throw error;
      servers.contact(loginUrl, false);
      this.#failed(login, hideWords(messageOf(error), login.form.secrets));
    }
  }

  #failed(login: LoginState, reason: string): void {
    login.done = login.tries >= MAX_TRIES;
    const next = login.done ? 'its documents are fetched without it' : 'it is tried again';
    announce(`login at ${login.form.loginUrl}: ${reason}; attempt ${login.tries} of ${MAX_TRIES}, ${next}`);
  }

  async #requestOf({ loginUrl, method, fields }: LoginForm, uri: CrawlUri): Promise<FetchRequest> {
    const { cookies, mustBePublic, timeoutMs } = this.#options;
    const body = new URLSearchParams(Object.entries(fields)).toString();
    const url = method === 'get' ? `${loginUrl}${loginUrl.includes('?') ? '&' : '?'}${body}` : loginUrl;
    const { referer: _, ...headers } = await extraHeaders(uri, undefined);
    const cookie = await cookies.headerFor(loginUrl);
    return {
      url,
      timeoutMs,
      maxBytes: MAX_ANSWER,
      reload: true,
      signal: uri.signal,
      ...proxyOf(uri.settings),
      extraHeaders: cookie === '' ? headers : { ...headers, cookie },
      ...(method === 'post' ? { post: body } : {}),
      ...(mustBePublic(uri.entry.uri) ? { publicOnly: true } : {}),
      ...(uri.fetchAs === '' ? {} : { userAgent: uri.fetchAs }),
    };
  }
}

/** Whether a URL is at or below another one, on the same server. */
function isBelow(url: string, prefix: string): boolean {
  if (!url.startsWith(prefix)) return false;
  return prefix.endsWith('/') || url.length === prefix.length || /^[/?]/.test(url.slice(prefix.length));
}

export const FORM_LOGIN: ProcessorDescriptor = {
  name: 'FormLogin',
  chain: 'pre-fetch',
  text: 'sends the forms of credentials before the documents that need their login',
  rule: 'CRAWL-12.4',
  after: ['History', 'LocalMapping', 'PreconditionEnforcer'],
  create: ({ parts: { fetcher, servers, forms, limits } }) => {
    const { cookies, timeoutMs, mustBePublic = () => false } = limits;
    if (cookies === undefined || forms.length === 0) return undefined;
    return new FormLogin({ forms, fetcher, cookies, servers, timeoutMs, mustBePublic });
  },
};
