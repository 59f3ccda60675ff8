import { rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { CloseStack } from '../../../protocols/close-stack.js';
import type { GathererConfig } from '../../../protocols/config/index.js';
import { Mutex } from '../../../protocols/mutex.js';
import { createDirectory } from '../../../storage/files/make-directory.js';
import { GONE_STATUSES } from '../../crawler/crawl-uri.js';
import { type DocumentEvent, documentChannel } from '../../crawler/events.js';
import type { Logger } from '../../host/index.js';
import { NO_FILTER } from '../configuration/filters.js';
import { Gatherer, type GathererOptions, type GatherReport } from '../gatherer.js';
import type { Refusal } from '../scope/root-limits.js';
import { logDocuments, logRun } from '../watch/log.js';
import { MIRROR_DATA } from './file-names.js';
import { MirrorIndex } from './mirror-index.js';
import { BodyKeeper, MirrorWriter } from './mirror-writer.js';

export interface MirrorOptions {
  /** Root of the files; the summaries are in {@link MIRROR_DATA} below it. */
  readonly directory: string;
  /**
   * What to mirror. Lib-Directory and URL filters that the configuration does not set are replaced, so that all
   * documents are mirrored.
   */
  readonly config: GathererConfig;
  /** Deletes files whose documents are gone. Default false. */
  readonly delete?: boolean;
  readonly gatherer?: Omit<GathererOptions, 'directory' | 'config' | 'processors'>;
  /**
   * Logs of a run's beginning and end, a line for each document, and problems of the configuration's files
   * (G-145, G-148).
   */
  readonly logs?: { readonly log: Logger; readonly errors: Logger };
}

/** The results of a run. */
export interface MirrorReport {
  readonly gathered: GatherReport;
  /** The published generation of summaries. */
  readonly generation: number;
  readonly objects: number;
  readonly written: number;
  readonly writtenBytes: number;
  /** Files whose documents are gone; deleted only with the option `delete`. */
  readonly stale: number;
  readonly deleted: number;
  /**
   * False if a fetch failed or a limit was reached: then only documents that their servers report as gone are
   * stale.
   */
  readonly complete: boolean;
}

/** Limits at which documents that exist may be missed. */
const TRUNCATING_LIMITS: readonly Refusal[] = ['url-max', 'host-max', 'outlinks', 'unread'];

/**
 * A Gatherer as a mirror (G-8): documents as files, and their summaries with full text. The next call continues
 * a run that was killed; documents that did not change are not fetched again; a deleted file is fetched again.
 */
export class Mirror implements AsyncDisposable {
  readonly #writer: MirrorWriter;
  readonly #resources: CloseStack;

  private constructor(
    readonly options: MirrorOptions,
    readonly gatherer: Gatherer,
    readonly index: MirrorIndex,
    writer: MirrorWriter,
    resources: CloseStack,
  ) {
    this.#writer = writer;
    this.#resources = resources;
  }

  /** @throws StorageError when another mirror uses the directory; ConfigError */
  static async open(options: MirrorOptions): Promise<Mirror> {
    const { logs } = options;
    const directory = resolve(options.directory);
    const data = join(directory, MIRROR_DATA);
    const temporaryDirectory = join(data, 'tmp');
    await createDirectory(join(data, 'lib'));
    await using resources = new CloseStack();
    const index = resources.use(await MirrorIndex.open(join(data, 'files')));
    // Half-written files of a killed run.
    await rm(temporaryDirectory, { recursive: true, force: true });
    await createDirectory(temporaryDirectory);
    await writeFile(join(data, 'lib', 'stoplist.cf'), EMPTY_STOP_LIST);
    const writer = new MirrorWriter({ index, directory, temporaryDirectory });
    const gatherer = resources.use(
      await Gatherer.open({
        ...(logs === undefined
          ? {}
          : { log: logs.log, onProblem: ({ message }: Error) => logs.errors.warn(message) }),
        ...options.gatherer,
        directory: data,
        config: mirrorConfig(options.config, data),
        processors: { extract: [new BodyKeeper()], write: [writer] },
      }),
    );
    return new Mirror({ ...options, directory }, gatherer, index, writer, resources.move());
  }

  /** Mirrors once. The next call continues an aborted run. @throws the signal's reason when aborted */
  async run(signal: AbortSignal): Promise<MirrorReport> {
    await this.#invalidateMissing();
    await this.index.begin();
    const gathered = await this.#gather(signal);
    if (gathered.roots.some(({ refused }) => TRUNCATING_LIMITS.some((limit) => (refused[limit] ?? 0) > 0)))
      await this.index.markIncomplete();
    const { stale, deleted } = await this.#handleStale(signal);
    const generation = await this.gatherer.publish();
    const { isComplete: complete } = this.index;
    await this.index.end();
    const { files: written, bytes: writtenBytes } = this.#writer;
    const objects = this.gatherer.store.summaries.count;
    return { gathered, generation, objects, written, writtenBytes, stale, deleted, complete };
  }

  close(): Promise<void> {
    return this.#resources[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Gathers, and records failed and rejected documents in the order of their events before it returns. */
  async #gather(signal: AbortSignal): Promise<GatherReport> {
    const mutex = new Mutex();
    let failure: unknown;
    const listen = (message: unknown): void => {
      const event = message as DocumentEvent;
      if (event.disposition !== 'failed' && event.disposition !== 'rejected') return;
      mutex
        .runExclusive(() => this.#recordOutcome(event))
        .catch((error: unknown) => {
          failure ??= error;
        });
    };
    documentChannel.subscribe(listen);
    let report: GatherReport;
    try {
      report = await this.#runLogged(signal);
    } finally {
      documentChannel.unsubscribe(listen);
      await mutex.runExclusive(() => undefined);
    }
    if (failure !== undefined) throw failure;
    return report;
  }

  async #runLogged(signal: AbortSignal): Promise<GatherReport> {
    const { gatherer, options } = this;
    if (options.logs === undefined) return await gatherer.run(signal);
    const { log, errors } = options.logs;
    using _ = logDocuments(log, errors);
    return await logRun(log, errors, gatherer.config, () => gatherer.run(signal));
  }

  async #recordOutcome({ url, disposition, status }: DocumentEvent): Promise<void> {
    const known = await this.index.get(url);
    if (disposition === 'rejected') {
      // A file that robots.txt allowed earlier stays.
      if (known !== undefined) await this.index.markSeen(known);
    } else if (GONE_STATUSES.has(status)) {
      if (known !== undefined) await this.index.markGone(known);
    } else await this.index.markIncomplete();
  }

  /**
   * Makes the run fetch documents whose files are missing unconditionally, as if the rules had changed (G-110).
   */
  async #invalidateMissing(): Promise<void> {
    const { store } = this.gatherer;
    for await (const { url, path } of this.index.files()) {
      if ((await stat(join(this.options.directory, path)).catch(() => undefined)) !== undefined) continue;
      const document = await store.documents.get(url);
      if (document !== undefined)
        await store
          .batch()
          .putDocument({ ...document, rulesDigest: '' })
          .commit();
    }
  }

  /** Counts the stale files, and deletes them with the option `delete`. */
  async #handleStale(signal: AbortSignal): Promise<{ readonly stale: number; readonly deleted: number }> {
    let stale = 0;
    let deleted = 0;
    for await (const entry of this.index.files()) {
      signal.throwIfAborted();
      if (!this.index.isStale(entry)) continue;
      stale += 1;
      if (this.options.delete !== true) continue;
      await rm(join(this.options.directory, entry.path), { force: true });
      await this.#removeEmptyDirectories(dirname(entry.path));
      await this.index.forget(entry);
      deleted += 1;
    }
    return { stale, deleted };
  }

  /** Removes directories that are now empty, the innermost first. */
  async #removeEmptyDirectories(path: string): Promise<void> {
    for (let directory = path; directory !== '.'; directory = dirname(directory)) {
      try {
        await rmdir(join(this.options.directory, directory));
      } catch {
        return;
      }
    }
  }
}

/** Content of the stop list (E-24). */
const EMPTY_STOP_LIST = '# A mirror includes all types (E-24).\n';

/** G-8: full text, no stop list, no URL filter. */
function mirrorConfig(config: GathererConfig, data: string): GathererConfig {
  return {
    ...config,
    essenceOptions: { ...config.essenceOptions, fullText: true },
    libDirectory: config.libDirectory ?? join(data, 'lib'),
    // G-31: `/dev/null` turns filtering off.
    rootNodes: config.rootNodes.map((root) =>
      root.urlFilter === undefined ? { ...root, urlFilter: NO_FILTER } : root,
    ),
  };
}
