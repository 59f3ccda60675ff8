// CDXJ indexes of WARC files, by which replay programs find a capture: one beside each finished file.
import { createReadStream } from 'node:fs';
import { open, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { z } from 'zod';
import { messageOf } from '../../../protocols/errors.js';
import { openRegular } from '../../../storage/files/regular-file.js';
import { replaceFile } from '../../../storage/files/replace-file.js';
import { readArcCapture } from './arc-reading.js';
import { type ArchivePart, archiveParts } from './complete-records.js';
import { compressionOf, FINISHED_ARCHIVE, formatOf } from './record-compression.js';
import { decompressFrame } from './zstd-frames.js';

/** The fields of a capture that the library reports; numbers are text. */
const entrySchema = z.object({
  urlkey: z.string(),
  timestamp: z.string().regex(/^\d{14}$/),
  url: z.string(),
  mime: z.string().optional(),
  /** Not a number for a malformed status line. */
  status: z.union([z.string(), z.number(), z.nan()]).optional(),
  digest: z.string().optional(),
  length: z.union([z.string(), z.number()]),
  offset: z.union([z.string(), z.number()]),
});

/** Lines that are written with one call. */
const LINES_PER_WRITE = 1000;

/** Compressed bytes of a record that the library inflates, which is slower than Node.js. */
const MAX_SLOW_BYTES = 128 * 1024;

/** The captures of a WARC file. */
export interface FileIndex {
  /** Sorted by their bytes. */
  readonly lines: readonly string[];
  /** The bytes without readable records, whose captures the index lacks. */
  readonly damage: readonly Pick<ArchivePart, 'start' | 'end' | 'problem'>[];
}

/**
 * Returns the index of a WARC file. It continues after a damaged record. Memory is in proportion to the number
 * of captures in the file, whatever the length of its records.
 * @throws the errors of reading; the signal's reason
 */
export async function indexArchive(path: string, signal?: AbortSignal): Promise<FileIndex> {
  const compression = compressionOf(path);
  const format = formatOf(path);
  await using file = await openRegular(path);
  const lines: string[] = [];
  const damage: ArchivePart[] = [];
  /** Adjacent records, which the library reads as one file. */
  let begun: Range | undefined;
  const endRange = async (): Promise<void> => {
    if (begun !== undefined) await addLines(lines, path, begun, read(path, begun, signal));
    begun = undefined;
  };
  for await (const part of archiveParts(file, { compression, format, signal })) {
    if (part.kind !== 'record') {
      await endRange();
      damage.push(part);
    } else if (format === 'arc') {
      const bytes = read(path, part, signal);
      const line = await arcLine(path, part, compression === 'gzip' ? gunzipped(bytes) : bytes);
      if (line !== undefined) lines.push(line);
    } else if (compression === 'zstd') {
      await addLines(lines, path, part, decompressFrame(read(path, part, signal)), part.end - part.start);
    } else if (compression === 'gzip' && (part.end - part.start > MAX_SLOW_BYTES || part.isExact === false)) {
      // The library takes what follows other line ends for damage.
      await endRange();
      await addLines(lines, path, part, gunzipped(read(path, part, signal)), part.end - part.start);
    } else begun = { start: begun?.start ?? part.start, end: part.end };
  }
  await endRange();
  return { lines: lines.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))), damage };
}

function gunzipped(bytes: Readable): AsyncIterable<Uint8Array> {
  // The loop gets the error.
  return pipeline(bytes, createGunzip(), () => undefined);
}

