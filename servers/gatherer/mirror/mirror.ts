import { mkdir, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { GathererConfig } from '../../../protocols/config/index.js';
import { type DocumentEvent, documentChannel } from '../../crawler/events.js';
import type { Logger } from '../../host/index.js';
import { Gatherer, type GathererOptions, type GatherReport } from '../gatherer.js';
import { logDocuments, logRun } from '../log.js';
import { MirrorIndex } from './mirror-index.js';
import { BodyKeeper, MirrorWriter } from './mirror-writer.js';

/** Below a mirror's directory: the Gatherer's data and what the mirror knows of its files. */
export const MIRROR_DATA = '.harvest';

export interface MirrorOptions {
  /** The tree of files; the summaries are in {@link MIRROR_DATA} below it. */
  readonly directory: string;
  /** What to mirror. Lib-Directory and URL filters are replaced where the configuration names none: a mirror leaves nothing out. */
  readonly config: GathererConfig;
  /** Delete files whose documents are gone. Default false. */
  readonly delete?: boolean;
  readonly gatherer?: Omit<GathererOptions, 'directory' | 'config' | 'processors'>;
  /** Get a run's beginning and end, what became of each document, and problems of the configuration's files (G-145, G-148). */
  readonly logs?: { readonly log: Logger; readonly errors: Logger };
}

/** What a run did. */
export interface MirrorReport {
  readonly gathered: GatherReport;
  /** The published generation of summaries. */
  readonly generation: number;
  readonly objects: number;
  readonly written: number;
  readonly writtenBytes: number;
  /** Files whose documents are gone; deleted only when that was asked for. */
  readonly stale: number;
  readonly deleted: number;
  /** False when something failed or a limit was reached: then only what servers call gone is stale. */
  readonly complete: boolean;
}

/** The server says that there is no such document (any more). */
const GONE: ReadonlySet<number> = new Set([404, 410]);
/** Limits that leave out documents which may well be there. */
const CUTTING: readonly string[] = ['url-max', 'host-max'];

/**
 * A Gatherer as a mirror (G-8): its documents as files beside their summaries with full text. A run that was killed goes on at
 * the next call; what did not change is not fetched again; a file that somebody deleted is fetched again.
 */
export class Mirror implements AsyncDisposable {
  private constructor(
    readonly options: MirrorOptions,
    readonly gatherer: Gatherer,
    readonly index: MirrorIndex,
    readonly writer: MirrorWriter,
  ) {}

  /** @throws StorageError when another mirror runs there; ConfigError */
  static async open(options: MirrorOptions): Promise<Mirror> {
    const { logs } = options;
    const directory = resolve(options.directory);
    const data = join(directory, MIRROR_DATA);
    const temporaryDirectory = join(data, 'tmp');
    await mkdir(join(data, 'lib'), { recursive: true });
    const index = await MirrorIndex.open(join(data, 'files'));
    try {
      // What a killed run left half written.
      await rm(temporaryDirectory, { recursive: true, force: true });
      await mkdir(temporaryDirectory, { recursive: true });
      await writeFile(join(data, 'lib', 'stoplist.cf'), NOTHING_STOPPED);
      const writer = new MirrorWriter({ index, directory, temporaryDirectory });
      const gatherer = await Gatherer.open({
        ...(logs === undefined
          ? {}
          : { log: logs.log, onProblem: ({ message }: Error) => logs.errors.warn(message) }),
        ...options.gatherer,
        directory: data,
        config: mirrorConfig(options.config, data),
        processors: { extract: [new BodyKeeper()], write: [writer] },
      });
      return new Mirror({ ...options, directory }, gatherer, index, writer);
    } catch (error) {
      await index.close();
      throw error;
    }
  }

  /** Mirrors once. Throws the signal's reason when stopped, and goes on at the next call. */
  async run(signal: AbortSignal): Promise<MirrorReport> {
    await this.#wantMissing();
    await this.index.begin();
    const gathered = await this.#gather(signal);
    if (gathered.roots.some(({ refused }) => CUTTING.some((limit) => (refused[limit] ?? 0) > 0)))
      await this.index.doubt();
    const { stale, deleted } = await this.#clean(signal);
    const generation = await this.gatherer.publish();
    const { isComplete: complete } = this.index;
    await this.index.end();
    const { files: written, bytes: writtenBytes } = this.writer;
    const objects = this.gatherer.store.summaries.count;
    return { gathered, generation, objects, written, writtenBytes, stale, deleted, complete };
  }

  async close(): Promise<void> {
    await this.gatherer.close();
    await this.index.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Notes are written in the order of the events, and all of them before the run is over. */
  async #gather(signal: AbortSignal): Promise<GatherReport> {
    let noted: Promise<void> = Promise.resolve();
    let failure: unknown;
    const listen = (message: unknown): void => {
      const event = message as DocumentEvent;
      if (event.disposition !== 'failed' && event.disposition !== 'rejected') return;
      noted = noted
        .then(() => this.#note(event))
        .catch((error: unknown) => {
          failure ??= error;
        });
    };
    documentChannel.subscribe(listen);
    let report: GatherReport;
    try {
      report = await this.#logged(signal);
    } finally {
      documentChannel.unsubscribe(listen);
      await noted;
    }
    if (failure !== undefined) throw failure;
    return report;
  }

  async #logged(signal: AbortSignal): Promise<GatherReport> {
    const { gatherer, options } = this;
    if (options.logs === undefined) return await gatherer.run(signal);
    const { log, errors } = options.logs;
    using _ = logDocuments(log, errors);
    return await logRun(log, errors, gatherer.config, () => gatherer.run(signal));
  }

  async #note({ url, disposition, status }: DocumentEvent): Promise<void> {
    const known = await this.index.get(url);
    if (disposition === 'rejected') {
      // robots.txt forbids it now: that is no reason to drop what was allowed then.
      if (known !== undefined) await this.index.met(known);
    } else if (GONE.has(status)) {
      if (known !== undefined) await this.index.gone(known);
    } else await this.index.doubt();
  }

  /** A document whose file is not there is asked for again, unconditionally: as if the rules had changed (G-110). */
  async #wantMissing(): Promise<void> {
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

  async #clean(signal: AbortSignal): Promise<{ readonly stale: number; readonly deleted: number }> {
    let stale = 0;
    let deleted = 0;
    for await (const entry of this.index.files()) {
      signal.throwIfAborted();
      if (!this.index.isStale(entry)) continue;
      stale += 1;
      if (this.options.delete !== true) continue;
      await rm(join(this.options.directory, entry.path), { force: true });
      await this.#dropEmpty(dirname(entry.path));
      await this.index.forget(entry);
      deleted += 1;
    }
    return { stale, deleted };
  }

  /** Removes directories that are empty now, from the inside out. */
  async #dropEmpty(path: string): Promise<void> {
    for (let at = path; at !== '.'; at = dirname(at)) {
      try {
        await rmdir(join(this.options.directory, at));
      } catch {
        return;
      }
    }
  }
}

/** E-24. */
const NOTHING_STOPPED = '# A mirror leaves no type out (E-24).\n';

/** G-8: full text, and nothing left out because of its type or its name. */
function mirrorConfig(config: GathererConfig, data: string): GathererConfig {
  return {
    ...config,
    essenceOptions: { ...config.essenceOptions, fullText: true },
    libDirectory: config.libDirectory ?? join(data, 'lib'),
    // G-31: this name switches filtering off.
    rootNodes: config.rootNodes.map((root) =>
      root.urlFilter === undefined ? { ...root, urlFilter: '/dev/null' } : root,
    ),
  };
}
