// One page in a Chromium: its requests, its time, its document.

import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext, CDPSession, Page, Route } from 'playwright-core';
import { monotonicClock, steadyTime } from '../../../clients/connection/monotonic-clock.js';
import { withTimeout } from '../../../protocols/clock.js';
import { untilAborted } from '../../../protocols/linked-abort.js';
import { Mutex } from '../../../protocols/mutex.js';
import type { ChromiumProcess } from './chromium-process.js';
import { type LoadedPage, PageError, type PageLoad } from './types.js';

/** A page is idle when it is parsed and made no request for this time, milliseconds. */
const IDLE_MS = 500;
const POLL_MS = 50;
/** A page that does not answer for this time runs an endless script, milliseconds. */
const ANSWER_MS = 3000;
/** A page that is not closed after this time makes the browser end, milliseconds. */
const CLOSE_MS = 10_000;
const MAX_SCROLLS = 50;
/**
 * Requests of a page after which its further ones get no answer at all: refusing them costs more than they are
 * worth.
 */
const MAX_ANSWERS = 2000;
/** Larger bodies go to the browser one after the other: each is copied several times on the way, as text. */
const LARGE_BYTES = 256 * 1024;
/** The largest number of navigations that are reported. */
const MAX_NAVIGATIONS = 100;

/**
 * Loads a page in a context of its own, which shares nothing with other pages.
 * @throws PageError, the signal's reason
 */
export async function loadInChromium(
  chromium: ChromiumProcess,
  userAgent: string,
  page: PageLoad,
): Promise<LoadedPage> {
  page.signal.throwIfAborted();
  const opened = chromium.browser.newContext({
    userAgent,
    serviceWorkers: 'block',
    acceptDownloads: false,
    permissions: [],
  });
  const context = await untilAborted(() => opened, page.signal).catch((error: unknown) => {
    void opened.then((late) => closeContext(chromium, late)).catch(() => undefined);
    throw error;
  });
  const end = new AbortController();
  try {
    const visit = new PageVisit(page, AbortSignal.any([page.signal, end.signal]));
    return await untilAborted(() => visit.run(context), page.signal);
  } finally {
    end.abort();
    await closeContext(chromium, context);
  }
}

/** A browser that cannot close a page is of no use. */
async function closeContext(chromium: ChromiumProcess, context: BrowserContext): Promise<void> {
  if (chromium.lost !== undefined) return;
  const timer = setTimeout(
    () => void chromium.kill(new PageError('crashed', 'Chromium could not close a page', true)),
    CLOSE_MS,
  );
  await context.close().catch(() => undefined);
  clearTimeout(timer);
}

class PageVisit {
  readonly #load: PageLoad;
  readonly #signal: AbortSignal;
  readonly #navigations = new Set<string>();
  readonly #large = new Mutex();
  #answers = 0;
  #inFlight = 0;
  #lastChange = steadyTime();
  #begun = false;
  #parsed = false;

  constructor(load: PageLoad, signal: AbortSignal) {
    this.#load = load;
    this.#signal = signal;

    // Each request of the page waits for it.
    setMaxListeners(0, signal);
  }

