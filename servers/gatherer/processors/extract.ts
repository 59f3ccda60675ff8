import { createHash } from 'node:crypto';
import { parseXRobotsTag } from '../../../protocols/robots/index.js';
import { MAX_URL_LENGTH } from '../../../protocols/urls/index.js';
import type { Processor, ProcessResult } from '../../crawler/chains.js';
import type { CrawlUri } from '../../crawler/crawl-uri.js';
import { type UriErrorEvent, uriErrorChannel } from '../../crawler/events.js';
import { withLoginOf } from '../../crawler/redaction.js';
import type { EssencePool } from '../../essence/index.js';
import type { RulesDigest } from '../run-state.js';

export interface ExtractOptions {
  readonly essence: EssencePool;
  readonly rulesDigest: RulesDigest;
  /** The product token that X-Robots-Tag may name. */
  readonly robotsAgent: string;
  readonly now: () => number;
}

/**
 * CRAWL-11.2 chain 3: extracts the links and the summary of a document by Essence. A document whose digest is unchanged is not
 * summarized again (G-108, third line).
 */
export class ExtractProcessor implements Processor {
  readonly name = 'Essence';

  constructor(readonly options: ExtractOptions) {}

  async process(uri: CrawlUri): Promise<ProcessResult> {
    if (uri.disposition === 'kept' || uri.disposition === 'unchanged') return 'proceed';
    const { essence, rulesDigest, now } = this.options;
    const fetched = uri.fetched!;
    const known = uri.document;
    if (known !== undefined && known.updateTime > 0 && known.rulesDigest === rulesDigest(known)) {
      if (createHash('md5').update(fetched.body).digest('hex') === known.md5) {
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
        body: fetched.body,
        ...(fetched.contentType === undefined ? {} : { contentType: fetched.contentType }),
        ...(fetched.charset === undefined ? {} : { charset: fetched.charset }),
        lastModificationTime: fetched.lastModified,
        updateTime: uri.updateTime,
      },
      uri.signal,
    );
    const { exploded = [] } = uri.essence;
    uri.disposition = uri.essence.rejected && exploded.length === 0 ? 'rejected' : 'summarized';
    if (uri.disposition === 'rejected')
      uri.reason = uri.essence.warnings[0] ?? `type ${uri.essence.type} is not indexed`;
    if (uri.essence.malformedLinks !== undefined) reportMalformed(uri, uri.essence.malformedLinks);
    uri.outLinks = withLoginOf(uri.url, uri.essence.links);
    applyRobotsTag(uri, this.options.robotsAgent);
    return 'proceed';
  }
}

/** CRAWL-13.6: the header X-Robots-Tag has the effect of a META tag of the page, unless the policy is `ignore`. */
function applyRobotsTag(uri: CrawlUri, agent: string): void {
  const value = uri.fetched?.headers['x-robots-tag'];
  if (value === undefined || uri.settings.robotsPolicy === 'ignore') return;
  const { noindex, nofollow, unavailableAfter } = parseXRobotsTag([value], agent);
  if (nofollow) uri.outLinks = [];
  if (!noindex && (unavailableAfter === undefined || unavailableAfter > Date.now() / 1000)) return;
  uri.disposition = 'rejected';
  uri.reason = `X-Robots-Tag: ${value}`;
}

/** CRAWL-16.4: publishes the links that could not be made absolute. */
function reportMalformed({ redactedUrl: source }: CrawlUri, links: readonly string[]): void {
  for (const url of links) {
    const message = url.length > MAX_URL_LENGTH ? `longer than ${MAX_URL_LENGTH} characters` : 'not a URL';
    uriErrorChannel.publish({ url, source, message } satisfies UriErrorEvent);
  }
}
