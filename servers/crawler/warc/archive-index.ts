// CDXJ indexes of WARC files, by which replay programs find a capture: one beside each finished file.
import { createReadStream } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../../protocols/errors.js';
import { replaceFile } from '../../../storage/files/replace-file.js';

/** What the library tells of a capture; numbers are text. */
const entrySchema = z.object({
  urlkey: z.string(),
  timestamp: z.string(),
  url: z.string(),
  mime: z.string().optional(),
  status: z.union([z.string(), z.number()]).optional(),
  digest: z.string().optional(),
  length: z.union([z.string(), z.number()]),
  offset: z.union([z.string(), z.number()]),
});

/** Lines that are written with one call. */
const LINES_PER_WRITE = 1000;

/**
 * Returns the lines of a WARC file's index, sorted by their bytes. Memory is in proportion to the number of captures in the file.
 * @throws the errors of reading; a damaged record ends the index before it
 */
export async function indexLines(path: string, signal?: AbortSignal): Promise<string[]> {
  const { CDXIndexer } = await import('warcio');
  const indexer = new CDXIndexer({ format: 'cdxj' });
  const filename = basename(path);
  const lines: string[] = [];
  const reader = createReadStream(path, { signal });
  for await (const found of indexer.iterIndex([{ reader, filename }])) {
    const { urlkey, timestamp, url, mime, status, digest, length, offset } = entrySchema.parse(found);
    const fields = {
      url,
      ...(mime === undefined ? {} : { mime }),
      ...(status === undefined ? {} : { status: String(status) }),
      // The library leaves the algorithm out, other indexers name it.
      ...(digest === undefined ? {} : { digest: digest.includes(':') ? digest : `sha1:${digest}` }),
      length: String(length),
      offset: String(offset),
      filename,
    };
    lines.push(`${urlkey} ${timestamp} ${JSON.stringify(fields)}`);
  }
  return lines.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

/** Writes the index of a finished WARC file to `FILE.cdxj`, whole or not at all. @throws StorageError, the errors of reading */
async function writeIndex(path: string, signal: AbortSignal): Promise<void> {
  const lines = await indexLines(path, signal);
  await replaceFile(
    `${path}.cdxj`,
    async (temporary) => {
      await using out = await open(temporary, 'wx');
      for (let start = 0; start < lines.length; start += LINES_PER_WRITE)
        await out.write(
          lines
            .slice(start, start + LINES_PER_WRITE)
            .map((line) => `${line}\n`)
            .join(''),
        );
    },
    { force: true },
  );
}

/** Writes the indexes of a directory's WARC files, one after the other, beside the crawl. */
export class ArchiveIndex implements AsyncDisposable {
  readonly #directory: string;
  readonly #onProblem: (sentence: string) => void;
  readonly #stop = new AbortController();
  #last: Promise<void> = Promise.resolve();

  /** @param onProblem called if an index cannot be written; the next crawl in this directory tries again */
  constructor(directory: string, onProblem: (sentence: string) => void) {
    this.#directory = directory;
    this.#onProblem = onProblem;
  }

  /** Adds the finished files that have no index: those of a killed crawl. */
  async addMissing(): Promise<void> {
    const names = new Set(await readdir(this.#directory));
    for (const name of [...names].sort())
      if (/\.warc(?:\.gz)?$/.test(name) && !names.has(`${name}.cdxj`)) this.add(name);
  }

  /** Adds a finished file. */
  add(name: string): void {
    const path = join(this.#directory, name);
    this.#last = this.#last.then(async () => {
      const { signal } = this.#stop;
      if (signal.aborted) return;
      try {
        await writeIndex(path, signal);
      } catch (error) {
        if (!signal.aborted) this.#onProblem(`${path}.cdxj cannot be written: ${messageOf(error)}`);
      }
    });
  }

  /** Ends the index in progress: a stopped crawl does not wait. The next one in this directory writes those that are missing. */
  stop(): void {
    this.#stop.abort();
  }

  /** Waits until all files have their index. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last;
  }
}
