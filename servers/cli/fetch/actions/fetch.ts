import { writeFile } from 'node:fs/promises';
import { DiskCache } from '../../../../clients/fetch/cache/disk-cache.js';
import { cacheSettings, defaultCacheDirectory } from '../../../../clients/fetch/cache/settings.js';
import { createFetcher, type FetcherOptions } from '../../../../clients/fetch/create-fetcher.js';
import { entryUrl } from '../../../../clients/fetch/entry-names.js';
import { fetchFollowing } from '../../../../clients/fetch/follow.js';
import type { FetchRequest, FetchResult } from '../../../../clients/fetch/types.js';
import { ConnectionError, messageOf, StorageError, UsageError } from '../../../../protocols/errors.js';
import { canonicalUrl, withoutUserInfo } from '../../../../protocols/urls/index.js';
import { createDebug, DebugFlags } from '../../../host/debug-flags.js';
import { StopSignal } from '../../../host/stop-signal.js';
import { readFirstLine } from '../../options/passwords.js';
import { complain, complainOrThrow, EXIT } from '../../output/exit.js';
import { printResult, StandardOutput } from '../../output/standard-output.js';

/** The options of every command that prints a document. */
interface OutputOptions {
  /** Prints the metadata as one JSON line; the document is then written only to a file. */
  readonly json: boolean;
  /** Writes control characters to a terminal as they are. */
  readonly raw: boolean;
}

interface UrlgetOptions extends OutputOptions {
  readonly output?: string;
  readonly reload: boolean;
  readonly cache: string | boolean;
  readonly maxBytes: number;
  readonly timeout: number;
  readonly proxy?: string;
}

/** The action of `harvest urlget`. */
export async function urlget(given: string, options: UrlgetOptions): Promise<number> {
  const url = given === '-' ? (await readFirstLine('-')).trim() : given;
  const directory = typeof options.cache === 'string' ? options.cache : defaultCacheDirectory();
  const cache =
    options.cache === false ? undefined : await DiskCache.open(directory, cacheSettings(process.env));
  const { output: file, proxy, maxBytes, reload } = options;
  const fetcher = { cache, httpProxy: proxy, ftpProxy: proxy };
  const request = { maxBytes, timeoutMs: Math.ceil(options.timeout * 1000), reload };
  return await retrieve({ command: 'urlget', url, fetcher, request, file }, options);
}

interface FtpgetOptions extends OutputOptions {
  readonly passwordFile?: string;
  readonly htmlify: boolean;
}

/** The action of `harvest ftpget`. */
export async function ftpget(
  file: string,
  server: string,
  name: string,
  type: string,
  user: string,
  given: string | undefined,
  options: FtpgetOptions,
): Promise<number> {
  const [, host, port] = /^(\[[0-9a-f:.]+\]|[^:/?@]+)(?::(\d{1,5}))?$/i.exec(server) ?? [];
  if (host === undefined) throw new UsageError(`ftpget: ${server} is not HOST or HOST:PORT`);
  const password = await passwordOf(given, options);
  const escaped = name.replace(/^\/+/, '%2F').split('/').map(escapeOnce).join('/');
  const url = `ftp://${host}${port === undefined ? '' : `:${port}`}/${escaped}${type === 'A' ? ';type=a' : ''}`;
  const login = {
    host: host.replace(/^\[|\]$/g, ''),
    port: port === undefined ? undefined : Number(port),
    user,
    password,
  };
  const render = options.htmlify ? htmlOf : documentOf;
  return await retrieve({ command: 'ftpget', url, fetcher: { ftpAuth: [login] }, file, render }, options);
}

/** The action of `harvest gopherget`. */
export async function gopherget(
  file: string,
  host: string,
  port: number,
  selector: string,
  options: OutputOptions,
): Promise<number> {
  if (!/^(\[[0-9a-f:.]+\]|[^:/?@]+)$/i.test(host))
    throw new UsageError(`gopherget: ${host} is not a host name`);
  // Type 9 is binary, so the answer stays unchanged. Slashes are escaped too: a selector is not a path.
  const url = `gopher://${host}:${port}/9${encodeURIComponent(selector)}`;
  return await retrieve({ command: 'gopherget', url, file }, options);
}

/** The action of `harvest newsget`. */
export async function newsget(file: string, url: string, options: OutputOptions): Promise<number> {
  if (!/^(?:news|nntp):/i.test(url)) throw new UsageError(`newsget: ${url} is not a news: or nntp: URL`);
  return await retrieve({ command: 'newsget', url, file }, options);
}

/** Environment variable that may contain the password. */
const PASSWORD_VARIABLE = 'HARVEST_FTP_PASSWORD';

