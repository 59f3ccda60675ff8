import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { FetchResult } from '../types.js';

/*
 * The file of an entry: `HARVEST-CACHE 1 LENGTH` and a line feed, LENGTH bytes of JSON, the body. The JSON
 * holds the body's length and MD5 (G-90), which reveal a file that is damaged or was cut off by a crash of the
 * machine.
 */
const MAGIC = 'HARVEST-CACHE 1 ';
/** The JSON holds the names and links of listings. */
const MAX_META_BYTES = 64 * 1024 * 1024;

const META = z.object({
  url: z.string(),
  fetched: z.number(),
  status: z.number(),
  headers: z.record(z.string(), z.string()),
  contentType: z.string().optional(),
  charset: z.string().optional(),
  lastModified: z.number(),
  etag: z.string(),
  entries: z.array(z.string()).optional(),
  links: z.array(z.string()).optional(),
  remoteAddress: z.string().optional(),
  length: z.number(),
  md5: z.string(),
});

export interface CacheEntry {
  readonly result: FetchResult;
  /** Seconds since 1970: when the document was retrieved. */
  readonly fetched: number;
}

/** G-98: complete answers with status 2xx, not from this machine's files and not to a login. */
export function isCacheable(result: FetchResult): boolean {
  return (
    result.status >= 200 &&
    result.status <= 299 &&
    !result.truncated &&
    !result.local &&
    result.personal !== true &&
    result.undecoded === undefined &&
    result.lenient?.problem === undefined
  );
}

export function encodeEntry(result: FetchResult): Uint8Array[] {
  const { url, status, headers, contentType, charset, lastModified, etag, entries, links, remoteAddress } =
    result;
  const known = { url, status, headers, contentType, charset, lastModified, etag, entries, links };
  const meta = JSON.stringify({
    ...known,
    remoteAddress,
    fetched: Math.floor(result.endTime / 1000),
    length: result.body.length,
    md5: createHash('md5').update(result.body).digest('hex'),
  });
  const bytes = Buffer.from(meta, 'utf8');
  return [Buffer.from(`${MAGIC}${bytes.length}\n`), bytes, result.body];
}

/** @returns undefined if the file is damaged or is about another URL */
export function decodeEntry(file: Uint8Array, url: string): CacheEntry | undefined {
  const start = Buffer.from(file.subarray(0, MAGIC.length + 12)).toString('latin1');
  const length = /^HARVEST-CACHE 1 (\d{1,9})\n/.exec(start);
  if (length === null || Number(length[1]) > MAX_META_BYTES) return undefined;
  const bodyAt = length[0].length + Number(length[1]);
  const meta = META.safeParse(parseJson(file.subarray(length[0].length, bodyAt)));
  if (!meta.success || meta.data.url !== url) return undefined;
  const body = file.slice(bodyAt);
  const { length: bodyLength, md5, fetched, contentType, charset, entries, links, remoteAddress } = meta.data;
  if (body.length !== bodyLength || createHash('md5').update(body).digest('hex') !== md5) return undefined;
  const now = Date.now();
  const { status, headers, lastModified, etag } = meta.data;
  const result: FetchResult = {
    url,
    status,
    headers,
    lastModified,
    etag,
    body,
    truncated: false,
    local: false,
    cached: true,
    beginTime: now,
    endTime: now,
    contentType,
    charset,
    entries,
    links,
    remoteAddress,
  };
  return { result, fetched };
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return undefined; // a damaged entry
  }
}
