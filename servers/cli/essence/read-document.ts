import { createReadStream } from 'node:fs';
import { lstat, readlink, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { localPathOf } from '../../../clients/fetch/file-fetcher.js';
import { fetchFollowing } from '../../../clients/fetch/follow.js';
import type { Fetcher } from '../../../clients/fetch/types.js';
import { KitError, messageOf, StorageError, UsageError } from '../../../protocols/errors.js';
import { canonicalUrl, withoutUserInfo } from '../../../protocols/urls/index.js';
import type { SelectionRules } from '../../essence/context.js';
import type { EssenceInput } from '../../essence/model.js';
import { isRejected, typeByUrl } from '../../essence/recognition/recognize.js';
import { userName } from '../../host/user-names.js';

/** Limits of reading. */
export interface ReadOptions {
  /** False: only names are used (E-118). */
  readonly access: boolean;
  /** Maximum number of bytes read of a document. */
  readonly maxSize: number;
}

/**
 * Reads a file, a URL or, for `-`, standard input; returns it with notes. The body is empty with `--no-access`,
 * and if the type that the name shows is on the stop list (E-28).
 *
 * @throws StorageError if it cannot be read, ConnectionError or PeerError if it cannot be fetched
 */
export async function readDocument(
  name: string,
  rules: SelectionRules,
  fetcher: Fetcher,
  options: ReadOptions,
): Promise<{ input: EssenceInput; notes: string[] }> {
  const updateTime = Math.floor(Date.now() / 1000);
  if (name === '-') {
    const body = await readStandardInput(options.maxSize);
    return { input: { url: 'file://localhost/-', body, lastModificationTime: 0, updateTime }, notes: [] };
  }
  const isFileUrl = /^file:/i.test(name);
  const isUrl = !isFileUrl && /^[a-z][a-z0-9+.-]+:/i.test(name);
  const path = isFileUrl ? pathOfFileUrl(name) : resolve(name);
  const url = isUrl
    ? name
    : urlOfFile(isFileUrl ? (canonicalUrl(name) ?? name) : pathToFileURL(path.toString()).href);
  const namedType = typeByUrl(url, rules);
  const blank = { url, body: new Uint8Array(), lastModificationTime: 0, updateTime };
  if (!options.access) return { input: blank, notes: [] };
  if (namedType !== undefined && isRejected(namedType, rules)) return { input: blank, notes: [] };
  if (isUrl) return fetchDocument(url, fetcher, options.maxSize, updateTime);
  return readFileDocument(path, { url, isFileUrl, namedType }, options.maxSize, updateTime);
}

/** @throws StorageError if it is not the URL of a file; UsageError if the file is another machine's (G-87) */
function pathOfFileUrl(given: string): Buffer {
  const url = canonicalUrl(given);
  const path = url === undefined ? undefined : localPathOf(url);
  if (path === undefined) throw new StorageError('is not the URL of a file');
  return path;
}

/** The URL of a file of this machine in a summary. */
function urlOfFile(url: string): string {
  return url.replace(/^file:\/\/[^/]*\//, 'file://localhost/');
}

async function fetchDocument(
  given: string,
  fetcher: Fetcher,
  maxBytes: number,
  updateTime: number,
): Promise<{ input: EssenceInput; notes: string[] }> {
  const url = canonicalUrl(given);
  if (url === undefined) throw new StorageError('is not a URL that can be fetched');
  const answer = await fetchFollowing(fetcher, { url, maxBytes });
  if (answer.status !== 200) throw new StorageError(`cannot be fetched: status ${answer.status}`);
  const { contentType, charset, body, lastModified, truncated } = answer;
  return {
    input: {
      // G-81: the URL is written into the summary.
      url: withoutUserInfo(answer.url),
      body,
      contentType,
      charset,
      lastModificationTime: lastModified,
      updateTime,
    },
    notes: truncated ? [truncationNote(maxBytes)] : [],
  };
}

/** How a file was named. */
interface NamedFile {
  readonly url: string;
  /** By a URL instead of a path. */
  readonly isFileUrl: boolean;
  /** The type that the name shows. */
  readonly namedType: string | undefined;
}

async function readFileDocument(
  path: string | Buffer,
  { url, isFileUrl, namedType }: NamedFile,
  maxBytes: number,
  updateTime: number,
): Promise<{ input: EssenceInput; notes: string[] }> {
  try {
    const link = await lstat(path);
    // Like file(1), recognition does not follow links: a link whose name has no type is a symbolic link (E-6).
    const target = link.isSymbolicLink() && namedType === undefined ? await readlink(path) : undefined;
    const stats = target === undefined ? await stat(path) : link;
    if (stats.isDirectory()) throw new StorageError('is a directory; give its files');
    // A path may be a pipe, as of `<(command)`. A URL may not: reading it would wait for a writer.
    if (isFileUrl && target === undefined && !stats.isFile())
      throw new StorageError('is not a regular file (G-87)');
    const body = target === undefined ? await readStart(path, maxBytes) : new Uint8Array();
    return {
      input: {
        url,
        body,
        lastModificationTime: Math.max(0, Math.floor(stats.mtimeMs / 1000)),
        owner: await userName(stats.uid),
        creationTime: Math.max(0, Math.floor(stats.birthtimeMs / 1000)),
        updateTime,
        linkTarget: target,
      },
      notes: target === undefined && stats.size > maxBytes ? [truncationNote(maxBytes)] : [],
    };
  } catch (cause) {
    if (cause instanceof KitError) throw cause;
    throw new StorageError(`cannot be read: ${messageOf(cause)}`, { cause });
  }
}

async function readStart(path: string | Buffer, maxBytes: number): Promise<Uint8Array> {
  return new Uint8Array(await buffer(createReadStream(path, { end: maxBytes - 1 })));
}

/** Reads standard input up to a limit in bytes. @throws UsageError if it is a terminal. */
export async function readStandardInput(maxBytes: number): Promise<Buffer> {
  if (process.stdin.isTTY)
    throw new UsageError(
      'essence: standard input is a terminal; give a file, or pipe a document into the command',
    );
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}

function truncationNote(maxBytes: number): string {
  return `only its first ${maxBytes} bytes are read (--max-size)`;
}
