// Packs WARC files as one WACZ file (version 1.1.1), which replay programs open without a server.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, open, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { ZipFile } from 'yazl';
import { rethrowAs, StorageError, UsageError } from '../../../protocols/errors.js';
import { replaceFile } from '../../../storage/files/replace-file.js';
import { damageSentence, hasWholeIndex, indexArchive } from './archive-index.js';
import { FINISHED_WARC } from './record-compression.js';

export interface WaczOptions {
  /** Directory of the finished WARC files. */
  readonly directory: string;
  /** The WACZ file; replaced when it is complete. */
  readonly output: string;
  readonly title?: string | undefined;
  /** When it is packed, milliseconds since 1970. Default: now. */
  readonly created?: number;
  readonly signal?: AbortSignal;
  /** Called with a sentence for each file with damage, whose captures the index lacks. */
  readonly onDamage?: (sentence: string) => void;
  /** Called with the file that is read. */
  readonly onFile?: (name: string) => void;
}

/** The counts of a packed file. */
export interface WaczCounts {
  readonly files: number;
  readonly captures: number;
  readonly pages: number;
  /** Files with damage. */
  readonly damaged: number;
  /** Bytes of the WACZ file. */
  readonly bytes: number;
}

/** A file of the package. */
interface Resource {
  readonly name: string;
  readonly path: string;
  readonly hash: string;
  readonly bytes: number;
}

/** Lines of a block of the compressed index, as other programs write it. */
const BLOCK_LINES = 1024;
const compress = promisify(gzip);

/**
 * Packs all finished WARC files of a directory with their index, the list of pages and the digests. Files are
 * streamed; the index is merged from those beside the files, so that memory depends on the number of files.
 * @throws UsageError if the directory has no finished file; StorageError; the errors of reading; the signal's
 *   reason
 */
