import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TextDecoder } from 'node:util';
import { createGunzip } from 'node:zlib';
import { messageOf } from '../../../protocols/errors.js';
import { canonicalUrl, hostOf, isEnumerable } from '../../../protocols/urls/index.js';
import type { ListedReference, ListedUrl, ListingFormat, ListingKind } from './listing-model.js';
import { ListingXml } from './listing-xml.js';

export interface ListingOptions {
  /** Canonical URL of the listing. */
  readonly url: string;
  /** Charset that the server declares. Default: byte order mark, XML declaration, UTF-8. */
  readonly charset?: string | undefined;
  /** Whether a URL is accepted. Default: those on the listing's host. */
  readonly allows?: (url: string) => boolean;
  /** Number of listings that led to this one; 0 for the first. */
  readonly depth?: number;
  /** Deepest nesting of listings. Default 3. */
  readonly maxDepth?: number;
  /** URLs of one listing. Default 50 000, the limit of the sitemap protocol. */
  readonly maxEntries?: number;
  /** Bytes of one listing, decompressed. Default 50 MiB, the limit of the sitemap protocol. */
  readonly maxBytes?: number;
  /** Receives a sentence for each reason for which URLs were omitted. */
  readonly onWarning?: (message: string) => void;
  readonly signal?: AbortSignal;
}

/** A complete listing. */
export interface Listing {
  /** Undefined if the format is unknown. */
  readonly kind: ListingKind | undefined;
  readonly urls: readonly ListedUrl[];
  readonly warnings: readonly string[];
}

const DEFAULT_MAX_ENTRIES = 50_000;
const DEFAULT_MAX_LISTING_BYTES = 50 * 1024 * 1024;
const DEFAULT_MAX_LISTING_DEPTH = 3;

/** Bytes to decode before other tasks of the event loop can run. */
const SLICE_BYTES = 64 * 1024;
/** Bytes at the start of a listing that determine its format and encoding. */
const HEAD_BYTES = 1024;
const GZIP_MAGIC = [0x1f, 0x8b] as const;
/** Maximum length of a line in UTF-16 units; a URL may have 2083. */
const MAX_LINE = 8192;

/**
 * Yields the URLs of a sitemap, a sitemap index, a text sitemap, a robots.txt, an RSS or Atom feed (G-172),
 * compressed by gzip or not, while it reads them, so that memory does not grow with the listing. The content
 * determines the format. Repeated URLs are yielded repeatedly. Of a truncated or damaged listing it yields the
 * URLs before the damage.
 * @throws the signal's reason when aborted; errors of the body
 */
export async function* readListing(
  body: Uint8Array | AsyncIterable<Uint8Array>,
  options: ListingOptions,
): AsyncGenerator<ListedUrl, ListingKind | undefined, undefined> {
  const warn = options.onWarning ?? (() => undefined);
  const { maxEntries = DEFAULT_MAX_ENTRIES } = options;
  const acceptance = new UrlAcceptance(options);
  let format: ListingFormat | undefined;
  let count = 0;
  for await (const { text, last } of decodePieces(body, options, warn)) {
    format ??= formatOf(text, options.url);
    format.write(text);
    if (last) format.end();
    for (const reference of format.found.splice(0)) {
      const url = acceptance.accept(reference);
      if (url === undefined) continue;
      if (count >= maxEntries) {
        warn(`URLs after the first ${maxEntries} are skipped`);
        acceptance.report(warn);
        return format.kind;
      }
      count++;
      yield url;
    }
    if (format.problem !== undefined) break;
  }
  acceptance.report(warn);
  if (format?.problem !== undefined) warn(format.problem);
  return format?.kind;
}

/** {@link readListing} for a body in memory: returns the whole listing. */
export async function listedUrls(body: Uint8Array, options: ListingOptions): Promise<Listing> {
  const warnings: string[] = [];
  const urls: ListedUrl[] = [];
  const onWarning = (message: string): void => {
    warnings.push(message);
    options.onWarning?.(message);
  };
  const reading = readListing(body, { ...options, onWarning });
  for (;;) {
    const step = await reading.next();
    if (step.done === true) return { kind: step.value, urls, warnings };
    urls.push(step.value);
  }
}

