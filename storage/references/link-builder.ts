// Builds the tables of links of a references generation.
import { closeSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { StorageError } from '../../protocols/errors.js';
import { DistinctIds } from './distinct-ids.js';
import type { SiteMembers } from './document-builder.js';
import { FileAppender, readNext } from './files.js';
import { idsOf, type LinkTable, openUnpublished, pagesOf, TableWriter } from './link-table.js';
import { type ProgressOptions, ProgressReporter } from './progress-reporter.js';
import { RecordSorter } from './record-sorter.js';

/** The number of words read from the spool at a time. */
const PIECE_WORDS = 1 << 16;

/** A temporary file of pairs in insertion order, 8 bytes each. */
class PairSpool implements Disposable {
  readonly #file: FileAppender;
  count = 0;

  constructor(path: string) {
    this.#file = new FileAppender(path);
  }

  add(first: number, second: number): void {
    this.#file.word(first);
    this.#file.word(second);
    this.count++;
  }

  addMany(pairs: Uint32Array): void {
    this.#file.words(pairs);
    this.count += pairs.length >>> 1;
  }

  /** Closes the file for writing. Nothing may be added afterwards. */
  close(): void {
    this.#file.close();
  }

  /**
   * Adds all pairs to a sorter.
   *
   * @param side the index of the key in a pair
   */
  async sortInto(sorter: RecordSorter, side: 0 | 1, progress: ProgressReporter): Promise<void> {
    const piece = new Uint32Array(PIECE_WORDS);
    const bytes = new Uint8Array(piece.buffer);
    const fd = openSync(this.#file.path, 'r');
    const fill = (): number => readNext(fd, bytes) >>> 2;
    try {
      for (let count = fill(); count > 0; count = fill()) {
        for (let i = 0; i < count; i += 2) {
          const offset = sorter.add(piece[i + side]!);
          sorter.words[offset] = piece[i + 1 - side]!;
        }
        if (progress.step(count >>> 1)) await progress.yield();
      }
    } finally {
      closeSync(fd);
    }
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
    rmSync(this.#file.path, { force: true });
  }
}

/** Takes pairs in insertion order and writes `refs` and `hubs`. */
export class LinkBuilder implements Disposable {
  readonly #directory: string;
  readonly #scratch: string;
  readonly #memoryBytes: number;
  /** The pairs that were added, source and target, including repeated ones. */
  readonly pairs: PairSpool;
  /** The pairs of a separate `hubsdb`. */
  #reversed: PairSpool | undefined;

  /** See the constructor of `DocumentBuilder`. */
  constructor(directory: string, scratch: string, memoryBytes: number) {
    this.#directory = directory;
    this.#scratch = scratch;
    this.#memoryBytes = memoryBytes;
    this.pairs = new PairSpool(join(scratch, 'pairs'));
  }

  /** @param pairs target, source, target, source ... */
  addReversed(pairs: Uint32Array): void {
    this.#reversed ??= new PairSpool(join(this.#scratch, 'reversed'));
    this.#reversed.addMany(pairs);
  }

  /**
   * Sorts the pairs and writes both tables.
   *
   * @returns the number of distinct pairs
   * @throws StorageError with R-10 if the reversed pairs differ from the pairs
   */
  async finish(options: ProgressOptions): Promise<number> {
    this.pairs.close();
    const links = await this.#writeTable('refs', this.pairs, 0, options);
    if (this.#reversed === undefined) await this.#writeTable('hubs', this.pairs, 1, options);
    else {
      this.#reversed.close();
      const hubs = await this.#writeTable('hubs', this.#reversed, 0, options);
      await this.#compare(options);
      // Every link is in hubs, so hubs has additional pairs only if the counts differ.
      if (hubs !== links)
        throw new StorageError(`hubs holds ${hubs - links} pairs that are not in refs (R-10)`);
    }
    return links;
  }

  /**
   * Writes one table. Equal keys keep insertion order. Only the first of repeated pairs is kept.
   * Repeated pairs share a list, so `refs` and `hubs` drop the same ones.
   */
  async #writeTable(
    name: 'refs' | 'hubs',
    spool: PairSpool,
    side: 0 | 1,
    options: ProgressOptions,
  ): Promise<number> {
    using sorter = new RecordSorter(1, this.#memoryBytes, join(this.#scratch, name));
    // Reading and sorting count as half of the work, writing as the other half.
    const progress = new ProgressReporter(name, 2 * spool.count, options);
    await spool.sortInto(sorter, side, progress);
    using sorted = sorter.sorted();
    using table = new TableWriter(this.#directory, name);
    const distinct = new DistinctIds();
    let key = -1;
    while (sorted.next()) {
      if (sorted.key !== key) {
        key = sorted.key;
        distinct.clear();
      }
      const id = sorted.words[sorted.offset]!;
      if (distinct.add(id)) table.add(key, id);
      if (progress.step()) await progress.yield();
    }
    table.close();
    return table.total;
  }

  /** Checks that the written `hubs` table contains every link. */
  async #compare(options: ProgressOptions): Promise<void> {
    await using hubs = await openUnpublished(this.#directory, 'hubs', {
      remainingBytes: this.#memoryBytes / 2,
    });
    using sorter = new RecordSorter(1, this.#memoryBytes / 2, join(this.#scratch, 'compared'));
    const progress = new ProgressReporter('hubs', 2 * this.pairs.count, options);
    await this.pairs.sortInto(sorter, 1, progress);
    using sorted = sorter.sorted();
    const listed = new DistinctIds();
    let key = -1;
    while (sorted.next()) {
      if (sorted.key !== key) {
        key = sorted.key;
        listed.clear();
        for (const id of idsOf(hubs.list(key))) listed.add(id);
      }
      const source = sorted.words[sorted.offset]!;
      if (listed.add(source))
        throw new StorageError(`the link from ${source} to ${key} is in refs and not in hubs (R-10)`);
      if (progress.step()) await progress.yield();
    }
  }

  [Symbol.dispose](): void {
    this.pairs[Symbol.dispose]();
    this.#reversed?.[Symbol.dispose]();
  }
}

/**
 * Writes the site lists, so that a reader answers a site request with a slice. Goes through the documents of
 * each server in ascending order and their links in stored order. Drops links within the site and keeps the
 * first occurrence of each ID.
 *
 * @param sites the table of the documents of each server
 * @param links the table `refs` or `hubs`
 * @param members the documents of all sites
 */
export async function writeSiteLists(
  directory: string,
  name: 'siterefs' | 'sitehubs',
  sites: LinkTable,
  links: LinkTable,
  members: SiteMembers,
  options: ProgressOptions,
): Promise<void> {
  using table = new TableWriter(directory, name);
  const progress = new ProgressReporter(name, links.total, options);
  members.reset();
  for (const [index, server] of sites.keys.entries()) {
    members.begin(server);
    for (const document of idsOf(sites.listAt(index))) {
      for (const page of pagesOf(links.list(document))) {
        for (const id of page) if (members.tryAdd(id)) table.add(server, id);
        if (progress.step(page.length)) await progress.yield();
      }
    }
    if (progress.step()) await progress.yield();
  }
  table.close();
}
