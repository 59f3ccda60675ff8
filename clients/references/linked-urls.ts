// Reads the URLs of links from the web pages of a references server.
import { z } from 'zod';
import { ConnectionError, KitError, PeerError } from '../../protocols/errors.js';
import {
  ABORT_OPTIONS,
  checkOptions,
  filledText,
  MAX_PORT,
  milliseconds,
  oneOf,
  optional,
  type Shape,
  whole,
} from '../connection/arguments.js';
import { asConnectionError } from '../connection/network-errors.js';

/** The four lists of a document or a site. */
export type LinkListName = 'to' | 'from' | 'site-to' | 'site-from';

export interface LinkedUrlsOptions {
  readonly host: string;
  readonly port: number;
  /** URL or ID of a document; of a site for the two lists of sites. */
  readonly what: string;
  readonly list: LinkListName;
  /** Position of the first result. Default 0. */
  readonly start?: number;
  /** For each page. Default 60 000 ms. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const LINKED_URLS_OPTIONS: Shape<LinkedUrlsOptions> = {
  host: filledText,
  port: whole(1, MAX_PORT),
  what: filledText,
  list: oneOf('to', 'from', 'site-to', 'site-from' satisfies LinkListName),
  start: optional(whole(0)),
  timeoutMs: optional(milliseconds),
  ...ABORT_OPTIONS,
};

/** One page of a list. */
export interface LinkedUrls {
  /** The length of the list. */
  readonly found: number;
  readonly start: number;
  /** The documents; `url` is null if the server does not know it. */
  readonly results: readonly { readonly id: number; readonly url: string | null }[];
}

const DEFAULT_TIMEOUT_MS = 60_000;
/** A page has fifty URLs. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

const pageSchema = z.object({
  view: z.string(),
  found: z.number().int().nonnegative(),
  start: z.number().int().nonnegative(),
  results: z.array(z.object({ id: z.number().int(), url: z.string().nullable() })),
});

/** The page of a document or site that the server does not know; other servers have a 404 for `/` itself. */
const unknownSchema = z.object({
  query: z.string(),
  found: z.literal(0),
  results: z.array(z.unknown()).length(0),
});

/**
 * Reads the linked documents with their URLs, page by page. SSTP has requests for IDs only; a references
 * server of this project also answers HTTP on its port. A document or site that it does not know has no pages.
 *
 * @throws ConnectionError if the server cannot be reached; PeerError, with the status of HTTP, if it does not
 *   answer as this project's server does, so that its 404 says nothing about the document; UsageError
 *   for wrong options
 */
export function linkedUrls(options: LinkedUrlsOptions): AsyncGenerator<LinkedUrls, void, undefined> {
  checkOptions('linkedUrls', options, LINKED_URLS_OPTIONS);
  return pagesOf(options);
}

async function* pagesOf(options: LinkedUrlsOptions): AsyncGenerator<LinkedUrls, void, undefined> {
  for (let start = options.start ?? 0; ; ) {
    const page = await fetchPage(options, start);
    if (page === undefined) return;
    yield page;
    options.signal?.throwIfAborted();
    start += page.results.length;
    if (page.results.length === 0 || start >= page.found) return;
  }
}

async function fetchPage(
  { host, port, what, list, timeoutMs = DEFAULT_TIMEOUT_MS, signal }: LinkedUrlsOptions,
  start: number,
): Promise<LinkedUrls | undefined> {
  const parameters = new URLSearchParams({ q: what, view: list, start: String(start), format: 'json' });
  // Over TLS its page is one of https.
  const [scheme, plain] = host.startsWith('tls://') ? ['https', host.slice(6)] : ['http', host];
  const name = plain.includes(':') ? `[${plain}]` : plain;
  const timeout = AbortSignal.timeout(timeoutMs);
  const { request } = await import('undici');
  let status: number;
  let type: string;
  let text: string;
  try {
    const reply = await request(`${scheme}://${name}:${port}/?${parameters}`, {
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
    });
    status = reply.statusCode;
    type = mediaType(reply.headers['content-type']);
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of reply.body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_PAGE_BYTES)
        throw new PeerError(`${name}:${port}: GET / has more than ${MAX_PAGE_BYTES} bytes`, status);
      chunks.push(chunk);
    }
    text = Buffer.concat(chunks).toString();
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof KitError) throw cause;
    if (timeout.aborted)
      throw new ConnectionError(`${name}:${port}: no answer within ${timeoutMs} ms`, { cause });
    throw asConnectionError(`${name}:${port}`, cause);
  }
  const page = parseJson(text);
  if (status === 404 && unknownSchema.safeParse(page).success) return undefined;
  const parsed = pageSchema.safeParse(page);
  if (status !== 200 || !parsed.success || parsed.data.view !== list)
    throw new PeerError(
      `${name}:${port}: GET / is answered ${status}${type}, not with URLs of documents`,
      status,
    );
  return parsed.data;
}

/** The type in the header, in parentheses; empty if it is not a well-formed one. */
function mediaType(header: string | string[] | undefined): string {
  const type = /^[\w.+-]{1,64}\/[\w.+-]{1,64}(?=$|[;\s])/.exec(String(header))?.[0];
  return type === undefined ? '' : ` (${type.toLowerCase()})`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
