import { publishDebug } from '../../../clients/fetch/index.js';
import { appendHop, hostOf, shownHops, withoutUserInfo } from '../../../protocols/urls/index.js';
import { NETWORK } from '../../../storage/index.js';
import type { CrawlUri, OutLink } from '../../crawler/crawl-uri.js';
import type { DecideSequence, DecideSubject } from '../../crawler/decide/decision.js';
import { isPathological, isTransclusion } from '../../crawler/decide/predicates.js';
import { announce } from '../../crawler/events.js';
import type { Candidate } from '../../crawler/frontier/contract.js';
import type { Scope } from '../../crawler/scope.js';
import { PatternBudget } from '../../crawler/traps.js';
import { isListed } from '../enumerate/listed.js';
import type { NetworkReach } from './reach.js';
import type { Refusal, RootLimits } from './root-limits.js';

/** Resolves host names before a synchronous decision. */
export interface ScopeAddresses {
  resolve(hostnames: Iterable<string>): Promise<void>;
  knows(hostname: string): boolean;
}

/**
 * The Gatherer's scope: the RootNode of a URI decides about its links (G-26 to G-38), together with the rules
 * of the crawl's order, if there are any (CRAWL-10.2).
 */
export class RootNodeScope implements Scope {
  readonly #roots: readonly RootLimits[];
  readonly #addresses: ScopeAddresses;
  /** G-174: default: every link may lead to every address. */
  readonly #reach: Pick<NetworkReach, 'ofLink'> | undefined;
  readonly #patterns = new PatternBudget();

  constructor(
    roots: readonly RootLimits[],
    addresses: ScopeAddresses,
    /** May be replaced, e.g. when seeds are added. */
    public rules?: DecideSequence,
    reach?: Pick<NetworkReach, 'ofLink'>,
  ) {
    this.#roots = roots;
    this.#addresses = addresses;
    this.#reach = reach;
  }

  async prepare(uri: CrawlUri, links: readonly OutLink[]): Promise<void> {
    const unresolved = new Set<string>();
    const limits = this.#roots[uri.entry.uri.root];
    if (limits === undefined) return;
    for (const link of links) {
      const hostname = hostOf(link.url);
      if (hostname === '' || this.#addresses.knows(hostname) || unresolved.has(hostname)) continue;
      // A name is resolved only if the other limits accept the link.
      if (!limits.needsAddress(hostname)) continue;
      if (limits.refusal(new URL(link.url), depthOf(uri, link)) === undefined) unresolved.add(hostname);
    }
    if (unresolved.size > 0) await this.#addresses.resolve(unresolved);
  }

  candidate(uri: CrawlUri, link: OutLink): Candidate | undefined {
    const { root, pathFromSeed, sourceTag } = uri.entry.uri;
    const limits = this.#roots[root];
    if (limits === undefined) return undefined; // a LeafNode has no links (G-26)
    const depth = depthOf(uri, link);
    const url = new URL(link.url);
    const hops = appendHop(pathFromSeed, link.hop);
    if (isWildGuess(uri, link, hops)) return this.#refuse(uri, link, limits, 'speculative');
    const isPart = isPartOfPage(uri, link, hops);
    const isEmbedded = uri.settings.embeds !== 'frames' && (link.hop === 'E' || link.hop === 'X');
    const refusalNow = (): Refusal | undefined =>
      isPart ? undefined : (limits.refusal(url, depth, isEmbedded) ?? limits.hostRefusal(url, depth));
    const refusal = refusalNow();
    if (refusal !== undefined) return this.#refuse(uri, link, limits, refusal);
    const network = this.#networkOf(uri, link.url);
    if (network === undefined) return this.#refuse(uri, link, limits, 'private');
    if (this.rules === undefined && repeatsPath(uri, link, hops))
      return this.#refuse(uri, link, limits, 'repeated-path');
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
      forceFetch: link.again === true,
      sourceTag,
      network,
      // Called when the link is known to be new; other links may have reached the limits meanwhile.
      admit: async () => {
        const { maxUrisPerPattern } = uri.settings;
        const trap = this.#patterns.admit(link.url, maxUrisPerPattern) === undefined ? undefined : 'pattern';
        const refusal = isPart ? trap : await limits.admit(url, () => refusalNow() ?? trap);
        if (refusal !== undefined) this.#refuse(uri, link, limits, refusal);
        return refusal === undefined;
      },
    };
  }

  dropped(uri: CrawlUri, count: number): void {
    this.#roots[uri.entry.uri.root]?.countRefusal('outlinks', count);
  }

  unread(uri: CrawlUri): void {
    this.#roots[uri.entry.uri.root]?.countRefusal('unread');
  }

