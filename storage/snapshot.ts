import { rm } from 'node:fs/promises';
import { UsageError } from '../protocols/errors.js';
import { identityOf, SoifDecoder, type SoifIdentity, type SoifObject } from '../protocols/soif/index.js';
import type { UnixSeconds } from '../protocols/time.js';
import { Level } from './level.js';
import { type ExportChunk, type ExportOptions, readSummaryCount, SummaryStore } from './summaries.js';

/** What INFO tells about a database (GATHERD-8.1, 8.4). */
export interface SnapshotInfo {
  readonly count: number;
  /** Smallest and largest Update-Time; undefined when no object has one. */
  readonly oldest: UnixSeconds | undefined;
  readonly newest: UnixSeconds | undefined;
  /** Names of the attributes that occur, the most frequent first, equal ones by name; spelled as first met. */
  readonly attributes: readonly string[];
  /** Who gathered the newest object, if it says so completely (SOIF-6.5). */
  readonly gatherer?: Pick<SoifIdentity, 'gathererName' | 'gathererHost' | 'gathererVersion'>;
}

/** One generation's summaries. It does not change, whatever is published meanwhile. */
export interface SummarySnapshot extends AsyncDisposable {
  readonly generation: number;
  readonly count: number;
  /**
   * The objects with `Update-Time >= since`, ascending by (Update-Time, URL), as chunks of whole objects. A walk under way
   * keeps the snapshot open by itself.
   */
  exportSince(since: UnixSeconds, options?: ExportOptions): AsyncIterable<ExportChunk>;
  /** The object's bytes. */
  get(url: string): Promise<Uint8Array | undefined>;
  /** Reads all objects once, at the first call, and remembers. */
  info(): Promise<SnapshotInfo>;
  /** One more user, who must release. */
  retain(): void;
  /** One user less; the last one closes the files and removes the clone. */
  release(): Promise<void>;
  /** The opener's own release; later calls do nothing. */
  close(): Promise<void>;
}

/** Opens a private clone of a generation; it is removed with the last release. */
export async function openSnapshot(generation: number, clone: string): Promise<SummarySnapshot> {
  const level = await Level.open(clone, { kind: 'gatherer', create: false });
  return new LevelSnapshot(generation, level, await readSummaryCount(level));
}

class LevelSnapshot implements SummarySnapshot {
  readonly #level: Level;
  readonly #summaries: SummaryStore;
  #users = 1;
  #opened = true;
  #info: Promise<SnapshotInfo> | undefined;

  constructor(
    readonly generation: number,
    level: Level,
    readonly count: number,
  ) {
    this.#level = level;
    this.#summaries = new SummaryStore(level, () => count);
  }

  async *exportSince(
    since: UnixSeconds,
    options: ExportOptions = {},
  ): AsyncGenerator<ExportChunk, void, undefined> {
    this.retain();
    try {
      yield* this.#summaries.exportSince(since, options);
    } finally {
      await this.release();
    }
  }

  async get(url: string): Promise<Uint8Array | undefined> {
    return (await this.#summaries.get(url))?.soif;
  }

  info(): Promise<SnapshotInfo> {
    this.#info ??= this.#survey().catch((error: unknown) => {
      this.#info = undefined;
      throw error;
    });
    return this.#info;
  }

  retain(): void {
    if (this.#users === 0) throw new UsageError(`the snapshot of generation ${this.generation} is closed`);
    this.#users++;
  }

  async release(): Promise<void> {
    if (this.#users === 0) throw new UsageError(`the snapshot of generation ${this.generation} is closed`);
    if (--this.#users > 0) return;
    await this.#level.close();
    await rm(this.#level.directory, { recursive: true, force: true });
  }

  async close(): Promise<void> {
    if (!this.#opened) return;
    this.#opened = false;
    await this.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #survey(): Promise<SnapshotInfo> {
    const names = new Map<string, { name: string; uses: number }>();
    const decoder = new SoifDecoder();
    let oldest: UnixSeconds | undefined;
    let newest: UnixSeconds | undefined;
    let last: SoifObject | undefined;
    this.retain();
    try {
      for await (const page of this.#summaries.iterate()) {
        for (const { updateTime, soif } of page) {
          if (updateTime > 0) {
            oldest ??= updateTime;
            newest = updateTime;
          }
          for (const item of decoder.push(soif)) {
            if (item.kind !== 'object') continue;
            countNames(item.object, names);
            last = item.object;
          }
        }
      }
    } finally {
      await this.release();
    }
    const attributes = [...names.values()]
      .sort((a, b) => b.uses - a.uses || (a.name < b.name ? -1 : 1))
      .map(({ name }) => name);
    const identity = last === undefined ? undefined : identityOf(last);
    const info = { count: this.count, oldest, newest, attributes };
    if (identity === undefined) return info;
    const { gathererName, gathererHost, gathererVersion } = identity;
    return { ...info, gatherer: { gathererName, gathererHost, gathererVersion } };
  }
}

/** Names count without regard to case (SOIF-2.11). */
function countNames(object: SoifObject, names: Map<string, { name: string; uses: number }>): void {
  for (let i = 0; i < object.size; i++) {
    const name = object.nameAt(i);
    const key = name.toLowerCase();
    const known = names.get(key);
    if (known === undefined) names.set(key, { name, uses: 1 });
    else known.uses++;
  }
}
