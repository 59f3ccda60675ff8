import { readFile } from 'node:fs/promises';
import { availableParallelism, hostname } from 'node:os';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { createFetcher, DEFAULT_MAX_BYTES, type Fetcher } from '../../clients/fetch/index.js';
import { jsonLine } from '../../clients/soif-tools/json-lines.js';
import { messageOf, StorageError, UsageError } from '../../protocols/errors.js';
import { decodeSoif } from '../../protocols/soif/index.js';
import { DEFAULT_REFRESH_RATE, DEFAULT_TIME_TO_LIVE } from '../../protocols/time.js';
import {
  type EssenceOptions,
  type EssenceOutput,
  EssencePool,
  isRejected,
  type RecognitionStep,
  recognize,
} from '../essence/index.js';
import { sentenceOf } from './db/run-tool.js';
import { MAX_DELETIONS, storeObjects } from './essence/database.js';
import { type Messages, openMessages } from './essence/messages.js';
import { readDocument, readStandardInput } from './essence/read-document.js';
import { EXIT, isExpected } from './exit.js';
import { countOption, integerOption, timeoutOption } from './option-values.js';
import { StandardOutput } from './standard-output.js';

const HELP = `
Tells what kind of document each file or URL is, takes apart what is packed (tar, gzip, compress, bzip2, xz, zstd, zip, ar, cpio,
uuencode, shell archives, BinHex, mail with attachments) and prints a summary of each as SOIF. Nothing that a document
holds is ever run, and nothing of it is written to disk. For - the document is read from standard input.

Types come from the rule files byurl.cf, byname.cf and bycontent.cf, in this order, each replaced by the one of that name in
--libdir. Types on the stop list are left out. With --explain standard error tells which line decided.

With --dbdir all objects of a run are stored in one step, each in place of the one with its URL; what is on the stop list leaves
a stored object alone. Standard output then has the counts, with --json as one JSON object. To publish what is in DIR:
"harvest consoldb DIR/PRODUCTION.gdbm DIR/WORKING.gdbm", then "harvest folddb DIR".

Examples:
  harvest essence paper.tar.gz                    its summary, a component as Embed<n> attributes
  harvest essence --type-only *                   only the types, one line each: type, tab, URL
  harvest essence --explain --type-only README.Z  why it is of this type
  harvest essence --json http://www.example.org/  a summary as one line of JSON
  harvest essence --dbdir data --log log *.ps     stores the summaries in data/WORKING.gdbm
  harvest essence --full-text report.pdf          all of its text
  harvest essence --stoplist /dev/null --libdir ./lib -f urls.txt
  cat mail | harvest essence --json -

Exit status: 0 every document was summarized or is on the stop list, 1 some could not be, 2 usage.
`;

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
}

