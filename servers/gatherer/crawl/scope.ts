import type { CrawlUri, OutLink } from './crawl-uri.js';
import type { HostAddresses } from './host-addresses.js';
import type { RootLimits } from './root-limits.js';

/** A link that the scope lets in, with what the frontier needs to know of it. */
export interface Candidate {
  readonly url: string;
  readonly pathFromSeed: string;
  readonly root: number;
  readonly depth: number;
}

/**
 * Which discovered links may be crawled (CRAWL-1.3). Here: those that their RootNode's limits admit. Deciding takes two
 * steps, because names may have to be resolved: {@link prepare} waits, {@link admit} does not.
 */
export interface Scope {
  /** Makes the scope ready to decide about the links of this document. */
  prepare(uri: CrawlUri): Promise<void>;
  /** Takes the link in and counts it, or says no. Asked only for links that were not seen before. */
  admit(uri: CrawlUri, link: OutLink): Candidate | undefined;
}

/** The Gatherer's scope: the RootNode from which a URI descends decides about its links (G-26 to G-38). */
export class RootNodeScope implements Scope {
  constructor(
    readonly roots: readonly RootLimits[],
    readonly addresses: HostAddresses,
  ) {}

  async prepare(uri: CrawlUri): Promise<void> {
    const unknown = new Set<string>();
    const limits = this.roots[uri.entry.uri.root];
    if (limits === undefined) return;
    for (const link of uri.outLinks) {
      const hostname = hostnameOf(link.url);
      if (hostname === '' || this.addresses.knows(hostname) || unknown.has(hostname)) continue;
      // A name is worth a look-up only when everything else lets the link in.
      if (!limits.needsAddress(hostname)) continue;
      if (limits.refusal(new URL(link.url), depthOf(uri, link)) === undefined) unknown.add(hostname);
    }
    if (unknown.size > 0) await this.addresses.resolve(unknown);
  }

  admit(uri: CrawlUri, link: OutLink): Candidate | undefined {
    const { root, pathFromSeed } = uri.entry.uri;
    const limits = this.roots[root];
    if (limits === undefined) return undefined; // a LeafNode has no links (G-26)
    const depth = depthOf(uri, link);
    const url = new URL(link.url);
    const refusal = limits.refusal(url, depth) ?? limits.hostRefusal(url, depth);
    if (refusal !== undefined) {
      limits.refuse(refusal);
      return undefined;
    }
    limits.take(url);
    return { url: link.url, pathFromSeed: pathFromSeed + link.hop, root, depth };
  }
}

/** G-60: a redirect counts as the target itself; every other link is one step away. */
function depthOf(uri: CrawlUri, link: OutLink): number {
  return uri.entry.uri.depth + (link.hop === 'R' ? 0 : 1);
}

/** The host of a canonical URL, without the cost of parsing all of it. */
function hostnameOf(url: string): string {
  const match = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)/.exec(url);
  return match?.[1] ?? '';
}