/** Accepts or refuses the URLs of one listing, and counts the refused ones. */
class UrlAcceptance {
  readonly #options: ListingOptions;
  readonly #refused = new Map<string, number>();
  readonly #allows: (url: string) => boolean;
  readonly #isDeepest: boolean;
  readonly #mayNameFiles: boolean;

  constructor(options: ListingOptions) {
    this.#options = options;

    const listingHost = hostOf(options.url);
    this.#allows = options.allows ?? ((url) => hostOf(url) === listingHost);
    this.#isDeepest = (options.depth ?? 0) >= (options.maxDepth ?? DEFAULT_MAX_LISTING_DEPTH);
    // G-174: listings from the network never refer to local files.
    this.#mayNameFiles = options.url.startsWith('file:');
  }

  accept({ reference, base, lastModified, kind }: ListedReference): ListedUrl | undefined {
    const url = canonicalUrl(reference, base === '' ? this.#options.url : base);
    if (url === undefined || !isEnumerable(url)) return this.#refuse('not URLs that can be gathered');
    if (url.startsWith('file:') && !this.#mayNameFiles) return this.#refuse('files of this machine (G-174)');
    if (kind === 'listing' && this.#isDeepest)
      return this.#refuse('listings of listings that are nested too deep');
    if (!this.#allows(url)) return this.#refuse('on other hosts');
    return { url, lastModified, kind };
  }

  report(warn: (message: string) => void): void {
    for (const [why, count] of this.#refused) warn(`${count} URLs skipped: ${why}`);
  }

  #refuse(why: string): undefined {
    this.#refused.set(why, (this.#refused.get(why) ?? 0) + 1);
    return undefined;
  }
}

/** Chooses the format: XML by its first character, robots.txt by its name, else a text sitemap. */
function formatOf(text: string, url: string): ListingFormat {
  if (/^\s*</.test(text)) return new ListingXml();
  return new ListingText(/^https?:\/\/[^/]+\/robots\.txt$/.test(url) ? 'robots' : 'text');
}

/**
 * G-172: reads text sitemaps, one URL a line, and the `Sitemap:` lines of robots.txt, which are independent of
 * groups.
 */
class ListingText implements ListingFormat {
  readonly #format: 'text' | 'robots';
  readonly found: ListedReference[] = [];
  readonly problem = undefined;
  #hasEntries = false;
  #pending = '';

  constructor(format: 'text' | 'robots') {
    this.#format = format;
  }

  get kind(): ListingKind | undefined {
    return this.#format === 'robots' || this.#hasEntries ? this.#format : undefined;
  }

  write(text: string): void {
    const lines = (this.#pending + text).split(/\r\n|\r|\n/);
    // A line that is too long is replaced by blanks, so that its end is not taken for a line.
    const lastLine = lines.pop() ?? '';
    this.#pending = lastLine.length > MAX_LINE ? ' '.repeat(MAX_LINE) : lastLine;
    for (const line of lines) this.#readLine(line);
  }

  end(): void {
    this.#readLine(this.#pending);
    this.#pending = '';
  }

  #readLine(line: string): void {
    if (line.length > MAX_LINE) return;
    const reference =
      this.#format === 'robots'
        ? /^\s*sitemap\s*:\s*(\S+)/i.exec(line)?.[1]
        : /^\s*((?:[a-z]+:\/\/|news:)\S+)\s*$/i.exec(line)?.[1];
    if (reference === undefined) return;
    this.#hasEntries = true;
    this.found.push({
      reference,
      base: '',
      lastModified: 0,
      kind: this.#format === 'robots' ? 'listing' : 'document',
    });
  }
}

interface TextPiece {
  readonly text: string;
  readonly last: boolean;
}

/** Yields the body as text, decompressed, within the limit; at least one piece. */
async function* decodePieces(
  body: Uint8Array | AsyncIterable<Uint8Array>,
  options: ListingOptions,
  warn: (message: string) => void,
): AsyncGenerator<TextPiece, void, undefined> {
  const { maxBytes = DEFAULT_MAX_LISTING_BYTES, signal } = options;
  let decoder: TextDecoder | undefined;
  let size = 0;
  let isTruncated = false;
  for await (const piece of decompress(withCompleteHead(body), warn, signal)) {
    signal?.throwIfAborted();
    const bytesLeft = maxBytes - size;
    const kept = piece.length <= bytesLeft ? piece : piece.subarray(0, bytesLeft);
    size += kept.length;
    decoder ??= createDecoder(kept, options.charset, warn);
    for (let start = 0; start < kept.length; start += SLICE_BYTES) {
      yield {
        text: decoder.decode(kept.subarray(start, start + SLICE_BYTES), { stream: true }),
        last: false,
      };
      // A large listing must not block the event loop.
      if (start > 0) await nextTurn(undefined, { signal });
    }
    if (kept.length < piece.length) {
      isTruncated = true;
      warn(`only the first ${maxBytes} bytes are read`);
      break;
    }
  }
  // A URL that the limit cuts off is dropped.
  yield { text: isTruncated ? '' : (decoder?.decode() ?? ''), last: !isTruncated };
}

/** Yields the body in pieces, the first of which is long enough to determine the format. */
async function* withCompleteHead(
  body: Uint8Array | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (body instanceof Uint8Array) {
    yield body;
    return;
  }
  let head: Uint8Array[] | undefined = [];
  let length = 0;
  for await (const chunk of body) {
    if (head === undefined) {
      yield chunk;
      continue;
    }
    head.push(chunk);
    length += chunk.length;
    if (length < HEAD_BYTES) continue;
    yield Buffer.concat(head);
    head = undefined;
  }
  if (head !== undefined) yield Buffer.concat(head);
}

async function* decompress(
  pieces: AsyncGenerator<Uint8Array, void, undefined>,
  warn: (message: string) => void,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const first = await pieces.next();
  if (first.done === true) return;
  const all = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    yield first.value;
    yield* pieces;
  };
  if (first.value[0] !== GZIP_MAGIC[0] || first.value[1] !== GZIP_MAGIC[1]) {
    yield* all();
    return;
  }
  const compressed = Readable.from(all());
  const gunzip = createGunzip();
  let bodyError: Error | undefined;
  compressed.once('error', (error) => {
    bodyError = error;
    gunzip.destroy();
  });
  compressed.pipe(gunzip);
  try {
    for await (const chunk of gunzip) yield chunk as Buffer;
  } catch (error) {
    signal?.throwIfAborted();
    if (bodyError !== undefined) throw bodyError;
    warn(`it is damaged: ${messageOf(error)}`);
  } finally {
    compressed.destroy();
    gunzip.destroy();
  }
}

/** Chooses the encoding: byte order mark, the server's declaration, the XML declaration, UTF-8. */
function createDecoder(
  head: Uint8Array,
  charset: string | undefined,
  warn: (message: string) => void,
): TextDecoder {
  const start = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, HEAD_BYTES)).toString(
    'latin1',
  );
  const marked = start.startsWith('\xff\xfe')
    ? 'utf-16le'
    : start.startsWith('\xfe\xff')
      ? 'utf-16be'
      : undefined;
  const declared = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(start)?.[1];
  const label = start.startsWith('\xef\xbb\xbf') ? 'utf-8' : (marked ?? charset ?? declared ?? 'utf-8');
  try {
    return new TextDecoder(label);
  } catch {
    warn(`its character set ${JSON.stringify(label.slice(0, 40))} is unknown: read as UTF-8`);
    return new TextDecoder();
  }
}
