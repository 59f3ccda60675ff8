// The links of documents that are archived as a whole, but too long to be summarized.
import { decodedPieces } from '../../../clients/fetch/index.js';
import { ConnectionError } from '../../../protocols/errors.js';
import { parseXRobotsTag } from '../../../protocols/robots/index.js';
import { withoutUserInfo } from '../../../protocols/urls/index.js';
import type { CrawlUri } from '../../crawler/crawl-uri.js';
import { formatOf, headerOutlinks, outlinksOfLargePage } from '../../essence/index.js';
import { ignoresPageRobots } from './extract.js';

/**
 * Returns the links of a document, read from disk in pieces; undefined if they are not found in its type, or not
 * requested.
 * @param robotsAgent the names by which X-Robots-Tag may address this crawler
 */
export async function linksOfLarge(
  uri: CrawlUri,
  robotsAgent: string,
): Promise<Pick<CrawlUri, 'outLinks' | 'droppedLinks'> | undefined> {
  const { fetched, redactedUrl: url, settings, signal } = uri;
  const { wire, headers, contentType, charset, body } = fetched!;
  const format = formatOf({ contentType, isHtml: false, url });
  const isPage = format === 'html';
  if (wire === undefined || format === undefined || (settings.embeds === 'frames' && !isPage))
    return undefined;
  const ignoreRobots = ignoresPageRobots(uri);
  const tag = headers['x-robots-tag'];
  if (tag !== undefined && !ignoreRobots && parseXRobotsTag([tag], robotsAgent).nofollow) return undefined;
  const maxLinks = settings.maxOutlinks;
  const codings = [headers['content-encoding'] ?? '', headers['transfer-encoding'] ?? ''].join(',');
  const pieces = untilAborted(decodedPieces(wire.body, codings), signal);
  const via = withoutUserInfo(uri.entry.uri.via);
  const document = { url, via, format, beginning: body, charset, pieces, ignoreRobots, maxLinks };
  const { links, dropped: droppedLinks } = await outlinksOfLargePage({
    ...document,
    form: settings.urlForm,
  });
  const outLinks =
    settings.embeds === 'frames'
      ? links.filter(({ hop }) => hop === 'L' || hop === 'R')
      : [...links, ...headerOutlinks(headers, url, maxLinks, settings.urlForm)];
  return { outLinks, droppedLinks };
}

/** Yields pieces up to damage: the archive has the bytes, whatever they are. @throws the signal's reason */
async function* untilAborted(
  pieces: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of pieces) {
      signal.throwIfAborted();
      yield piece;
    }
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
  }
}
