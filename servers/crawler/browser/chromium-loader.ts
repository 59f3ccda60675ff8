import type { BrowserType } from 'playwright-core';
import { Budget } from '../../../protocols/budget.js';
import { errorCode, messageOf, UsageError } from '../../../protocols/errors.js';
import { announce } from '../events.js';
import { type ChromiumOptions, ChromiumProcess } from './chromium-process.js';
import { findChromium } from './find-chromium.js';
import { loadInChromium } from './load-page.js';
import { type LoadedPage, PageError, type PageLoad, type PageLoader } from './types.js';

export interface ChromiumLoaderOptions {
  /** Path of Chromium; empty: it is looked for. */
  readonly executable: string;
  readonly userAgent: string;
  /** Number of pages that are loaded concurrently. */
  readonly maxPages: number;
  /** Resident memory above which Chromium is restarted. */
  readonly memoryMiB: number;
}

/** Loads pages in a Chromium, which starts with the first page and is restarted after it ended. */
export class ChromiumLoader implements PageLoader {
  readonly #options: ChromiumOptions;
  readonly #pages: number;
  #current: Promise<ChromiumProcess> | undefined;
  #closed = false;
  readonly #slots: Budget;

  private constructor(options: ChromiumOptions, pages: number) {
    this.#options = options;
    this.#pages = pages;
    this.#slots = new Budget(pages);
  }

  /** Finds playwright-core and Chromium. @throws UsageError if playwright-core or Chromium is missing */
  static async open({
    executable,
    maxPages,
    memoryMiB,
    userAgent,
  }: ChromiumLoaderOptions): Promise<ChromiumLoader> {
    const playwright = await loadPlaywright();
    const file = await findChromium(executable);
    const sandbox = process.getuid?.() !== 0;
    if (!sandbox) {
      announce(
        'Chromium runs without its sandbox, because this program runs as root; run it as another user',
      );
    }
    const options = { playwright, executable: file, userAgent, maxMemoryBytes: memoryMiB * 2 ** 20, sandbox };
    return new ChromiumLoader(options, maxPages);
  }

  /** A page whose browser ended, perhaps because of another page, is loaded once more, alone. */
  async load(page: PageLoad): Promise<LoadedPage> {
    try {
      return await this.#slots.run(1, () => this.#attempt(page), { signal: page.signal });
    } catch (error) {
      if (!(error instanceof PageError) || !error.browserEnded || this.#closed) throw error;
      return this.#slots.run(this.#pages, () => this.#attempt(page), { signal: page.signal });
    }
  }

  async #attempt(page: PageLoad): Promise<LoadedPage> {
    const chromium = await this.#process();
    const end = new AbortController();
    const stop = chromium.onLost((reason) => end.abort(reason));
    try {
      const signal = AbortSignal.any([page.signal, end.signal]);
      return await loadInChromium(chromium, this.#options.userAgent, { ...page, signal });
    } catch (error) {
      page.signal.throwIfAborted();
      const reason = chromium.lost ?? error;
      throw reason instanceof PageError ? reason : new PageError('crashed', messageOf(reason));
    } finally {
      stop();
    }
  }

  async #process(): Promise<ChromiumProcess> {
    for (;;) {
      const begun = this.#current;
      const running = await begun?.catch(() => undefined);
      if (this.#closed) throw new PageError('start', 'the crawl ends');
      if (running !== undefined && running.lost === undefined) return running;
      // Of several pages that wait, one starts it.
      if (this.#current !== begun) continue;
      this.#current = this.#start();
      return this.#current;
    }
  }

  async #start(): Promise<ChromiumProcess> {
    const started = await ChromiumProcess.start(this.#options);
    started.onLost((reason) => {
      if (!this.#closed) announce(`${reason.message}; it is started again`);
    });
    return started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    const current = await this.#current?.catch(() => undefined);
    await current?.close();
  }
}

/** Loads the optional package that controls Chromium. @throws UsageError if it is not installed */
async function loadPlaywright(): Promise<BrowserType> {
  try {
    const { chromium } = await import('playwright-core');
    return chromium;
  } catch (cause) {
    if (errorCode(cause) !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new UsageError(
      'the fetcher browser needs the package playwright-core: npm install playwright-core',
      {
        cause,
      },
    );
  }
}