/** `essence [options] -f input-URLs`, `essence [options] URL ...` (E-5, section 11). */
export function essenceCommand(): Command {
  return new Command('essence')
    .summary('tell types, unpack, and summarize files and URLs')
    .argument('[documents...]', 'files or URLs; - is standard input')
    .option('-f, --file <file>', 'read the files or URLs from this file, one a line; - is standard input')
    .option('--allowlist <file>', 'file with the only types to summarize')
    .option('--stoplist <file>', 'file with the types to leave out (default: the shipped stoplist.cf)')
    .option('--libdir <directory>', 'directory whose files replace the shipped ones')
    .option(
      '--bindir <directory>',
      'directory with TypeName.sum and TypeName.unnest (may be repeated)',
      collect,
      [],
    )
    .option('--rules <file>', 'post-summarizing rules')
    .option('--type-only', 'only tell the types', false)
    .option('--explain', 'tell on standard error which rule decided each step', false)
    .option('--json', 'one JSON object a line', false)
    .option('--full-text', 'the whole text instead of a summary', false)
    .option('--raw-text', 'the bytes as text, whatever they are (--full-text=raw)', false)
    .option('--no-access', 'do not read the documents: only what their names tell')
    .option('--no-keywords', 'do not make keywords')
    .option('--minimal-bookkeeping', 'as few bookkeeping attributes as possible', false)
    .option('--fake-md5s', 'MD5 for objects that come out of Exploders', false)
    .option('--grouping', 'leave out components made from a source beside them (main.o beside main.c)', false)
    .option('--language', 'guess the Language of texts that do not say it', false)
    .option('--raw-references', 'references as written, not absolute', false)
    .option('--fast-summarizing', 'understood and without effect: summaries are always checked', false)
    .option('--dbdir <directory>', 'store the objects in WORKING.gdbm there, print none')
    .option(
      '--max-deletions <n>',
      'with --dbdir: objects replaced before the file is written anew',
      countOption,
      MAX_DELETIONS,
    )
    .option('--log <file>', 'append messages to this file, with date and time, instead of standard error')
    .option('--gatherer-host <name>', 'Gatherer-Host of the objects', hostname())
    .option('--gatherer-name <name>', 'Gatherer-Name of the objects', 'essence')
    .option('--gatherer-version <text>', 'Gatherer-Version of the objects', '1.0')
    .option('--workers <n>', 'threads (default: one less than processors, at most 4; 0: none)', integerOption)
    .option('--time-limit <seconds>', 'for one document (default: 30)', timeoutOption)
    .option('--max-size <bytes>', 'of a document that is read', countOption, DEFAULT_MAX_BYTES)
    .option('--max-depth <n>', 'nested layers (default: 10)', countOption)
    .option('--max-components <n>', 'components of one document (default: 10000)', countOption)
    .option('--max-unpacked <bytes>', 'unpacked bytes of one document (default: 1 GiB)', countOption)
    .option('--max-ratio <n>', 'unpacked bytes for each packed one (default: 200)', countOption)
    .option('-v, --verbose', 'tell each document on standard error', false)
    .addHelpText('after', HELP)
    .action(async (documents: string[], options: EssenceCliOptions) => {
      process.exitCode = await essence(documents, options);
    });
}

function collect(value: string, before: readonly string[]): string[] {
  return [...before, value];
}

async function essence(documents: readonly string[], options: EssenceCliOptions): Promise<number> {
  if (documents.length === 0 && options.file === undefined) {
    throw new UsageError('essence: no file or URL is given');
  }
  const names = [...documents, ...(options.file === undefined ? [] : await listed(options.file))];
  if (options.dbdir !== undefined && options.typeOnly) {
    throw new UsageError('essence: --type-only makes no objects that --dbdir could store');
  }
  const output = new StandardOutput();
  using messages = openMessages(options.log);
  await using pool = await EssencePool.create({
    ...poolOptions(options),
    workers: options.workers ?? threadsFor(names, options),
  });
  await using fetcher = createFetcher({ userAgent: 'Harvest/1.8 (harvest-kit)' });
  const outcome = { failed: false };
  const results = told(inOrder(names, pool, fetcher, options), messages, outcome);
  if (options.dbdir === undefined) {
    for await (const { pieces } of results) {
      for (const piece of pieces) if (!(await output.write(piece))) return EXIT.ok;
    }
  } else {
    const counts = await storeObjects(options.dbdir, soifOf(results), options.maxDeletions);
    await output.write(options.json ? `${JSON.stringify(counts)}\n` : `essence: ${sentenceOf(counts)}\n`);
  }
  return outcome.failed ? EXIT.failure : EXIT.ok;
}

