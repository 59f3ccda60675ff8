import { createReadStream } from 'node:fs';
import { lstat, readlink, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Fetcher, fetchFollowing } from '../../../clients/fetch/index.js';
import { KitError, messageOf, StorageError, UsageError } from '../../../protocols/errors.js';
import { type EssenceInput, isRejected, type SelectionRules, typeByUrl } from '../../essence/index.js';

/** Limits of reading. */
export interface ReadOptions {
  /** False: only names are used (E-118). */
  readonly access: boolean;
  /** Maximum number of bytes read of a document. */
  readonly maxSize: number;
}

/**
 * Reads a file, a URL or, for `-`, standard input; returns it with notes. The body is empty with `--no-access`, and if the type that
 * the name shows is on the stop list (E-28).
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
  const isUrl = /^[a-z][a-z0-9+.-]+:/i.test(name) && !name.startsWith('file:');
  const path = isUrl
    ? ''
    : resolve(name.startsWith('file:') ? decodeURIComponent(new URL(name).pathname) : name);
  const url = isUrl ? name : pathToFileURL(path).href.replace('file:///', 'file://localhost/');
  const namedType = typeByUrl(url, rules);
  const blank = { url, body: new Uint8Array(), lastModificationTime: 0, updateTime };
  if (!options.access) return { input: blank, notes: [] };
  if (namedType !== undefined && isRejected(namedType, rules)) return { input: blank, notes: [] };
  if (isUrl) return fetchDocument(url, fetcher, options.maxSize, updateTime);
  return readFileDocument(path, url, namedType, options.maxSize, updateTime);
}

async function fetchDocument(
  url: string,
  fetcher: Fetcher,
  maxBytes: number,
  updateTime: number,
): Promise<{ input: EssenceInput; notes: string[] }> {
  const answer = await fetchFollowing(fetcher, { url, maxBytes });
  if (answer.status !== 200) throw new StorageError(`cannot be fetched: status ${answer.status}`);
  const { contentType, charset, body, lastModified, truncated } = answer;
  return {
    input: {
      url: answer.url,
      body,
      ...(contentType === undefined ? {} : { contentType }),
      ...(charset === undefined ? {} : { charset }),
      lastModificationTime: lastModified,
      updateTime,
    },
    notes: truncated ? [truncationNote(maxBytes)] : [],
  };
}

async function readFileDocument(
  path: string,
  url: string,
  namedType: string | undefined,
  maxBytes: number,
  updateTime: number,
): Promise<{ input: EssenceInput; notes: string[] }> {
  try {
    const link = await lstat(path);
    // Like file(1), recognition does not follow links: a link whose name has no type is a symbolic link (E-6).
    const target = link.isSymbolicLink() && namedType === undefined ? await readlink(path) : undefined;
    const stats = target === undefined ? await stat(path) : link;
    if (stats.isDirectory()) throw new StorageError('is a directory; give its files');
    const body = target === undefined ? await readStart(path, maxBytes) : new Uint8Array();
    return {
      input: {
        url,
        body,
        lastModificationTime: Math.max(0, Math.floor(stats.mtimeMs / 1000)),
        updateTime,
        ...(target === undefined ? {} : { linkTarget: target }),
      },
      notes: target === undefined && stats.size > maxBytes ? [truncationNote(maxBytes)] : [],
    };
  } catch (cause) {
    if (cause instanceof KitError) throw cause;
    throw new StorageError(`cannot be read: ${messageOf(cause)}`, { cause });
  }
}

async function readStart(path: string, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(path, { end: maxBytes - 1 })) chunks.push(chunk);
  return new Uint8Array(Buffer.concat(chunks));
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
