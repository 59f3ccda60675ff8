import { createHash } from 'node:crypto';
import { isWhole } from '../../../clients/fetch/index.js';
import { parseXRobotsTag } from '../../../protocols/robots/index.js';
import { MAX_URL_LENGTH, withoutUserInfo } from '../../../protocols/urls/index.js';
import type { Processor, ProcessResult } from '../../crawler/chains.js';
import type { CrawlUri, OutLink } from '../../crawler/crawl-uri.js';
import { type UriErrorEvent, uriErrorChannel } from '../../crawler/events.js';
import { headerOutlinks } from '../../essence/outlinks/outlinks.js';
import type { EssencePool } from '../../essence/pool/pool.js';
import { userName } from '../../host/user-names.js';
import { hasSameRules, type RulesDigest } from '../configuration/rules-digest.js';

export interface ExtractOptions {
  readonly essence: EssencePool;
  readonly rulesDigest: RulesDigest;
  /** The names by which X-Robots-Tag may address this crawler: its User-Agent and product names. */
  readonly robotsAgent: string;
  readonly now: () => number;
}

/**
 * CRAWL-11.2 chain 3: extracts the links and the summary of a document by Essence. A document whose digest is
 * unchanged is not summarized again (G-108, third line).
 */
export class ExtractProcessor implements Processor {
  readonly #options: ExtractOptions;
  readonly name = 'Essence';

  constructor(options: ExtractOptions) {
    this.#options = options;
  }

  async process(uri: CrawlUri): Promise<ProcessResult> {
    if (uri.disposition === 'kept' || uri.disposition === 'unchanged') return 'proceed';
    const { essence, rulesDigest, now } = this.#options;
    const fetched = uri.fetched!;
    const known = uri.document;
    const body = uri.rendered?.body ?? fetched.body;
    const charset = uri.rendered === undefined ? fetched.charset : 'utf-8';
    if (known !== undefined && known.updateTime > 0 && hasSameRules(known.rulesDigest, rulesDigest(known))) {
      // CRAWL-18.9: the beginning of a document may equal an earlier, shorter one.
      if (isWhole(fetched) && createHash('md5').update(body).digest('hex') === known.md5) {
        uri.disposition = 'unchanged';
        uri.useKnownLinks(known);
        return 'proceed';
      }
    }
    uri.updateTime = now();
    uri.essence = await essence.summarize(
      {
        // G-81: without the login, so that no attribute can contain it.
        url: uri.redactedUrl,
        body,
        contentType: fetched.contentType,
        charset,
        lastModificationTime: fetched.lastModified,
        owner: fetched.ownerId === undefined ? undefined : await userName(fetched.ownerId),
        creationTime: fetched.creationTime,
        updateTime: uri.updateTime,
        ...(ignoresPageRobots(uri) ? { ignoreRobots: true } : {}),
        ...(uri.settings.embeds === 'frames'
          ? {}
          : { outlinks: { via: withoutUserInfo(uri.entry.uri.via), form: uri.settings.urlForm } }),
      },
      uri.signal,
    );
    const { exploded = [] } = uri.essence;
    uri.disposition = uri.essence.rejected && exploded.length === 0 ? 'rejected' : 'summarized';
    if (uri.disposition === 'rejected')
      // The last one: those before it say what was wrong on the way.
      uri.reason = uri.essence.warnings.at(-1) ?? `type ${uri.essence.type} is not indexed`;
    if (uri.essence.malformedLinks !== undefined) reportMalformed(uri, uri.essence.malformedLinks);
    uri.droppedLinks = uri.essence.droppedLinks ?? 0;
    uri.outLinks = [...uri.essence.links, ...headerLinks(uri), ...(uri.rendered?.links ?? [])];
    applyRobotsTag(uri, this.#options.robotsAgent);
    return 'proceed';
  }
}

/** CRAWL-11.2: the references in the header of the response, if all references are requested. */
function headerLinks({ redactedUrl, fetched, settings }: CrawlUri): readonly OutLink[] {
  if (settings.embeds === 'frames' || fetched === undefined || !/^https?:/.test(redactedUrl)) return [];
  return headerOutlinks(fetched.headers, redactedUrl, settings.maxOutlinks, settings.urlForm);
}

/** CRAWL-13.6: the header X-Robots-Tag has the effect of a META tag of the page. */
function applyRobotsTag(uri: CrawlUri, agent: string): void {
  const value = uri.fetched?.headers['x-robots-tag'];
  if (value === undefined || ignoresPageRobots(uri)) return;
  const { noindex, nofollow, unavailableAfter } = parseXRobotsTag([value], agent);
  if (nofollow) uri.outLinks = [];
  if (!noindex && (unavailableAfter === undefined || unavailableAfter > Date.now() / 1000)) return;
  uri.disposition = 'rejected';
  uri.reason = `X-Robots-Tag: ${value}`;
}

/** CRAWL-13.6: with these policies the directives of a page for robots have no effect. */
export function ignoresPageRobots({ settings: { robotsPolicy } }: CrawlUri): boolean {
  return robotsPolicy === 'ignore' || robotsPolicy === 'robots-txt-only';
}

/** CRAWL-16.4: records and publishes the links that could not be made absolute. */
function reportMalformed(uri: CrawlUri, links: readonly string[]): void {
  uri.uriErrors = links.map((url) => ({
    url,
    message: url.length > MAX_URL_LENGTH ? `longer than ${MAX_URL_LENGTH} characters` : 'not a URL',
  }));
  for (const error of uri.uriErrors)
    uriErrorChannel.publish({ ...error, source: uri.redactedUrl } satisfies UriErrorEvent);
}