/** Tells what is to be told of each document, and gives on the results of those that have one. */
async function* told(
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

async function* soifOf(results: AsyncIterable<Result>): AsyncGenerator<Uint8Array> {
  for await (const { objects } of results) yield* objects;
}

/** A thread loads every summarizer: no more of them than documents, and none to tell types. */
function threadsFor(names: readonly string[], { typeOnly }: EssenceCliOptions): number {
  return typeOnly ? 0 : Math.min(names.length, 4, Math.max(1, availableParallelism() - 1));
}

/** E-5: the names in a file, one a line. */
async function listed(file: string): Promise<string[]> {
  const text = file === '-' ? (await readStandardInput(64 * 1024 * 1024)).toString() : await readText(file);
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new StorageError(`${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

function poolOptions(options: EssenceCliOptions): EssenceOptions & { timeLimitMs?: number } {
  const { libdir, bindir, timeLimit } = options;
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
    rawReferences: options.rawReferences,
    minimalBookkeeping: options.minimalBookkeeping,
    fullText: options.fullText || options.rawText,
    rawText: options.rawText,
    ...(options.stoplist === undefined ? {} : { stoplist: listFile(options.stoplist) }),
    ...(options.allowlist === undefined ? {} : { allowlist: listFile(options.allowlist) }),
    ...(libdir === undefined ? {} : { libDirectory: resolve(libdir) }),
    ...(options.rules === undefined ? {} : { postSummarizing: listFile(options.rules) }),
    ...(directories.length === 0 ? {} : { programs: { directories, path: process.env.PATH ?? '' } }),
    ...(timeMs === undefined ? {} : { timeLimitMs: timeMs }),
    unnest: {
      ...(options.maxDepth === undefined ? {} : { maxDepth: options.maxDepth }),
      ...(options.maxComponents === undefined ? {} : { maxComponents: options.maxComponents }),
      ...(options.maxUnpacked === undefined ? {} : { maxUnpackedBytes: options.maxUnpacked }),
      ...(options.maxRatio === undefined ? {} : { maxRatio: options.maxRatio }),
      // Less than the document's: what was unpacked by then is kept.
      ...(timeMs === undefined ? {} : { timeLimitMs: (timeMs * 2) / 3 }),
    },
  };
}

/** A name without a slash is one of the shipped or the user's files; in the current directory it is written with `./`. */
function listFile(name: string): string {
  return name.includes('/') ? resolve(name) : name;
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

/** All documents in the order they were given, a few of them under way at one time. */
async function* inOrder(
  names: readonly string[],
  pool: EssencePool,
  fetcher: Fetcher,
  options: EssenceCliOptions,
): AsyncGenerator<Settled> {
  const underWay: Promise<Settled>[] = [];
  for (const name of names) {
    underWay.push(
      one(name, pool, fetcher, options).then(
        (result) => ({ name, result }),
        (error: unknown) => ({ name, error }),
      ),
    );
    if (underWay.length > pool.workers) yield await underWay.shift()!;
  }
  for (const settled of underWay) yield await settled;
}

async function one(
  name: string,
  pool: EssencePool,
  fetcher: Fetcher,
  options: EssenceCliOptions,
): Promise<Result> {
  const { input, notes } = await readDocument(name, pool.rules, fetcher, options);
  const steps: RecognitionStep[] = [];
  const { type } = recognize(input, pool.rules, { access: options.access, steps });
  const explained = options.explain ? [...steps.map(sentence), selection(type, pool)] : [];
  if (options.typeOnly) {
    const line = options.json
      ? JSON.stringify({ url: input.url, type, ...(options.explain ? { steps } : {}) })
      : `${type}\t${input.url}`;
    return { pieces: [`${line}\n`], objects: [], notes: [...notes, ...(options.json ? [] : explained)] };
  }
  const output = await pool.summarize(input);
  const verbose = options.verbose ? [`${output.type}${output.rejected ? ', left out' : ''}`] : [];
  const objects = objectsOf(output);
  return {
    pieces: objects.map((soif) => (options.json ? `${jsonLine(decodeSoif(soif))}\n` : soif)),
    objects,
    notes: [...notes, ...explained, ...verbose, ...output.warnings],
  };
}

/** The document's own object, then those that were found in it. */
function objectsOf(output: EssenceOutput): Uint8Array[] {
  const found = output.exploded?.map(({ soif }) => soif) ?? [];
  return output.soif === undefined ? found : [output.soif, ...found];
}

function sentence({ how, subject, type, rule, note }: RecognitionStep): string {
  const looked = {
    url: 'by URL',
    name: 'by name',
    declared: 'as declared',
    content: 'by content',
    bytes: 'by its bytes',
  };
  const where = rule === undefined || rule.line === 0 ? '' : ` (${rule.file}:${rule.line})`;
  const why = note === undefined ? '' : `: ${note}`;
  return `${looked[how]}, ${JSON.stringify(subject)}: ${type ?? 'nothing'}${where}${why}`;
}

function selection(type: string, pool: EssencePool): string {
  if (!isRejected(type, pool.rules)) return `${type} is wanted`;
  return pool.rules.stoplist.has(type)
    ? `${type} is on the stop list`
    : `${type} is not on the list of allowed types`;
}
