import { randomUUID } from 'node:crypto';
import type { Browser, BrowserType } from 'playwright-core';
import { messageOf } from '../../../protocols/errors.js';
import { childWithArgument, processTree } from './process-tree.js';
import { PageError } from './types.js';

export interface ChromiumOptions {
  readonly playwright: BrowserType;
  readonly executable: string;
  readonly userAgent: string;
  /** Resident memory of all its processes above which it is killed, bytes. */
  readonly maxMemoryBytes: number;
  /** False for root, which Chromium's sandbox does not support. */
  readonly sandbox: boolean;
}

/** Milliseconds between two measurements of memory. */
const WATCH_MS = 500;
const START_TIMEOUT_MS = 30_000;
const CLOSE_TIMEOUT_MS = 5_000;
const MIB = 1 << 20;

/**
 * It has no network: every name is unknown to it, also that of the proxy that all connections would take. What
 * a page requests is answered by its caller, before a connection is made.
 */
const NO_NETWORK = [
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--proxy-server=http://no-network.invalid:1',
  '--proxy-bypass-list=<-loopback>',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-quic',
  '--no-pings',
  '--deny-permission-prompts',
];

/** A running Chromium. */
export class ChromiumProcess {
  readonly #options: ChromiumOptions;
  /** Why it ended; undefined while it runs. */
  lost: PageError | undefined;
  readonly #listeners = new Set<(reason: PageError) => void>();
  #timer: NodeJS.Timeout | undefined;
  #pid: number | undefined;

  private constructor(
    readonly browser: Browser,
    options: ChromiumOptions,
  ) {
    this.#options = options;

    browser.once('disconnected', () => this.#lose(new PageError('crashed', 'Chromium ended', true)));
  }

  /** @throws PageError if Chromium does not start */
  static async start(options: ChromiumOptions): Promise<ChromiumProcess> {
    const mark = `--harvest-browser=${randomUUID()}`;
    const heapMiB = Math.ceil(options.maxMemoryBytes / MIB / 2);
    try {
      const browser = await options.playwright.launch({
        executablePath: options.executable,
        chromiumSandbox: options.sandbox,
        args: [...NO_NETWORK, `--js-flags=--max-old-space-size=${heapMiB}`, mark],
        // The program that crawls stops the browser in its own order.
        handleSIGINT: false,
        handleSIGTERM: false,
        handleSIGHUP: false,
        timeout: START_TIMEOUT_MS,
        env: environment(),
      });
      const started = new ChromiumProcess(browser, options);
      started.#pid = await childWithArgument(mark);
      started.#watch();
      return started;
    } catch (error) {
      throw new PageError('start', `Chromium does not start: ${messageOf(error).split('\n')[0]}`);
    }
  }

  /** Calls the function when it ends. Returns a function that ends this. */
  onLost(listener: (reason: PageError) => void): () => void {
    if (this.lost !== undefined) listener(this.lost);
    else this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends it with all its processes. */
  async close(): Promise<void> {
    this.#lose(new PageError('crashed', 'Chromium was stopped', true));
    const closed = this.browser.close().catch(() => undefined);
    const timer = setTimeout(() => void this.#kill(), CLOSE_TIMEOUT_MS);
    await closed;
    clearTimeout(timer);
  }

  /** Ends it at once, with a reason for its pages. */
  async kill(reason: PageError): Promise<void> {
    this.#lose(reason);
    await this.#kill();
    await this.close();
  }

  #lose(reason: PageError): void {
    if (this.lost !== undefined) return;
    this.lost = reason;
    clearTimeout(this.#timer);
    for (const listener of this.#listeners) listener(reason);
    this.#listeners.clear();
  }

  async #kill(): Promise<void> {
    if (this.#pid === undefined) return;
    const { pids } = await processTree(this.#pid);
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
    }
  }

  /** Without /proc, or without the process, nothing is measured. */
  #watch(): void {
    const pid = this.#pid;
    if (pid === undefined || this.lost !== undefined) return;
    this.#timer = setTimeout(async () => {
      const { residentBytes } = await processTree(pid);
      const { maxMemoryBytes } = this.#options;
      if (residentBytes <= maxMemoryBytes) return this.#watch();
      const [used, most] = [residentBytes, maxMemoryBytes].map((bytes) => Math.round(bytes / MIB));
      await this.kill(
        new PageError('memory', `Chromium used ${used} MiB, more than ${most} (browser.memoryMiB)`, true),
      );
    }, WATCH_MS);
    this.#timer.unref();
  }
}

/** What Chromium needs of the environment; passwords of the crawl are not for it. */
function environment(): Record<string, string> {
  const names = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'XDG_RUNTIME_DIR', 'FONTCONFIG_PATH'];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