async function passwordOf(given: string | undefined, { passwordFile }: FtpgetOptions): Promise<string> {
  if (given !== undefined && passwordFile !== undefined)
    throw new UsageError('ftpget: the password and --password-file are mutually exclusive');
  if (passwordFile !== undefined) return readFirstLine(passwordFile);
  return given ?? process.env[PASSWORD_VARIABLE] ?? 'harvest@';
}

function escapeOnce(segment: string): string {
  const [, slash = '', rest = ''] = /^(%2F)?(.*)$/s.exec(segment)!;
  return slash + encodeURIComponent(rest);
}

function htmlOf(result: FetchResult): Uint8Array {
  if (result.entries === undefined) return result.body;
  const title = `Directory ${escapeHtml(result.url)}`;
  const items = result.entries.map(
    (entry) => `<li><a href="${escapeHtml(entryUrl(result.url, entry))}">${escapeHtml(entry)}</a></li>\n`,
  );
  return Buffer.from(
    `<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>${title}</title></head>\n<body><h1>${title}</h1>\n` +
      `<ul>\n${items.join('')}</ul>\n</body></html>\n`,
  );
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The action of `harvest urlpurge`. */
export async function urlpurge(options: { cache?: string; expired: boolean; json: boolean }): Promise<void> {
  const cache = await DiskCache.open(options.cache ?? defaultCacheDirectory(), cacheSettings(process.env));
  const removed = await (options.expired ? cache.expire() : cache.purge());
  const left = await cache.size();
  const { directory } = cache;
  const text = `${directory}: ${removed} removed, ${left.entries} left (${left.bytes} bytes)\n`;
  await printResult(options, { directory, removed, ...left }, text);
}

/** One document to fetch. */
interface Retrieval {
  /** The command's name, for messages. */
  readonly command: string;
  readonly url: string;
  readonly fetcher?: Partial<FetcherOptions>;
  readonly request?: Partial<FetchRequest>;
  /** File to write; `-` or undefined is standard output. */
  readonly file?: string | undefined;
  /** Returns the bytes to write for an answer. Default: {@link documentOf}. */
  readonly render?: (result: FetchResult) => Uint8Array;
}

const USER_AGENT = 'Harvest/1.8 (harvest-kit)';

/**
 * Fetches one document and writes it.
 * @returns the exit status: failure if the server refuses, connection if it cannot be reached
 */
async function retrieve(retrieval: Retrieval, options: OutputOptions): Promise<number> {
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
    return await report(retrieval, result, options);
  } catch (error) {
    if (stop.signal.aborted) return EXIT.interrupted;
    if (!(error instanceof ConnectionError)) throw error;
    return complainOrThrow(command, error, EXIT.connection);
  }
}

async function report(
  { command, file, render = documentOf }: Retrieval,
  result: FetchResult,
  { json, raw }: OutputOptions,
): Promise<number> {
  const isFound = result.status >= 200 && result.status <= 299;
  const output = new StandardOutput({ raw });
  const toFile = file !== undefined && file !== '-';
  if (isFound && (toFile || !json)) {
    const document = render(result);
    if (toFile) await save(file, document);
    else await output.write(document);
  }
  if (json) await output.write(`${JSON.stringify(metadataOf(result))}\n`);
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

/** Returns the body of a document; for a directory the URLs in it, one per line. */
function documentOf(result: FetchResult): Uint8Array {
  if (result.entries === undefined) return result.body;
  const url = withoutUserInfo(result.url);
  return Buffer.from(result.entries.map((entry) => `${entryUrl(url, entry)}\n`).join(''));
}

function metadataOf(result: FetchResult): object {
  const { body, entries, beginTime, endTime, ...metadata } = result;
  const url = withoutUserInfo(result.url);
  return {
    ...metadata,
    url,
    length: body.length,
    // The URLs in a listing; undefined if the answer is a document.
    links: entries?.map((entry) => entryUrl(url, entry)) ?? result.links,
    milliseconds: endTime - beginTime,
  };
}

function describeRefusal(result: FetchResult): string {
  const reply = result.headers['ftp-reply'] ?? result.headers['nntp-reply'] ?? result.headers['gopher-error'];
  return `${withoutUserInfo(result.url)}: status ${result.status}${reply === undefined ? '' : ` (${reply})`}`;
}

/** Writes the debugging messages of the fetchers to standard error, until it is disposed of. */
async function debugOutput(flags: DebugFlags, command: string): Promise<Disposable> {
  const { followDebug } = await import('../../../gatherer/watch/debug.js');
  const { createLogger } = await import('../../../host/logger.js');
  return followDebug(createDebug(flags, createLogger({ program: command, level: 'debug' })));
}