/** Returns the line of an ARC record; undefined for the one that describes the file. */
async function arcLine(
  path: string,
  { start, end }: Range,
  bytes: AsyncIterable<Uint8Array>,
): Promise<string | undefined> {
  const capture = await readArcCapture(bytes);
  if (capture === undefined) return undefined;
  const { timestamp, url, mime, status, digest } = capture;
  const { surtOf } = await import('./capture-indexer.js');
  // Like the library and other indexers: without the line end after a plain record.
  const length = end - start - (compressionOf(path) === 'none' ? 1 : 0);
  const place = { length: String(length), offset: String(start), filename: basename(path) };
  return `${surtOf(url)} ${timestamp} ${JSON.stringify({ url, mime, status, digest, ...place })}`;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

function read(path: string, { start, end }: Range, signal: AbortSignal | undefined): Readable {
  return createReadStream(path, { start, end: end - 1, signal });
}

/**
 * Adds the lines of some records.
 * @param compressedLength of the only record, which the library gets decompressed
 */
async function addLines(
  lines: string[],
  path: string,
  { start }: Range,
  reader: AsyncIterable<Uint8Array>,
  compressedLength?: number,
): Promise<void> {
  const { CaptureIndexer } = await import('./capture-indexer.js');
  const filename = basename(path);
  const indexer = new CaptureIndexer();
  for await (const found of indexer.iterIndex([{ reader, filename }])) {
    const entry = entrySchema.safeParse(found);
    // A record without a URI or date cannot be looked up.
    if (!entry.success) continue;
    const { urlkey, timestamp, url, mime, status, digest, length, offset } = entry.data;
    const fields = {
      url,
      mime,
      ...(status === undefined || Number.isNaN(status) ? {} : { status: String(status) }),
      digest: digest === undefined ? undefined : withAlgorithm(digest),
      length: String(compressedLength ?? length),
      offset: String(start + (compressedLength === undefined ? Number(offset) : 0)),
      filename,
    };
    lines.push(`${urlkey} ${timestamp} ${JSON.stringify(fields)}`);
  }
}

/** Some writers leave the algorithm of SHA-1 in base32 out. */
function withAlgorithm(digest: string): string {
  return /^[A-Z2-7]{32}$/i.test(digest) ? `sha1:${digest}` : digest;
}

/** Ranges that a sentence names. */
const MAX_PLACES = 20;

/** Describes the damage of a file in one sentence. */
export function damageSentence(name: string, damage: FileIndex['damage']): string {
  const mixed = damage.filter(({ problem }) => problem !== undefined);
  const others = damage.filter(({ problem }) => problem === undefined);
  const parts = [
    ...(others.length === 0 ? [] : [`no record can be read at the bytes ${placesOf(others)}`]),
    ...(mixed.length === 0
      ? []
      : [
          `the compressed bytes ${placesOf(mixed)} hold ${[...new Set(mixed.map(({ problem }) => problem))].join(', ')}, ` +
            'so that no reader finds a record by its offset: compress each record by itself (warcio recompress)',
        ]),
  ];
  return `${name}: ${parts.join('; ')}; the index has the others`;
}

function placesOf(damage: FileIndex['damage']): string {
  const places = damage.slice(0, MAX_PLACES).map(({ start, end }) => `${start} to ${end - 1}`);
  const rest = damage.length - places.length;
  return places.join(', ') + (rest > 0 ? ` and at ${rest} other places` : '');
}

/** Suffix of the file beside an index that lists what it lacks: damaged bytes, one range in a line. */
const DAMAGE_SUFFIX = '.damage';

/** Returns whether a finished WARC file has its whole index beside it, by the names of its directory. */
export function hasWholeIndex(name: string, names: ReadonlySet<string>): boolean {
  return names.has(`${name}.cdxj`) && !names.has(`${name}.cdxj${DAMAGE_SUFFIX}`);
}

/**
 * Writes the index of a finished WARC file to `FILE.cdxj`, whole or not at all. Returns what it lacks. @throws
 * StorageError, the errors of reading
 */
async function writeIndex(path: string, signal: AbortSignal): Promise<FileIndex['damage']> {
  const { lines, damage } = await indexArchive(path, signal);
  const note = `${path}.cdxj${DAMAGE_SUFFIX}`;
  // Before the index: without the note it counts as whole.
  if (damage.length > 0)
    await writeLines(
      note,
      damage.map(({ start, end }) => `${start}-${end - 1}`),
    );
  await writeLines(`${path}.cdxj`, lines);
  if (damage.length === 0) await rm(note, { force: true });
  return damage;
}

async function writeLines(path: string, lines: readonly string[]): Promise<void> {
  await replaceFile(
    path,
    async (temporary) => {
      await using out = await open(temporary, 'wx');
      for (let start = 0; start < lines.length; start += LINES_PER_WRITE)
        // `write` may leave out the end of a text, without an error, when the disk is nearly full.
        await out.appendFile(
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
  readonly #onIndexed: (name: string) => void;
  readonly #stop = new AbortController();
  #last: Promise<void> = Promise.resolve();

  /**
   * @param onProblem called if an index cannot be written or lacks damaged records; the next crawl in this
   *   directory tries again
   * @param onIndexed called with the name of each index that is written
   */
  constructor(
    directory: string,
    onProblem: (sentence: string) => void,
    onIndexed: (name: string) => void = () => undefined,
  ) {
    this.#onIndexed = onIndexed;
    this.#directory = directory;
    this.#onProblem = onProblem;
  }

  /** Adds the finished files that have no index, as after a kill, or one that lacks damaged records. */
  async addMissing(): Promise<void> {
    const names = new Set(await readdir(this.#directory));
    for (const name of [...names].sort())
      if (FINISHED_ARCHIVE.test(name) && !hasWholeIndex(name, names)) this.add(name);
  }

  /** Adds a finished file. */
  add(name: string): void {
    const path = join(this.#directory, name);
    this.#last = this.#last.then(async () => {
      const { signal } = this.#stop;
      if (signal.aborted) return;
      try {
        const damage = await writeIndex(path, signal);
        this.#onIndexed(`${name}.cdxj`);
        if (damage.length > 0) this.#onProblem(damageSentence(path, damage));
      } catch (error) {
        if (!signal.aborted) this.#onProblem(`${path}.cdxj cannot be written: ${messageOf(error)}`);
      }
    });
  }

  /**
   * Ends the index in progress: a stopped crawl does not wait. The next one in this directory writes those that
   * are missing.
   */
  stop(): void {
    this.#stop.abort();
  }

  /** Waits until all files have their index. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last;
  }
}
