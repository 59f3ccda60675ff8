// Fetches `file:` URLs (G-87).
import { hostname } from 'node:os';
import { UsageError } from '../../protocols/errors.js';
import { unescapeBytes } from '../../protocols/urls/index.js';
import { type LocalFile, type LocalReach, OUT_OF_REACH, readLocal } from './local-files.js';
import { closeBodies } from './stored-body.js';
import {
  type Answer,
  DIRECTORY_TYPE,
  type Fetcher,
  type FetchRequest,
  type FetchResult,
  resultOf,
} from './types.js';

export interface FileFetcherOptions {
  /** Directories that `file:` URLs may reach, symbolic links followed; default `['/']`. */
  readonly fileRoots?: readonly string[] | undefined;
  /** Whether hidden files below these directories are left out; default false. */
  readonly withoutHidden?: boolean | undefined;
  /** Names of this machine other than `localhost` (G-87); default the system's host name. */
  readonly hostNames?: readonly string[] | undefined;
}

/** `file:` URLs of this machine: regular files and directories (G-87). */
export class FileFetcher implements Fetcher {
  readonly #reach: LocalReach;
  readonly #hostNames: ReadonlySet<string>;

  constructor(options: FileFetcherOptions = {}) {
    this.#reach = { roots: options.fileRoots ?? ['/'], withoutHidden: options.withoutHidden };
    this.#hostNames = ownHosts(options.hostNames);
  }

  async fetch(request: FetchRequest): Promise<FetchResult> {
    request.signal?.throwIfAborted();
    const beginTime = Date.now();
    const path = pathAmong(request.url, this.#hostNames);
    const file =
      path === undefined ? { kind: 'missing' as const } : await readLocal(path, this.#reach, request);
    // `file:///a/` names a directory, perhaps one that may not be read.
    const isFile = file.kind === 'file' || file.kind === 'unchanged';
    const isFileWithSlash = isFile && pathPart(request.url).endsWith('/');
    if (!isFileWithSlash) return fileResult(request.url, file, beginTime);
    if (file.kind === 'file') await closeBodies(file.content);
    return fileResult(request.url, { kind: 'missing' }, beginTime);
  }

  async close(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}
}

/**
 * The hosts of URLs for files of this machine: none, `localhost` and its own names (G-87, RFC 8089 section 2).
 */
function ownHosts(names: readonly string[] | undefined): ReadonlySet<string> {
  return new Set(['', 'localhost', ...(names ?? [hostname()]).map((name) => name.toLowerCase())]);
}

/**
 * The path that a canonical `file:` URL names on this machine, as bytes; undefined if no file can have it.
 * @param hostNames of this machine; the system's host name if undefined
 * @throws UsageError if the URL names another machine: its files are not here (G-87)
 */
export function localPathOf(url: string, hostNames?: readonly string[]): Buffer | undefined {
  return pathAmong(url, ownHosts(hostNames));
}

function pathAmong(url: string, hosts: ReadonlySet<string>): Buffer | undefined {
  const host = /^file:\/\/([^/]*)/.exec(url)?.[1];
  if (host === undefined || !hosts.has(host)) {
    throw new UsageError('a file URL must have no host, localhost or this host (G-87)');
  }
  const path = unescapePath(pathPart(url));
  return path === undefined || path.includes(0) ? undefined : path;
}

/** The result for a file. */
export function fileResult(url: string, file: LocalFile, beginTime: number): FetchResult {
  return resultOf(url, beginTime, { local: true, ...answerOf(file) });
}

/** Whether a local file was not read because it is not among those that the configuration names. */
export function isOutOfReach({ local, headers }: Pick<FetchResult, 'local' | 'headers'>): boolean {
  return local === true && OUT_OF_REACH.has(headers['file-refusal'] ?? '');
}

function answerOf(file: LocalFile): Answer {
  if (file.kind === 'missing') return { status: 404 };
  if (file.kind === 'forbidden') return { status: 403, headers: { 'file-refusal': file.reason } };
  const lastModified = Math.max(0, Math.floor(file.stats.mtimeMs / 1000));
  if (file.kind === 'unchanged') return { status: 304, lastModified };
  if (file.kind === 'file') {
    const { uid: ownerId, birthtimeMs } = file.stats;
    const creationTime = Math.max(0, Math.floor(birthtimeMs / 1000));
    return { status: 200, lastModified, ...file.content, ownerId, creationTime };
  }
  const { entries, hiddenEntries, truncated } = file;
  return { status: 200, lastModified, contentType: DIRECTORY_TYPE, entries, hiddenEntries, truncated };
}

function pathPart(url: string): string {
  const path = url.slice(url.indexOf('/', 'file://'.length));
  const query = path.indexOf('?');
  return query < 0 ? path : path.slice(0, query);
}

/** The bytes of a URL's path; undefined if it contains an escaped slash, which would name another file. */
function unescapePath(path: string): Buffer | undefined {
  if (/%2f/i.test(path)) return undefined;
  return Buffer.from(unescapeBytes(path), 'latin1'); // a canonical URL is ASCII, so every unit is one byte
}
