import { writeFile } from 'node:fs/promises';
import { createFetcher, type FetcherOptions } from '../../../clients/fetch/create-fetcher.js';
import { entryUrl } from '../../../clients/fetch/entry-names.js';
import { fetchFollowing } from '../../../clients/fetch/follow.js';
import type { FetchRequest, FetchResult } from '../../../clients/fetch/types.js';
import { ConnectionError, messageOf, StorageError, UsageError } from '../../../protocols/errors.js';
import { canonicalUrl, withoutUserInfo } from '../../../protocols/urls/index.js';
import { createDebug, DebugFlags } from '../../host/debug-flags.js';
import { StopSignal } from '../../host/stop-signal.js';
import { complain, complainOrThrow, EXIT } from '../output/exit.js';
import { StandardOutput } from '../output/standard-output.js';

/** One document to fetch, for urlget, ftpget, gopherget and newsget. */
export interface Retrieval {
  /** The command's name, for messages. */
  readonly command: string;
  readonly url: string;
  readonly fetcher?: Partial<FetcherOptions>;
  readonly request?: Partial<FetchRequest>;
  /** File to write; `-` or undefined is standard output. */
  readonly file?: string | undefined;
  /** Prints the metadata as one JSON line; the document is then written only to a file. */
  readonly json?: boolean;
  /** Writes control characters to a terminal as they are. Default false. */
  readonly raw?: boolean;
  /** Returns the bytes to write for an answer. Default: {@link documentOf}. */
  readonly render?: (result: FetchResult) => Uint8Array;
}

const USER_AGENT = 'Harvest/1.8 (harvest-kit)';

/**
 * Fetches one document and writes it.
 * @returns the exit status: failure if the server refuses, connection if it cannot be reached
 */
export async function retrieve(retrieval: Retrieval): Promise<number> {
  const { command } = retrieval;
  const url = canonicalUrl(retrieval.url);
  if (url === undefined)
    throw new UsageError(`${command}: ${retrieval.url} is not a URL that can be fetched`);
  const flags = DebugFlags.parse([], process.env.HARVEST_DEBUG);
  using _debug = flags.any ? await debugOutput(flags, command) : undefined;
  await using fetcher = createFetcher({
    userAgent: USER_AGENT,
    onWarning: (sentence) => complain(command, sentence),
    ...retrieval.fetcher,
  });
  using stop = new StopSignal({ limit: { program: command } });
  try {
    const result = await fetchFollowing(fetcher, { ...retrieval.request, url, signal: stop.signal });
    return await report(retrieval, result);
  } catch (error) {
    if (stop.signal.aborted) return EXIT.interrupted;
    if (!(error instanceof ConnectionError)) throw error;
    return complainOrThrow(command, error, EXIT.connection);
  }
}

async function report(
  { command, file, json, raw = false, render }: Retrieval,
  result: FetchResult,
): Promise<number> {
  const isFound = result.status >= 200 && result.status <= 299;
  const output = new StandardOutput({ raw });
  const toFile = file !== undefined && file !== '-';
  if (isFound && (toFile || json !== true)) {
    const document = (render ?? documentOf)(result);
    if (toFile) await save(file, document);
    else await output.write(document);
  }
  if (json === true) await output.write(`${JSON.stringify(metadataOf(result))}\n`);
  if (result.truncated)
    complain(command, `the document is longer than ${result.body.length} bytes: truncated`);
  if (isFound && !result.truncated) return EXIT.ok;
  if (!isFound) complain(command, describeRefusal(result));
  return EXIT.failure;
}

async function save(file: string, document: Uint8Array): Promise<void> {
  try {
    await writeFile(file, document);
  } catch (error) {
    throw new StorageError(`${file}: ${messageOf(error)}`);
  }
}

/** Returns the URLs in a listing; undefined if the answer is a document. */
function listedUrls(result: FetchResult): readonly string[] | undefined {
  const url = withoutUserInfo(result.url);
  return result.entries?.map((entry) => entryUrl(url, entry)) ?? result.links;
}

/** Returns the body of a document; for a directory the URLs in it, one per line. */
export function documentOf(result: FetchResult): Uint8Array {
  if (result.entries === undefined) return result.body;
  const url = withoutUserInfo(result.url);
  return Buffer.from(result.entries.map((entry) => `${entryUrl(url, entry)}\n`).join(''));
}

function metadataOf(result: FetchResult): object {
  const { body, entries: _, beginTime, endTime, ...metadata } = result;
  return {
    ...metadata,
    url: withoutUserInfo(result.url),
    length: body.length,
    links: listedUrls(result),
    milliseconds: endTime - beginTime,
  };
}

function describeRefusal(result: FetchResult): string {
  const reply = result.headers['ftp-reply'] ?? result.headers['nntp-reply'] ?? result.headers['gopher-error'];
  return `${withoutUserInfo(result.url)}: status ${result.status}${reply === undefined ? '' : ` (${reply})`}`;
}

/** Writes the debugging messages of the fetchers to standard error, until it is disposed of. */
async function debugOutput(flags: DebugFlags, command: string): Promise<Disposable> {
  const { followDebug } = await import('../../gatherer/watch/debug.js');
  const { createLogger } = await import('../../host/logger.js');
  return followDebug(createDebug(flags, createLogger({ program: command, level: 'debug' })));
}
