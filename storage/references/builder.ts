import { StateError } from '../../protocols/errors.js';
import type { DocumentInput, ReferencesCounts } from './contract.js';
import { DocumentBuilder, requireId, type SiteMembers } from './document-builder.js';
import { referencesDirectory, requireLittleEndian } from './format.js';
import { LinkBuilder, writeSiteLists } from './link-builder.js';
import { openUnpublished } from './link-table.js';
import type { ProgressOptions } from './progress-reporter.js';
import { Publication, storageError } from './publication.js';

export interface ReferencesBuilderOptions extends ProgressOptions {
  /**
   * Memory for sorting, in bytes. Default 256 MiB, minimum 1 MiB. A pair takes 16 bytes; pairs that do not fit
   * are sorted on the disk. The builder also holds the servers' names, 12 to 20 bytes for each document, and 16
   * to 32 bytes for each distinct ID of the longest list.
   */
  readonly memoryBytes?: number | undefined;
  /** The number of generations to keep, including the new one. Default 2. */
  readonly keepGenerations?: number | undefined;
}

/** The result of {@link ReferencesBuilder.publish}. */
export interface PublishedReferences extends ReferencesCounts {
  readonly generation: number;
}

const DEFAULT_MEMORY_BYTES = 256 * 1024 * 1024;
/** With less memory the runs are so small that merging them takes too long. */
const MIN_MEMORY_BYTES = 1024 * 1024;

/**
 * Builds a generation of documents and links and publishes it. Documents and links may be added in any order
 * and interleaved. Links keep insertion order. The ends of a link need not be documents.
 *
 *     await using builder = await ReferencesBuilder.create(data);
 *     for (...) builder.addDocument(...);
 *     for (...) builder.addLink(source, target);
 *     await builder.publish();
 */
export class ReferencesBuilder implements AsyncDisposable {
  readonly #publication: Publication;
  readonly #documents: DocumentBuilder;
  readonly #links: LinkBuilder;
  readonly #options: ReferencesBuilderOptions;
  readonly #memoryBytes: number;
  #finished = false;

  private constructor(publication: Publication, memoryBytes: number, options: ReferencesBuilderOptions) {
    const { directory, scratch } = publication;
    this.#publication = publication;
    this.#documents = new DocumentBuilder(directory, scratch, memoryBytes);
    this.#links = new LinkBuilder(directory, scratch, memoryBytes);
    this.#options = options;
    this.#memoryBytes = memoryBytes;
  }

  /**
   * Begins a generation in `DATA/references` and creates that directory if it is missing. Only one builder may
   * work there at a time.
   *
   * @param data the data directory
   * @throws StorageError if the directory cannot be written
   */
  static async create(data: string, options: ReferencesBuilderOptions = {}): Promise<ReferencesBuilder> {
    requireLittleEndian();
    const memoryBytes = Math.max(MIN_MEMORY_BYTES, options.memoryBytes ?? DEFAULT_MEMORY_BYTES);
    try {
      const publication = await Publication.begin(referencesDirectory(data));
      return new ReferencesBuilder(publication, memoryBytes, options);
    } catch (cause) {
      throw storageError(`no references can be published in ${data}`, cause);
    }
  }

  /**
   * @throws ProtocolError with rule R-41 if the URL is not canonical
   * @throws StorageError if a number is out of range, or the server ID contradicts another document's
   */
  addDocument(document: DocumentInput): void {
    this.#requireOpen();
    this.#documents.add(document);
  }

  /** @throws StorageError if an ID is not a u32 */
  addLink(source: number, target: number): void {
    this.#requireOpen();
    this.#links.pairs.add(requireId(source, 'the ID of a link'), requireId(target, 'the ID of a link'));
  }

  /** @param pairs source, target, source, target ...; the array is copied */
  addLinks(pairs: Uint32Array): void {
    this.#requireOpen();
    if (pairs.length % 2 !== 0) throw new TypeError('links are pairs of IDs: the number of IDs must be even');
    this.#links.pairs.addMany(pairs);
  }

  /**
   * Adds pairs of a `hubsdb`, whose order `hubs` then has. Without such pairs `hubs` holds the links reversed,
   * in the order of the links.
   *
   * @param pairs target, source, target, source ...; all calls together must give exactly the links,
   *   which {@link publish} checks
   */
  addReversed(pairs: Uint32Array): void {
    this.#requireOpen();
    if (pairs.length % 2 !== 0) throw new TypeError('links are pairs of IDs: the number of IDs must be even');
    this.#links.addReversed(pairs);
  }

  /**
   * Sorts, writes and publishes the generation. If publishing fails or the process is killed, the previous
   * generation stays current.
   *
   * @throws StorageError if a document ID or a URL was added twice, the reversed pairs differ from the links,
   *   or the disk fails
   */
  async publish(): Promise<PublishedReferences> {
    this.#requireOpen();
    this.#finished = true;
    try {
      const members = await this.#documents.finish(this.#options);
      const links = await this.#links.finish(this.#options);
      await this.#writeSites(members);
      const counts = {
        documents: this.#documents.count,
        servers: this.#documents.servers,
        links,
        repeated: this.#links.pairs.count - links,
      };
      const { schemes } = this.#documents;
      await this.#publication.publish({ ...counts, schemes }, this.#options.keepGenerations);
      return { generation: this.#publication.generation, ...counts };
    } catch (cause) {
      throw storageError(`the references cannot be published in ${this.#publication.directory}`, cause);
    }
  }

  async #writeSites(members: SiteMembers): Promise<void> {
    const { directory } = this.#publication;
    const budget = { remainingBytes: this.#memoryBytes };
    await using sites = await openUnpublished(directory, 'sitedocs', budget);
    for (const [name, kind] of [
      ['siterefs', 'refs'],
      ['sitehubs', 'hubs'],
    ] as const) {
      await using links = await openUnpublished(directory, kind, { ...budget });
      await writeSiteLists(directory, name, sites, links, members, this.#options);
    }
  }

  #requireOpen(): void {
    if (this.#finished) throw new StateError('the references are published already');
  }

  /** Removes the temporary files of a generation that was not published. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#finished = true;
    this.#documents[Symbol.dispose]();
    this.#links[Symbol.dispose]();
    await this.#publication[Symbol.asyncDispose]();
  }
}