  async run(context: BrowserContext): Promise<LoadedPage> {
    const deadline = steadyTime() + this.#load.timeoutMs;
    const page = await context.newPage();
    const crashed = new Promise<never>((_, reject) => {
      page.once('crash', () => reject(new PageError('crashed', 'the page crashed')));
    });
    crashed.catch(() => undefined);
    page.on('domcontentloaded', () => {
      this.#parsed = true;
      this.#lastChange = steadyTime();
    });
    page.on('dialog', (dialog) => void dialog.dismiss().catch(() => undefined));
    context.on('page', (popup) => {
      if (popup !== page) void popup.close().catch(() => undefined);
    });
    await context.routeWebSocket(/./, (socket) => socket.close());
    await context.route(
      () => true,
      (route) => this.#answer(route, page),
    );
    return Promise.race([crashed, this.#visit(page, context, deadline)]);
  }

  async #visit(page: Page, context: BrowserContext, deadline: number): Promise<LoadedPage> {
    const session = await context.newCDPSession(page);
    await page.goto(this.#load.url, { waitUntil: 'commit', timeout: this.#load.timeoutMs }).catch(() => {
      throw new PageError('hung', 'the page does not open');
    });
    let isIdle = await this.#idle(deadline);
    if (this.#load.scroll) isIdle = await this.#scroll(session, deadline);
    const html = await this.#document(session);
    if (html === '') throw new PageError('large', 'the document of the page is too large');
    return { html, navigations: [...this.#navigations], timedOut: !isIdle };
  }

  /** Waits until the page is idle; returns false if the time is over before. */
  async #idle(deadline: number): Promise<boolean> {
    while (steadyTime() < deadline) {
      // A navigation ends the parsing of the page.
      const isParsed = this.#parsed || this.#navigations.size > 0;
      if (isParsed && this.#inFlight === 0 && steadyTime() - this.#lastChange >= IDLE_MS) return true;
      await sleep(POLL_MS, undefined, { signal: this.#signal });
    }
    return false;
  }

  /** Scrolls until the page grows no more. */
  async #scroll(session: CDPSession, deadline: number): Promise<boolean> {
    let height = -1;
    for (let i = 0; i < MAX_SCROLLS && steadyTime() < deadline; i++) {
      const found = Number(
        await this.#evaluate(
          session,
          '(window.scrollTo(0, document.documentElement.scrollHeight), document.documentElement.scrollHeight)',
        ),
      );
      this.#lastChange = steadyTime();
      if (!(await this.#idle(deadline))) return false;
      if (found === height) return true;
      height = found;
    }
    return steadyTime() < deadline;
  }

  /** Returns the document; empty if it is larger than allowed. */
  async #document(session: CDPSession): Promise<string> {
    const html = await this.#evaluate(
      session,
      `(() => {
        const { doctype, documentElement } = document;
        const html = (doctype ? '<!DOCTYPE ' + doctype.name + '>' : '') + (documentElement?.outerHTML ?? '<html></html>');
        return html.length > ${this.#load.maxLength} ? '' : html;
      })()`,
    );
    return String(html ?? '');
  }

  /** Evaluates an expression in a world of its own, whose functions the page cannot replace. */
  async #evaluate(session: CDPSession, expression: string): Promise<unknown> {
    const evaluated = async (): Promise<unknown> => {
      const { frameTree } = await session.send('Page.getFrameTree');
      const { executionContextId } = await session.send('Page.createIsolatedWorld', {
        frameId: frameTree.frame.id,
      });
      const { result } = await session.send('Runtime.evaluate', {
        contextId: executionContextId,
        expression,
        returnByValue: true,
      });
      return result.value;
    };
    return withTimeout(monotonicClock, ANSWER_MS, evaluated(), () => {
      throw new PageError('hung', 'the page does not answer; its scripts do not end');
    });
  }

  async #answer(route: Route, page: Page): Promise<void> {
    if (this.#answers++ >= MAX_ANSWERS || this.#signal.aborted) return;
    this.#inFlight++;
    this.#lastChange = steadyTime();
    try {
      await this.#respond(route, page);
    } catch {
      // The page, or the browser, was closed meanwhile.
      await route.abort('failed').catch(() => undefined);
    } finally {
      this.#inFlight--;
      this.#lastChange = steadyTime();
    }
  }

  async #respond(route: Route, page: Page): Promise<void> {
    const request = route.request();
    const frame = request.frame();
    if (frame.page() !== page) return route.abort('aborted');
    if (request.isNavigationRequest() && frame === page.mainFrame()) {
      if (this.#begun) {
        if (this.#navigations.size < MAX_NAVIGATIONS && request.method() === 'GET')
          this.#navigations.add(request.url());
        return route.abort('aborted');
      }
      this.#begun = true;
      return fulfill(route, this.#load.response);
    }
    const answer = await this.#load.fetch(
      {
        url: request.url(),
        method: request.method(),
        type: request.resourceType(),
        origin: request.headers().origin ?? '',
      },
      this.#signal,
    );
    if (answer === undefined) return route.abort('blockedbyclient');
    // A frame has the URL to which its request was redirected.
    if (request.isNavigationRequest() && answer.url !== withoutFragment(request.url()))
      return route.fulfill({ contentType: 'text/html', body: redirectTo(answer.url) });
    if (answer.body.length < LARGE_BYTES) return fulfill(route, answer);
    return this.#large.runExclusive(() => fulfill(route, answer));
  }
}

function fulfill(route: Route, { status, headers, body }: PageLoad['response']): Promise<void> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return route.fulfill({ status, headers: browserHeaders(headers), body: bytes });
}

function withoutFragment(url: string): string {
  return url.replace(/#.*$/s, '');
}

function redirectTo(url: string): string {
  return `<script>location.replace(${JSON.stringify(url).replaceAll('<', '\\u003c')})</script>`;
}

/** Headers of the transfer, which the browser does not see, and of cookies, which the crawl keeps. */
const REMOVED = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'keep-alive',
  'link',
  'proxy-authenticate',
  'refresh',
  'set-cookie',
  'strict-transport-security',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Returns the headers of a response that a browser gets with the decoded body. */
function browserHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  // Values with bytes that the browser refuses would fail the whole response.
  return Object.fromEntries(
    Object.entries(headers).filter(([name, value]) => !REMOVED.has(name) && /^[\t\x20-\x7e]*$/.test(value)),
  );
}
