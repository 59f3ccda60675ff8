import { publishDebug } from '../../clients/fetch/index.js';
import { appendHop, hostOf } from '../../protocols/urls/index.js';
import type { CrawlUri, OutLink } from '../crawler/crawl-uri.js';
import type { DecideSequence, DecideSubject } from '../crawler/decide/index.js';
import type { Candidate } from '../crawler/frontier/index.js';
import type { Scope } from '../crawler/scope.js';
import { PatternBudget } from '../crawler/traps.js';
import { isListed } from './enumerate/index.js';
import type { Refusal, RootLimits } from './root-limits.js';

/** Resolves host names before a synchronous decision. */
export interface ScopeAddresses {
  resolve(hostnames: Iterable<string>): Promise<void>;
  knows(hostname: string): boolean;
}

/**
 * The Gatherer's scope: the RootNode of a URI decides about its links (G-26 to G-38), together with the rules of the crawl's order, if
 * there are any (CRAWL-10.2).
 */
export class RootNodeScope implements Scope {
  readonly #patterns = new PatternBudget();

  constructor(
    readonly roots: readonly RootLimits[],
    readonly addresses: ScopeAddresses,
    readonly rules?: DecideSequence,
    /** G-174: whether a link at `from` may lead to `to`. */
    readonly mayReach: (from: string, to: string) => boolean = () => true,
  ) {}

  async prepare(uri: CrawlUri, links: readonly OutLink[]): Promise<void> {
    const unresolved = new Set<string>();
    const limits = this.roots[uri.entry.uri.root];
    if (limits === undefined) return;
    for (const link of links) {
      const hostname = hostOf(link.url);
      if (hostname === '' || this.addresses.knows(hostname) || unresolved.has(hostname)) continue;
      // A name is resolved only if the other limits accept the link.
      if (!limits.needsAddress(hostname)) continue;
      if (limits.refusal(new URL(link.url), depthOf(uri, link)) === undefined) unresolved.add(hostname);
    }
    if (unresolved.size > 0) await this.addresses.resolve(unresolved);
  }

  candidate(uri: CrawlUri, link: OutLink): Candidate | undefined {
    const { root, pathFromSeed, sourceTag } = uri.entry.uri;
    const limits = this.roots[root];
    if (limits === undefined) return undefined; // a LeafNode has no links (G-26)
    const depth = depthOf(uri, link);
    const url = new URL(link.url);
    const hops = appendHop(pathFromSeed, link.hop);
    const refusal = limits.refusal(url, depth) ?? limits.hostRefusal(url, depth);
    if (refusal !== undefined) return this.#refuse(uri, link, limits, refusal);
    if (!this.mayReach(uri.url, link.url)) return this.#refuse(uri, link, limits, 'private');
    if (this.rules?.accepts(subjectOf(uri, link, hops)) === false)
      return this.#refuse(uri, link, limits, 'scope');
    return {
      url: link.url,
      via: uri.url,
      pathFromSeed: hops,
      root,
      depth,
      // G-172: a listed URL is a document whose links are not followed.
      isLeaf: link.hop === 'L' && isListed(limits.rules.root),
      forceFetch: false,
      sourceTag,
      // Called when the link is known to be new; other links may have reached the limits meanwhile.
      admit: () => {
        const { maxUrisPerPattern } = uri.settings;
        const trap = this.#patterns.admit(link.url, maxUrisPerPattern) === undefined ? undefined : 'pattern';
        const refusal = limits.refusal(url, depth) ?? limits.hostRefusal(url, depth) ?? trap;
        if (refusal === undefined) limits.countUrl(url);
        else this.#refuse(uri, link, limits, refusal);
        return refusal === undefined;
      },
    };
  }

  /** Counts a refused link (G-148). Logs a redirect to a local file or a private host, which may be an attack (G-174). */
  #refuse(uri: CrawlUri, { url, hop }: OutLink, limits: RootLimits, refusal: Refusal): undefined {
    limits.countRefusal(refusal);
    publishDebug(40, 5, () => `${url}, found in ${uri.url}: refused: ${refusal}`);
    if (hop === 'R' && (refusal === 'private' || !this.mayReach(uri.url, url)))
      uri.reason = `the redirect to ${url} is not followed: redirects of public hosts must not lead to private addresses or files (G-174)`;
    return undefined;
  }
}

function subjectOf(uri: CrawlUri, link: OutLink, hops: string): DecideSubject {
  const { sourceTag } = uri.entry.uri;
  return { uri: link.url, via: uri.url, hops, seed: false, ...(sourceTag === '' ? {} : { sourceTag }) };
}

/** G-60: a redirect has the depth of its source; every other link is one step deeper. */
function depthOf(uri: CrawlUri, link: OutLink): number {
  return uri.entry.uri.depth + (link.hop === 'R' ? 0 : 1);
}
