// Processors of the operator: modules that an order names by path (CRAWL-1.8, 11.1).
import { dirname, parse, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { monotonicClock } from '../../../clients/connection/monotonic-clock.js';
import { withTimeout } from '../../../protocols/clock.js';
import { ConfigError, messageOf, StateError } from '../../../protocols/errors.js';
import { untilAborted } from '../../../protocols/linked-abort.js';
import type { ChainName, Processor, ProcessResult } from '../chains.js';
import type { CrawlUri } from '../crawl-uri.js';
import type { ChainStep } from '../order/chain-config.js';
import { SavedState } from './uri-state.js';

/** What `createProcessor` of an operator's module gets. */
export interface UserProcessorOptions {
  /** The name of the processor in logs and reports. */
  readonly name: string;
  readonly chain: ChainName;
  /** The settings of its entry in the order. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The directory of the crawl's files. */
  readonly directory: string;
}

/** What `createProcessor` returns. */
export interface UserProcessor {
  /**
   * @param uri the URI in flight; it must not be used after the returned promise has settled
   * @param signal aborted when the time-out of the processor has passed, its worker is killed or the crawl ends
   * @returns as {@link Processor.process}; nothing means `proceed`
   */
  process(uri: CrawlUri, signal: AbortSignal): unknown;
  /** Called when the crawl ends. */
  close?(): unknown;
}

/** A loaded processor. */
export interface LoadedProcessor extends Processor {
  /** Waits for the processor's own `close`, at most for its time-out. */
  close(): Promise<void>;
}

type CreateProcessor = (options: UserProcessorOptions) => unknown;

/**
 * Loads the module of a step with `import()`, which runs it.
 * @throws ConfigError with the line of the order if it cannot be loaded or exports no function
 *   `createProcessor`
 */
export async function importProcessor(step: ChainStep): Promise<CreateProcessor> {
  const file = fileOf(step);
  const loaded = await attempt(step, async (): Promise<unknown> => import(pathToFileURL(file).href));
  if (!hasFunction(loaded, 'createProcessor'))
    return fail(step, `${file} exports no function createProcessor`);
  return (options) => loaded.createProcessor(options);
}

/**
 * Loads the module of a step and creates its processor.
 * @throws ConfigError with the line of the order as {@link importProcessor}, or if the processor is of another
 *   form
 */
export async function loadProcessor(
  step: ChainStep,
  chain: ChainName,
  directory: string,
): Promise<LoadedProcessor> {
  const { settings, timeoutSeconds } = step.entry;
  const name = step.entry.name ?? parse(fileOf(step)).name;
  const create = await importProcessor(step);
  const created = await attempt(step, async () => create({ name, chain, settings, directory }));
  if (!hasFunction(created, 'process'))
    return fail(step, `createProcessor of ${fileOf(step)} returned no object with a function process`);
  return new GuardedProcessor(name, created, timeoutSeconds);
}

function fileOf({ entry, place }: ChainStep): string {
  return resolve(dirname(place.file), entry.module ?? '');
}

async function attempt<T>(step: ChainStep, action: () => Promise<T>): Promise<T> {
  try {
    return await inTime(action, step.entry.timeoutSeconds);
  } catch (error) {
    return fail(step, `${fileOf(step)}: ${messageOf(error)}`);
  }
}

function fail({ place, path }: ChainStep, problem: string): never {
  throw new ConfigError(place.file, place.line, path, problem);
}

function hasFunction<N extends string>(
  value: unknown,
  name: N,
): value is Record<N, (...values: readonly unknown[]) => unknown> {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, name) === 'function';
}

/** The view of a URI that operators' processors get, shared by those of all its chains. */
interface View {
  readonly uri: CrawlUri;
  readonly revoke: () => void;
}

const views = new WeakMap<CrawlUri, View>();

function viewOf(uri: CrawlUri): View {
  let view = views.get(uri);
  if (view === undefined) {
    const { proxy, revoke } = Proxy.revocable(uri, {});
    view = { uri: proxy, revoke };
    views.set(uri, view);
  }
  return view;
}

/**
 * CRAWL-11.6, 20.3: an operator's processor that throws, or does not end in time, fails its URI with -5; one
 * that hangs cannot keep a worker that is killed or a crawl that ends. What it still does to the URI afterwards
 * has no effect. A processor that does not return to the event loop stops the whole process; long computations
 * belong into a thread.
 */
class GuardedProcessor implements LoadedProcessor {
  readonly #processor: UserProcessor;
  readonly #timeoutSeconds: number;

  constructor(
    readonly name: string,
    processor: UserProcessor,
    timeoutSeconds: number,
  ) {
    this.#processor = processor;
    this.#timeoutSeconds = timeoutSeconds;
  }

  async process(uri: CrawlUri): Promise<ProcessResult> {
    const view = viewOf(uri);
    const saved = new SavedState(uri);
    const abort = new AbortController();
    const forward = (): void => abort.abort(uri.signal.reason);
    if (uri.signal.aborted) forward();
    uri.signal.addEventListener('abort', forward, { once: true });
    const stop = () => abort.abort(tooLong(this.#timeoutSeconds));
    const cancelTimer = monotonicClock.setTimer(stop, this.#timeoutSeconds * 1000);
    try {
      const result = await untilAborted(
        async () => this.#processor.process(view.uri, abort.signal),
        abort.signal,
      );
      saved.check();
      return resultOf(result);
    } catch (error) {
      // The processor may still run; it no longer has this URI.
      view.revoke();
      views.delete(uri);
      saved.restore();
      throw error;
    } finally {
      cancelTimer();
      uri.signal.removeEventListener('abort', forward);
    }
  }

  async close(): Promise<void> {
    await inTime(async () => this.#processor.close?.(), this.#timeoutSeconds);
  }
}

/** Returns the result of an action. @throws StateError when it takes longer */
function inTime<T>(action: () => Promise<T>, seconds: number): Promise<T> {
  return withTimeout(monotonicClock, seconds * 1000, action(), () => {
    throw tooLong(seconds);
  });
}

function tooLong(seconds: number): StateError {
  return new StateError(`not finished after ${seconds} seconds`);
}

function resultOf(result: unknown): ProcessResult {
  if (result === undefined) return 'proceed';
  if (result === 'proceed' || result === 'finish' || result === 'post') return result;
  throw new StateError(`it returned ${String(result)} instead of proceed, finish or post`);
}
