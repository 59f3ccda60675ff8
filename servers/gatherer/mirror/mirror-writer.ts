// Two processors of a mirror: one keeps the body of a document for the write chain, the other writes it as a
// file.
import { rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { markAsUntransferable } from 'node:worker_threads';
import { StateError } from '../../../protocols/errors.js';
import { createDirectory } from '../../../storage/files/make-directory.js';
import type { Processor, ProcessResult } from '../../crawler/chains.js';
import type { CrawlUri } from '../../crawler/crawl-uri.js';
import type { MirrorEntry, MirrorIndex } from './mirror-index.js';
import { requisitesOf } from './requisites.js';

/**
 * Runs before Essence, which transfers the body to a worker thread: marks the body so that the thread gets a
 * copy and the write chain still has the bytes.
 */
export class BodyKeeper implements Processor {
  readonly name = 'BodyKeeper';

  process(uri: CrawlUri): ProcessResult {
    const buffer = uri.fetched?.body.buffer;
    if (buffer instanceof ArrayBuffer && buffer.byteLength > 0) markAsUntransferable(buffer);
    return 'proceed';
  }
}

export interface MirrorWriterOptions {
  readonly index: MirrorIndex;
  /** Root of the mirror's files. */
  readonly directory: string;
  /** Directory for files while they are written; on the same file system. */
  readonly temporaryDirectory: string;
}

/**
 * G-8: writes the body of every fetched document into the mirror's tree, after the summary's writer. A file is
 * written atomically; its modification time is the document's. A document that did not change is marked as
 * seen, so that its file stays.
 */
export class MirrorWriter implements Processor {
  readonly #options: MirrorWriterOptions;
  readonly name = 'MirrorWriter';
  #number = 0;
  /** Files and bytes written. */
  files = 0;
  bytes = 0;

  constructor(options: MirrorWriterOptions) {
    this.#options = options;
  }

  async process(uri: CrawlUri): Promise<ProcessResult> {
    const { index } = this.#options;
    const { fetched } = uri;
    const hasBody = fetched !== undefined && fetched.status >= 200 && fetched.status <= 299;
    const known = hasBody ? await index.entryFor(uri.redactedUrl) : await index.get(uri.redactedUrl);
    if (known === undefined) return 'proceed';
    if (hasBody && fetched.body.length !== uri.size)
      throw new StateError('the body was transferred to a thread');
    if (hasBody) {
      const { body, contentType = '' } = fetched;
      const requisites = await requisitesOf(body, contentType, uri.redactedUrl);
      await index.setRequisites(uri.redactedUrl, requisites);
    }
    await this.#addRequisites(uri);
    if (!hasBody || (uri.disposition === 'unchanged' && (await this.#hasFile(known, uri.size)))) {
      await index.markSeen(known);
      return 'proceed';
    }
    await this.#write(known.path, fetched.body, fetched.lastModified);
    await index.markSeen(known, uri.size);
    this.files += 1;
    this.bytes += uri.size;
    return 'proceed';
  }

  /** Adds the page's requisites to its links, so that they pass the scope and the queues like every link. */
  async #addRequisites(uri: CrawlUri): Promise<void> {
    const requisites = await this.#options.index.requisites(uri.redactedUrl);
    const known = new Set(uri.outLinks.map(({ url }) => url));
    const links = requisites.map((url) => ({ url, hop: 'E' as const }));
    const added = links.filter(({ url }) => !known.has(url));
    if (added.length > 0) uri.outLinks = [...uri.outLinks, ...added];
  }

  async #hasFile({ path }: MirrorEntry, size: number): Promise<boolean> {
    const found = await stat(join(this.#options.directory, path)).catch(() => undefined);
    return found?.isFile() === true && found.size === size;
  }

  /** @param lastModified seconds since 1970; 0 if unknown */
  async #write(path: string, body: Uint8Array, lastModified: number): Promise<void> {
    const target = join(this.#options.directory, path);
    const draft = join(this.#options.temporaryDirectory, `${process.pid}-${this.#number++}`);
    try {
      await createDirectory(dirname(target));
      await writeFile(draft, body);
      if (lastModified > 0) await utimes(draft, lastModified, lastModified);
      await rename(draft, target);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }
}
