// Computes the ranks of the newest generation and publishes them as a new generation.
import { join } from 'node:path';
import { FileAppender, FlatFile } from './files.js';
import { FILE, referencesDirectory } from './format.js';
import { KeyIndex } from './key-index.js';
import { pagesOf } from './link-table.js';
import { type PageRankOptions, pageRank, type RankGraph } from './pagerank.js';
import { type ProgressOptions, ProgressReporter } from './progress-reporter.js';
import { Publication, storageError } from './publication.js';
import { ReferencesReader } from './reader.js';

export interface RankOptions extends PageRankOptions, Pick<ProgressOptions, 'onProgress'> {
  /**
   * Links are loaded into memory if they fit in this number of bytes; default 256 MiB. Otherwise each round
   * reads them from the disk.
   */
  readonly residentBytes?: number;
  /** The number of generations to keep, including the new one. Default 2. */
  readonly keepGenerations?: number;
}

/** The result of {@link publishRanks}. */
export interface PublishedRanks {
  readonly generation: number;
  /** The number of IDs that have a rank: all known IDs. */
  readonly ranked: number;
  readonly links: number;
  readonly rounds: number;
  readonly change: number;
  readonly converged: boolean;
}

const DEFAULT_RESIDENT_BYTES = 256 * 1024 * 1024;
/** The number of IDs read from a list at a time. */
const PAGE = 1 << 16;

/**
 * Computes the PageRank of every known ID of the newest generation and publishes a new generation
 * with the same files and the ranks. Readers pick it up like any other generation.
 *
 * @param data the data directory
 * @throws StorageError if nothing was published yet or the disk fails
 */
export async function publishRanks(data: string, options: RankOptions = {}): Promise<PublishedRanks> {
  const { residentBytes = DEFAULT_RESIDENT_BYTES } = options;
  // The links are read only once, so they need not stay in memory.
  await using reader = await ReferencesReader.openCurrent(data, { residentBytes: 0 });
  try {
    await using publication = await Publication.begin(referencesDirectory(data));
    const nodes = knownIds(reader);
    const targetsPath = join(publication.scratch, 'targets');
    await writeTargets(reader, nodes, targetsPath, options);
    await using targets = await FlatFile.open(targetsPath, 4 * reader.counts.links, {
      remainingBytes: residentBytes,
    });
    const graph = graphOf(reader, nodes, targets);
    const { ranks, rounds, change, converged } = await pageRank(graph, options);

    const { files, schemes } = reader.manifest;
    for (const name of Object.keys(files)) {
      if (name !== FILE.rankIds && name !== FILE.rankValues)
        await publication.linkFile(reader.directory, name);
    }
    writeFile(join(publication.directory, FILE.rankIds), nodes);
    const values = Float32Array.from(ranks);
    writeFile(join(publication.directory, FILE.rankValues), new Uint32Array(values.buffer));
    await publication.publish({ ...reader.counts, schemes }, options.keepGenerations);
    const { links } = reader.counts;
    return {
      generation: publication.generation,
      ranked: nodes.length,
      links,
      rounds,
      change,
      converged,
    };
  } catch (cause) {
    throw storageError(`the ranks cannot be published in ${data}`, cause);
  }
}

/** Returns the known IDs, ascending: every document and both ends of every link. */
function knownIds(reader: ReferencesReader): Uint32Array {
  return union(union(reader.documentIds, reader.keys('refs')), reader.keys('hubs'));
}

function union(a: Uint32Array, b: Uint32Array): Uint32Array {
  const both = new Uint32Array(a.length + b.length);
  let count = 0;
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const left = a[i] ?? Number.POSITIVE_INFINITY;
    const right = b[j] ?? Number.POSITIVE_INFINITY;
    if (left <= right) i++;
    if (right <= left) j++;
    both[count++] = Math.min(left, right);
  }
  return both.slice(0, count);
}

/**
 * Writes the targets of all links, in order, as nodes: the number of a node is the place of its ID in `nodes`.
 * So IDs are looked up once and not in every round.
 */
async function writeTargets(
  reader: ReferencesReader,
  nodes: Uint32Array,
  path: string,
  options: RankOptions,
): Promise<void> {
  const index = new KeyIndex(nodes);
  const progress = new ProgressReporter('ranks', reader.counts.links, options);
  using file = new FileAppender(path);
  for (const key of reader.keys('refs')) {
    for (const page of pagesOf(reader.links('refs', key))) {
      for (const id of page) file.word(index.find(id));
      if (progress.step(page.length)) await progress.yield();
    }
  }
  file.close();
}

function graphOf(reader: ReferencesReader, nodes: Uint32Array, targets: FlatFile): RankGraph {
  const keys = reader.keys('refs');
  return {
    size: nodes.length,
    async walk(visit) {
      const progress = new ProgressReporter('ranks', reader.counts.links, {});
      let node = 0;
      let from = 0;
      for (const [index, key] of keys.entries()) {
        while (nodes[node] !== key) node++;
        const degree = reader.degree('refs', index);
        for (let done = 0; done < degree; done += PAGE) {
          const count = Math.min(PAGE, degree - done);
          visit(node, targets.words(from + done, count), degree);
          if (progress.step(count)) await progress.yield();
        }
        from += degree;
      }
    },
  };
}

function writeFile(path: string, words: Uint32Array): void {
  using file = new FileAppender(path);
  file.words(words);
  file.close();
}