export async function packWacz(options: WaczOptions): Promise<WaczCounts> {
  const { directory, output, signal } = options;
  const found = await readdir(directory).catch(rethrowAs(StorageError, `${directory} cannot be read`));
  const names = found.filter((name) => FINISHED_WARC.test(name)).sort();
  if (names.length === 0) throw new UsageError(`${directory} has no finished WARC files`);
  const scratch = await mkdtemp(join(dirname(resolve(output)), '.wacz-')).catch(
    rethrowAs(StorageError, `${output} cannot be written`),
  );
  try {
    const zip = new ZipFile();
    const content = new PassThrough();
    zip.outputStream.pipe(content);
    zip.on('error', (error: Error) => content.destroy(error));
    const resources: Resource[] = [];
    const add = async (source: string, path: string): Promise<void> => {
      options.onFile?.(path);
      const { hash, bytes } = await digestOf(source, signal);
      // Frictionless data packages allow lower case only.
      resources.push({
        name: basename(path)
          .toLowerCase()
          .replace(/[^-a-z0-9._]/g, '-'),
        path,
        hash,
        bytes,
      });
      zip.addFile(source, path, { compress: false });
    };
    for (const name of names) await add(join(directory, name), `archive/${name}`);
    const index = new IndexWriter(scratch);
    const whole = new Set(found);
    let damaged = 0;
    const linesOf = async function* (name: string): AsyncGenerator<string, void, undefined> {
      if (hasWholeIndex(name, whole)) {
        yield* writtenLines(join(directory, `${name}.cdxj`), signal);
        return;
      }
      const { lines, damage } = await indexArchive(join(directory, name), signal);
      if (damage.length > 0) {
        damaged++;
        options.onDamage?.(damageSentence(name, damage));
      }
      yield* lines;
    };
    for await (const line of mergedLines(names.map(linesOf), signal)) await index.add(line);
    const counts = await index.close();
    for (const path of ['indexes/index.cdx.gz', 'indexes/index.idx', 'pages/pages.jsonl'])
      await add(join(scratch, basename(path)), path);
    const datapackage = Buffer.from(JSON.stringify(describe(options, resources), undefined, 2));
    zip.addBuffer(datapackage, 'datapackage.json');
    const digest = { path: 'datapackage.json', hash: sha256(datapackage) };
    zip.addBuffer(Buffer.from(JSON.stringify(digest, undefined, 2)), 'datapackage-digest.json');
    zip.end();
    await replaceFile(
      output,
      (temporary) => pipeline(content, createWriteStream(temporary, { flags: 'wx' }), { signal }),
      { force: true },
    );
    return { files: names.length, ...counts, damaged, bytes: (await stat(output)).size };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function describe(
  { title = 'Crawl', created = Date.now() }: WaczOptions,
  resources: readonly Resource[],
): object {
  return {
    profile: 'data-package',
    wacz_version: '1.1.1',
    title,
    software: 'harvest-kit',
    created: new Date(created).toISOString(),
    resources,
  };
}

/** Writes the compressed index, the index of its blocks, and the list of pages. */
class IndexWriter {
  readonly #directory: string;
  #block: string[] = [];
  #offset = 0;
  #captures = 0;
  #pages = 0;
  /** Lines of the files that are appended to with the next block. */
  #pageLines: string[] = ['{"format":"json-pages-1.0","id":"pages","title":"Pages"}\n'];
  #blockLines: string[] = ['!meta 0 {"format":"cdxj-gzip-1.0","filename":"index.cdx.gz"}\n'];

  constructor(directory: string) {
    this.#directory = directory;
  }

  async add(line: string): Promise<void> {
    this.#captures++;
    const page = pageOf(line);
    if (page !== undefined) {
      this.#pages++;
      this.#pageLines.push(`${JSON.stringify({ id: String(this.#pages), ...page })}\n`);
    }
    this.#block.push(`${line}\n`);
    if (this.#block.length >= BLOCK_LINES) await this.#flush();
  }

  async close(): Promise<Pick<WaczCounts, 'captures' | 'pages'>> {
    await this.#flush();
    return { captures: this.#captures, pages: this.#pages };
  }

  async #flush(): Promise<void> {
    const [first = ''] = this.#block;
    const bytes = await compress(this.#block.join(''));
    if (first !== '') {
      const key = first.slice(0, first.indexOf(' {'));
      const place = {
        offset: this.#offset,
        length: bytes.length,
        digest: sha256(bytes),
        filename: 'index.cdx.gz',
      };
      this.#blockLines.push(`${key} ${JSON.stringify(place)}\n`);
      this.#offset += bytes.length;
    }
    await append(join(this.#directory, 'index.cdx.gz'), first === '' ? Buffer.alloc(0) : bytes);
    await append(join(this.#directory, 'index.idx'), this.#blockLines.join(''));
    await append(join(this.#directory, 'pages.jsonl'), this.#pageLines.join(''));
    this.#block = [];
    this.#blockLines = [];
    this.#pageLines = [];
  }
}

async function append(path: string, content: string | Uint8Array): Promise<void> {
  await using file = await open(path, 'a');
  await file.appendFile(content);
}

/** Returns the entry of a line in the list of pages: an HTML document that was found. */
function pageOf(line: string): { url: string; ts: string } | undefined {
  const [, time = '', json = ''] = /^\S+ (\d{14}) (\{.*\})$/.exec(line) ?? [];
  if (!json.includes('"text/html"')) return undefined;
  const { url, mime, status } = JSON.parse(json) as Readonly<Record<string, string>>;
  if (url === undefined || mime !== 'text/html' || status !== '200') return undefined;
  const ts = time.replace(/^(....)(..)(..)(..)(..)(..)$/, '$1-$2-$3T$4:$5:$6Z');
  return { url, ts };
}

/** The lines of all indexes, sorted. */
async function* mergedLines(
  indexes: readonly AsyncIterator<string>[],
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> {
  const sources: { next: string; readonly rest: AsyncIterator<string> }[] = [];
  try {
    for (const rest of indexes) {
      const { value, done } = await rest.next();
      if (done !== true) sources.push({ next: value, rest });
    }
    while (sources.length > 0) {
      signal?.throwIfAborted();
      const least = sources.reduce((a, b) => (compareBytes(b.next, a.next) < 0 ? b : a));
      yield least.next;
      const { value, done } = await least.rest.next();
      if (done === true) sources.splice(sources.indexOf(least), 1);
      else least.next = value;
    }
  } finally {
    await Promise.all(sources.map(({ rest }) => rest.return?.()));
  }
}

async function* writtenLines(
  path: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> {
  const input = createReadStream(path, { signal });
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }))
    if (line !== '') yield line;
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

async function digestOf(
  path: string,
  signal: AbortSignal | undefined,
): Promise<{ hash: string; bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(path, { signal })) {
    const piece = chunk as Buffer;
    hash.update(piece);
    bytes += piece.length;
  }
  return { hash: `sha256:${hash.digest('hex')}`, bytes };
}

function sha256(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
