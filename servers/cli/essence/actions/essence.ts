import { lstat, readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { createFetcher } from '../../../../clients/fetch/create-fetcher.js';
import type { Fetcher } from '../../../../clients/fetch/types.js';
import { jsonLine } from '../../../../clients/soif-tools/json-lines.js';
import { defined } from '../../../../protocols/defined.js';
import { rethrowAs, StorageError, UsageError } from '../../../../protocols/errors.js';
import { decodeSoif } from '../../../../protocols/soif/index.js';
import { DEFAULT_REFRESH_RATE, DEFAULT_TIME_TO_LIVE } from '../../../../protocols/time.js';
import { DatabaseFile } from '../../../../storage/databases/database-file.js';
import { WORKING_FILE } from '../../../../storage/databases/file-kind.js';
import { loadObjects } from '../../../../storage/databases/load.js';
import type { SourceObject } from '../../../../storage/databases/sources.js';
import { ifPresent } from '../../../../storage/files/exists.js';
import { createDirectory } from '../../../../storage/files/make-directory.js';
import { replaceFile } from '../../../../storage/files/replace-file.js';
import { installedPrograms } from '../../../essence/external/find.js';
import type { EssenceOutput } from '../../../essence/model.js';
import { EssencePool, type EssencePoolOptions } from '../../../essence/pool/pool.js';
import { isRejected, type RecognitionStep, recognize } from '../../../essence/recognition/recognize.js';
import { createLogger } from '../../../host/logger.js';
import { EXIT, isExpected } from '../../output/exit.js';
import { writeMessage } from '../../output/printable.js';
import { sentenceOf } from '../../output/run-tool.js';
import { printResult, StandardOutput } from '../../output/standard-output.js';
import { readDocument, readStandardInput } from '../read-document.js';

interface EssenceCliOptions {
  readonly file?: string;
  readonly allowlist?: string;
  readonly stoplist?: string;
  readonly libdir?: string;
  readonly bindir: readonly string[];
  readonly rules?: string;
  readonly gathererHost: string;
  readonly gathererName: string;
  readonly gathererVersion: string;
  readonly access: boolean;
  readonly fakeMd5s: boolean;
  readonly linkText: boolean;
  readonly navigation: boolean;
  readonly mainText: boolean;
  readonly code: boolean;
  readonly fullText: boolean;
  readonly rawText: boolean;
  readonly minimalBookkeeping: boolean;
  readonly keywords: boolean;
  readonly typeOnly: boolean;
  readonly explain: boolean;
  readonly json: boolean;
  readonly verbose: boolean;
  readonly grouping: boolean;
  readonly language: boolean;
  readonly rawReferences: boolean;
  readonly dbdir?: string;
  readonly maxDeletions: number;
  readonly log?: string;
  readonly workers?: number;
  readonly maxSize: number;
  readonly maxDepth?: number;
  readonly maxComponents?: number;
  readonly maxUnpacked?: number;
  readonly maxRatio?: number;
  readonly timeLimit?: number;
  readonly maxMemory?: number;
  readonly maxPoolMemory?: number;
}

interface Result {
  /** For standard output. */
  readonly pieces: readonly (string | Uint8Array)[];
  /** The objects themselves, as SOIF. */
  readonly objects: readonly Uint8Array[];
  /** For standard error. */
  readonly notes: readonly string[];
}

interface Settled {
  readonly name: string;
  readonly result?: Result;
  readonly error?: unknown;
}

/** The action of `harvest essence`; returns the exit status. */
export async function essence(documents: readonly string[], options: EssenceCliOptions): Promise<number> {
  if (documents.length === 0 && options.file === undefined) {
    throw new UsageError('essence: a file or URL is required');
  }
  const names = [...documents, ...(options.file === undefined ? [] : await readNames(options.file))];
  if (options.dbdir !== undefined && options.typeOnly) {
    throw new UsageError('essence: --type-only and --dbdir are mutually exclusive');
  }
  const output = new StandardOutput();
  using messages = openMessages(options.log);
  await using pool = await EssencePool.create({
    ...poolOptions(options),
    workers: options.workers ?? threadsFor(names, options),
  });
  await using fetcher = createFetcher({ userAgent: 'Harvest/1.8 (harvest-kit)' });
  const outcome = { failed: false };
  const results = reportMessages(summarizeInOrder(names, pool, fetcher, options), messages, outcome);
  if (options.dbdir === undefined) {
    for await (const { pieces } of results) {
      for (const piece of pieces) if (!(await output.write(piece))) return EXIT.ok;
    }
  } else {
    const counts = await storeObjects(options.dbdir, objectsIn(results), options.maxDeletions);
    await printResult(options, counts, `essence: ${sentenceOf(counts)}\n`);
  }
  return outcome.failed ? EXIT.failure : EXIT.ok;
}

/** Prints notes and errors of the documents; yields the results. */
async function* reportMessages(
  settled: AsyncIterable<Settled>,
  messages: Messages,
  outcome: { failed: boolean },
): AsyncGenerator<Result> {
  for await (const { name, result, error } of settled) {
    if (result === undefined) {
      if (!isExpected(error)) throw error;
      outcome.failed = true;
      messages.error(`${name}: ${error.message}`);
      continue;
    }
    for (const line of result.notes) messages.note(`${name}: ${line}`);
    yield result;
  }
}

async function* objectsIn(results: AsyncIterable<Result>): AsyncGenerator<Uint8Array> {
  for await (const { objects } of results) yield* objects;
}

/**
 * Returns the number of threads: at most one a document, because every thread loads all summarizers; 0 if only
 * types are printed.
 */
function threadsFor(names: readonly string[], { typeOnly }: EssenceCliOptions): number {
  return typeOnly ? 0 : Math.min(names.length, 4, Math.max(1, availableParallelism() - 1));
}

/** E-5: reads the names of documents from a file, one a line. */
async function readNames(file: string): Promise<string[]> {
  const text = file === '-' ? (await readStandardInput(64 * 1024 * 1024)).toString() : await readText(file);
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

async function readText(file: string): Promise<string> {
  return await readFile(file, 'utf8').catch(rethrowAs(StorageError, `${file} cannot be read`));
}

function poolOptions(options: EssenceCliOptions): EssencePoolOptions {
  const { libdir, bindir, timeLimit, maxMemory, maxPoolMemory } = options;
  const directories = [
    ...(libdir === undefined ? [] : [resolve(libdir)]),
    ...bindir.map((each) => resolve(each)),
  ];
  const timeMs = timeLimit === undefined ? undefined : timeLimit * 1000;
  return {
    gathererName: options.gathererName,
    gathererHost: options.gathererHost,
    gathererVersion: options.gathererVersion,
    refreshRate: DEFAULT_REFRESH_RATE,
    timeToLive: DEFAULT_TIME_TO_LIVE,
    keywords: options.keywords,
    access: options.access,
    fakeMd5s: options.fakeMd5s,
    grouping: options.grouping,
    language: options.language,
    mainText: options.mainText,
    code: options.code,
    linkText: options.linkText,
    navigation: options.navigation,
    rawReferences: options.rawReferences,
    minimalBookkeeping: options.minimalBookkeeping,
    fullText: options.fullText || options.rawText,
    rawText: options.rawText,
    stoplist: options.stoplist === undefined ? undefined : listFile(options.stoplist),
    allowlist: options.allowlist === undefined ? undefined : listFile(options.allowlist),
    libDirectory: libdir === undefined ? undefined : resolve(libdir),
    postSummarizing: options.rules === undefined ? undefined : listFile(options.rules),
    programs: { directories, ...installedPrograms(process.env) },
    timeLimitMs: timeMs,
    maxReaderMemoryMb: maxMemory,
    maxPoolMemoryMb: maxPoolMemory,
    unnest: defined({
      maxDepth: options.maxDepth,
      maxComponents: options.maxComponents,
      maxUnpackedBytes: options.maxUnpacked,
      maxRatio: options.maxRatio,
      // Less than the document's limit, so that the components that were unpacked in time are kept.
      timeLimitMs: timeMs === undefined ? undefined : (timeMs * 2) / 3,
    }),
  };
}

/** A name without a slash is a shipped file or one of --libdir; `./NAME` is in the current directory. */
function listFile(name: string): string {
  return name.includes('/') ? resolve(name) : name;
}

/**
 * Yields the results in the order of the documents; as many documents as there are threads are in process at a
 * time.
 */
async function* summarizeInOrder(
  names: readonly string[],
  pool: EssencePool,
  fetcher: Fetcher,
  options: EssenceCliOptions,
): AsyncGenerator<Settled> {
  const inProcess: Promise<Settled>[] = [];
  for (const name of names) {
    inProcess.push(
      summarizeOne(name, pool, fetcher, options).then(
        (result) => ({ name, result }),
        (error: unknown) => ({ name, error }),
      ),
    );
    if (inProcess.length > pool.workers) yield await inProcess.shift()!;
  }
  for (const settled of inProcess) yield await settled;
}

async function summarizeOne(
  name: string,
  pool: EssencePool,
  fetcher: Fetcher,
  options: EssenceCliOptions,
): Promise<Result> {
  const { input, notes } = await readDocument(name, pool.rules, fetcher, options);
  const steps: RecognitionStep[] = [];
  const { type } = recognize(input, pool.rules, { access: options.access, steps });
  const explained = options.explain ? [...steps.map(describeStep), describeSelection(type, pool)] : [];
  if (options.typeOnly) {
    const line = options.json
      ? JSON.stringify({ url: input.url, type, ...(options.explain ? { steps } : {}) })
      : `${type}\t${input.url}`;
    return { pieces: [`${line}\n`], objects: [], notes: [...notes, ...(options.json ? [] : explained)] };
  }
  const output = await pool.summarize(input);
  const verbose = options.verbose ? [`${output.type}${output.rejected ? ', skipped' : ''}`] : [];
  const objects = objectsOf(output);
  return {
    pieces: objects.map((soif) => (options.json ? `${jsonLine(decodeSoif(soif))}\n` : soif)),
    objects,
    notes: [...notes, ...explained, ...verbose, ...output.warnings],
  };
}

/** Returns the document's object, then the objects found in it. */
function objectsOf(output: EssenceOutput): Uint8Array[] {
  const found = output.exploded?.map(({ soif }) => soif) ?? [];
  return output.soif === undefined ? found : [output.soif, ...found];
}

function describeStep({ how, subject, type, rule, note }: RecognitionStep): string {
  const methods = {
    url: 'by URL',
    name: 'by name',
    declared: 'as declared',
    content: 'by content',
    bytes: 'by its bytes',
  };
  const where = rule === undefined || rule.line === 0 ? '' : ` (${rule.file}:${rule.line})`;
  const why = note === undefined ? '' : `: ${note}`;
  return `${methods[how]}, ${JSON.stringify(subject)}: ${type ?? 'nothing'}${where}${why}`;
}

function describeSelection(type: string, pool: EssencePool): string {
  if (!isRejected(type, pool.rules)) return `${type} is accepted`;
  return pool.rules.stoplist.has(type)
    ? `${type} is on the stop list`
    : `${type} is not on the list of allowed types`;
}

/** Receives the messages about documents. */
export interface Messages {
  /** Writes a note about a document that was read. */
  note(text: string): void;
  /** Writes why a document could not be read. */
  error(text: string): void;
  [Symbol.dispose](): void;
}

/**
 * Writes messages to standard error after `essence: `, or appends them to a log with the line format of G-146,
 * each immediately (G-147).
 *
 * @param file the log; undefined is standard error
 * @throws StorageError if the log cannot be opened
 */
export function openMessages(file: string | undefined): Messages {
  if (file === undefined) {
    const write = (text: string): void => writeMessage(`essence: ${text}`);
    return { note: write, error: write, [Symbol.dispose]() {} };
  }
  const log = createLogger({ program: 'essence', file });
  return {
    note: (text) => log.info(text),
    error: (text) => log.error(text),
    [Symbol.dispose]: () => log.flush(),
  };
}

/** Result of {@link storeObjects}. */
export type StoreCounts = Readonly<Record<'added' | 'replaced' | 'objects', number>>;

/**
 * Stores objects in WORKING.gdbm (E-5 `--dbdir`, G-112), from which `consoldb` and `folddb` publish. One
 * transaction: after a failure the database is unchanged. One object is in memory at a time.
 *
 * @param directory created if missing
 * @param maxDeletions number of replaced objects from which the file is rewritten to reclaim their space
 *   (E-119)
 * @throws StorageError if the database cannot be opened or written
 */
export async function storeObjects(
  directory: string,
  objects: AsyncIterable<Uint8Array>,
  maxDeletions: number,
): Promise<StoreCounts> {
  await createDirectory(directory).catch(rethrowAs(StorageError, `${directory} cannot be created`));
  const finalPath = join(directory, WORKING_FILE);
  const load = async (path: string): Promise<StoreCounts> => {
    using database = DatabaseFile.open(path, { create: true, finalPath });
    const { added, replaced } = await loadObjects(database, sourceObjects(objects));
    if (replaced >= maxDeletions) database.reorganize();
    return { added, replaced, objects: database.count };
  };
  // A new file gets its name when it is complete.
  return (await ifPresent(lstat(finalPath))) !== undefined ? load(finalPath) : replaceFile(finalPath, load);
}

async function* sourceObjects(objects: AsyncIterable<Uint8Array>): AsyncGenerator<SourceObject> {
  for await (const bytes of objects) yield { section: 'update', object: decodeSoif(bytes), bytes };
}