  withoutLogin(uri: CrawlUri, count: number): void {
    this.#roots[uri.entry.uri.root]?.countRefusal('login', count);
    publishDebug(40, 5, () => `${uri.url}: the logins of ${count} links are not used (G-81)`);
  }

  leftOut(uri: CrawlUri, count: number): void {
    this.#roots[uri.entry.uri.root]?.countRefusal('hidden', count);
  }

  #networkOf(uri: CrawlUri, url: string): number | undefined {
    return this.#reach === undefined ? NETWORK.unknown : this.#reach.ofLink(uri, url);
  }

  /**
   * Counts a refused link (G-148). Logs a redirect to a local file or a private host, which may be an attack
   * (G-174).
   */
  #refuse(uri: CrawlUri, { url, hop }: OutLink, limits: RootLimits, refusal: Refusal): undefined {
    limits.countRefusal(refusal);
    publishDebug(40, 5, () => `${url}, found in ${uri.url}: refused: ${refusal}`);
    if (hop === 'R' && (refusal === 'private' || this.#networkOf(uri, url) === undefined))
      uri.reason = `the redirect to ${url} is not followed: redirects of public hosts must not lead to private addresses or files (G-174)`;
    if (hop === 'R' && SEED_REDIRECT.test(uri.entry.uri.pathFromSeed)) explainSeedRedirect(uri, url, refusal);
    return undefined;
  }
}

/** The hops of a seed, and of the target of its redirects. */
const SEED_REDIRECT = /^R*$/;

/**
 * A seed that redirects to a URL that its RootNode does not allow yields nothing; a warning says why, and which
 * setting to change.
 */
function explainSeedRedirect(uri: CrawlUri, target: string, refusal: Refusal): void {
  const remedy = SEED_REMEDIES[refusal];
  if (remedy === undefined) return;
  uri.reason = `the RootNode redirects to ${withoutUserInfo(target)}, which it does not allow: ${remedy}`;
  announce(`${uri.redactedUrl}: ${uri.reason}`);
}

const SEED_REMEDIES: Readonly<Partial<Record<Refusal, string>>> = {
  'host-max': 'name that URL as RootNode, or allow one more host, e.g. Host=2',
  'host-filter': 'name that URL as RootNode, or change the host filter',
  'url-filter': 'name that URL as RootNode, or change the URL filter',
  access: 'add its access method to Access=',
  scope: 'add its prefix to the scope of the crawl order',
};

/**
 * CRAWL-10.2.2, G-173: without rules of an order, which decide by themselves, a path that repeats itself is
 * taken for a trap.
 */
function repeatsPath(uri: CrawlUri, link: OutLink, hops: string): boolean {
  const { maxPathRepetitions } = uri.settings;
  return maxPathRepetitions > 0 && isPathological(maxPathRepetitions)(subjectOf(uri, link, hops));
}

function subjectOf(uri: CrawlUri, link: OutLink, hops: string): DecideSubject {
  const { sourceTag } = uri.entry.uri;
  return { uri: link.url, via: uri.url, hops, seed: false, ...(sourceTag === '' ? {} : { sourceTag }) };
}

/**
 * CRAWL-10.2.3, with `embeds: any`: whether the link leads, in a few steps, to a document that the page shows,
 * on any host. A redirect of the page itself does not.
 */
function isPartOfPage({ settings }: CrawlUri, { url, hop }: OutLink, hops: string): boolean {
  const { embeds, maxTransHops, maxSpeculativeHops } = settings;
  if (embeds !== 'any' || (hop !== 'E' && hop !== 'X' && hop !== 'R') || !/^https?:/.test(url)) return false;
  const letters = lettersAfterLink(hops);
  if (!/[EX]/.test(letters)) return false;
  return isTransclusion(maxTransHops, maxSpeculativeHops)({ uri: url, hops, seed: false });
}

/** CRAWL-10.2.3: whether the link is a guess, and more guesses led to it than are allowed. */
function isWildGuess({ settings }: CrawlUri, { hop }: OutLink, hops: string): boolean {
  if (hop !== 'X') return false;
  return [...lettersAfterLink(hops)].filter((letter) => letter === 'X').length > settings.maxSpeculativeHops;
}

/** The letters of the hops after the last page. */
function lettersAfterLink(hops: string): string {
  return /[^LMS]*$/.exec(shownHops(hops).letters)?.[0] ?? '';
}

/**
 * G-60: a redirect has the depth of its source, and so has what a page embeds if it is a part of it; every
 * other link is one step deeper.
 */
function depthOf(uri: CrawlUri, link: OutLink): number {
  const isSame = link.hop === 'R' || (link.hop === 'E' && uri.settings.embeds !== 'frames');
  return uri.entry.uri.depth + (isSame ? 0 : 1);
}
