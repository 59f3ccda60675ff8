// The links of documents that are archived as a whole, but too long to be summarized.
import { type BodyBytes, type BodyFile, decodedPieces, isStored } from '../../../clients/fetch/index.js';
import { ConnectionError } from '../../../protocols/errors.js';
import { parseXRobotsTag } from '../../../protocols/robots/index.js';
import { withoutUserInfo } from '../../../protocols/urls/index.js';
import type { CrawlUri } from '../../crawler/crawl-uri.js';
import {
  headerOutlinks,
  type LargeLinks,
  largeFormatOf,
  outlinksOfLargePage,
  outlinksOfPackage,
} from '../../essence/index.js';
import { ignoresPageRobots } from './extract.js';

/**
 * Returns the links of a document, read from disk in pieces; undefined if its type has none, or they are not
 * requested.
 * @param robotsAgent the names by which X-Robots-Tag may address this crawler
 * @param openBody opens a file for the decoded bytes of a zip archive, whose directory is at its end
 */
export async function linksOfLarge(
  uri: CrawlUri,
  robotsAgent: string,
  openBody?: () => Promise<BodyFile>,
): Promise<Pick<CrawlUri, 'outLinks' | 'droppedLinks' | 'hasUnreadLinks'> | undefined> {
  const { fetched, redactedUrl: url, settings, signal } = uri;
  const { wire, headers, contentType, charset, body } = fetched!;
  const format = largeFormatOf(body, { contentType, url });
  if (wire === undefined || format === undefined || (settings.embeds === 'frames' && format !== 'html'))
    return undefined;
  const ignoreRobots = ignoresPageRobots(uri);
  const tag = headers['x-robots-tag'];
  if (tag !== undefined && !ignoreRobots && parseXRobotsTag([tag], robotsAgent).nofollow) return undefined;
  const maxLinks = settings.maxOutlinks;
  const codings = [headers['content-encoding'] ?? '', headers['transfer-encoding'] ?? ''].join(',');
  const pieces = new DecodedPieces(wire.body, codings, signal);
  const via = withoutUserInfo(uri.entry.uri.via);
  const document = { url, via, form: settings.urlForm, beginning: body, charset, ignoreRobots, maxLinks };
  const found =
    format === 'package'
      ? await linksOfPackage(document, wire.body, codings, pieces, openBody)
      : await outlinksOfLargePage({ ...document, format, pieces: pieces.read() });
  const { links, dropped: droppedLinks } = found;
  const outLinks =
    settings.embeds === 'frames'
      ? links.filter(({ hop }) => hop === 'L' || hop === 'R')
      : [...links, ...headerOutlinks(headers, url, maxLinks, settings.urlForm)];
  return { outLinks, droppedLinks, hasUnreadLinks: !found.isComplete || pieces.isDamaged };
}

/** The links of an archive. One with a content coding is decoded into a file. */
async function linksOfPackage(
  document: Parameters<typeof outlinksOfPackage>[0],
  body: BodyBytes,
  codings: string,
  pieces: DecodedPieces,
  openBody: (() => Promise<BodyFile>) | undefined,
): Promise<LargeLinks> {
  if (!/[^\s,]/.test(codings.replace(/\b(?:chunked|identity)\b/gi, '')))
    return await outlinksOfPackage(document, isStored(body) ? rangesOf(body) : body);
  if (openBody === undefined) return { links: [], dropped: 0, isComplete: false };
  const file = await openBody();
  try {
    let length = 0;
    for await (const piece of pieces.read()) {
      await file.append(piece);
      length += piece.length;
    }
    return await outlinksOfPackage(document, { length, pieces: (start, end) => file.pieces(start, end) });
  } finally {
    await file.close();
  }
}

function rangesOf(body: Exclude<BodyBytes, Uint8Array>): Parameters<typeof outlinksOfPackage>[1] {
  return { length: body.length, pieces: (start, end) => body.pieces(start, end) };
}

/** The decoded bytes of a body, up to damage: the archive has them, whatever they are. */
class DecodedPieces {
  readonly #body: BodyBytes;
  readonly #codings: string;
  readonly #signal: AbortSignal;
  /** Whether bytes could not be decoded. */
  isDamaged = false;

  constructor(body: BodyBytes, codings: string, signal: AbortSignal) {
    this.#body = body;
    this.#codings = codings;
    this.#signal = signal;
  }

  /** @throws the signal's reason */
  async *read(): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of decodedPieces(this.#body, this.#codings)) {
        this.#signal.throwIfAborted();
        yield piece;
      }
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      this.isDamaged = true;
    }
  }
}
