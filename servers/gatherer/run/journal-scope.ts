// URIs that come from a journal or from an operator, and not from a link: which RootNode they belong to, and
// whether they are in scope.
import { hopCount, shownHops, withoutUserInfo } from '../../../protocols/urls/index.js';
import type { DecideSequence } from '../../crawler/decide/decision.js';
import type { Candidate } from '../../crawler/frontier/contract.js';
import type { JournalUri } from '../../crawler/journal/journal-line.js';
import type { HostAddresses } from '../../crawler/servers/host-addresses.js';
import { isListed } from '../enumerate/listed.js';
import type { RootLimits } from '../scope/root-limits.js';
import type { RunNodes } from './run-state.js';

export interface JournalScopeOptions {
  readonly nodes: RunNodes;
  readonly roots: readonly RootLimits[];
  readonly addresses: Pick<HostAddresses, 'resolve'>;
  /** The rules of the order's scope; undefined if it has none. */
  readonly rules: DecideSequence | undefined;
}

/**
 * Assigns URIs to RootNodes, which a journal does not record: to the first that accepts it, those of its host
 * first.
 */
export class JournalScope {
  readonly #options: JournalScopeOptions;
  readonly #leaves: ReadonlySet<string>;
  /** May be replaced, e.g. when seeds are added. */
  rules: DecideSequence | undefined;

  constructor(options: JournalScopeOptions) {
    this.#options = options;

    this.rules = options.rules;
    this.#leaves = new Set(options.nodes.leaves.map(({ url }) => url));
  }

  /** CRAWL-17.1.2: whether the scope accepts the URI now. */
  async accepts(uri: JournalUri): Promise<boolean> {
    await this.resolve([uri]);
    return this.candidate(uri) !== undefined;
  }

  /** Resolves the names of hosts, which {@link candidate} needs. */
  async resolve(uris: readonly JournalUri[]): Promise<void> {
    const names = uris.flatMap(({ url }) => (URL.canParse(url) ? new URL(url).hostname : ''));
    await this.#options.addresses.resolve(names.filter((name) => name !== ''));
  }

  /** Returns the candidate of a URI; undefined if it is out of scope. */
  candidate(named: JournalUri): Candidate | undefined {
    const uri = withoutLogin(named);
    const { url, pathFromSeed, via } = uri;
    const { roots } = this.#options;
    if (!URL.canParse(url)) return undefined;
    if (this.#leaves.has(url)) return { ...commonOf(uri), root: roots.length, depth: 0, isLeaf: true };
    const parsed = new URL(url);
    const depth = depthOf(pathFromSeed);
    const root = this.#rootOf(parsed, depth);
    if (root === undefined || this.#refuses(url, pathFromSeed, via)) return undefined;
    const limits = roots[root]!;
    return {
      ...commonOf(uri),
      root,
      depth,
      isLeaf: pathFromSeed.endsWith('L') && isListed(limits.rules.root),
      admit: async () => {
        const refusalNow = () => limits.refusal(parsed, depth) ?? limits.hostRefusal(parsed, depth);
        return (await limits.admit(parsed, refusalNow)) === undefined;
      },
    };
  }

  /**
   * Returns the candidate of a URI that is requested whether or not it is in scope. It counts for the RootNode
   * that would accept it, else for the first one; without a RootNode it is a document whose links are not
   * followed.
   */
  unchecked(named: JournalUri): Candidate | undefined {
    const uri = withoutLogin(named);
    const { roots } = this.#options;
    if (!URL.canParse(uri.url)) return undefined;
    const depth = depthOf(uri.pathFromSeed);
    const root = this.#rootOf(new URL(uri.url), depth) ?? 0;
    const isLeaf = this.#leaves.has(uri.url) || roots.length === 0;
    return { ...commonOf(uri), root: isLeaf ? roots.length : root, depth, isLeaf };
  }

  #rootOf(url: URL, depth: number): number | undefined {
    const { roots } = this.#options;
    const accepting = [...roots.keys()].filter((index) => {
      const limits = roots[index]!;
      return limits.refusal(url, depth) === undefined && limits.hostRefusal(url, depth) === undefined;
    });
    return accepting.find((index) => new URL(roots[index]!.rules.root.url).host === url.host) ?? accepting[0];
  }

  #refuses(uri: string, hops: string, via: string): boolean {
    const isSeed = hops === '';
    return this.rules?.accepts({ uri, hops, seed: isSeed, ...(isSeed ? {} : { via }) }) === false;
  }
}

/** G-81: journals of earlier versions, and other crawlers, name logins that pages had. */
function withoutLogin(uri: JournalUri): JournalUri {
  return { ...uri, url: withoutUserInfo(uri.url), via: withoutUserInfo(uri.via) };
}

function commonOf({ url, pathFromSeed, via }: JournalUri) {
  return { url, via, pathFromSeed, forceFetch: false, sourceTag: '' };
}

/** G-60: redirects do not count. */
function depthOf(pathFromSeed: string): number {
  const redirects = [...shownHops(pathFromSeed).letters].filter((hop) => hop === 'R').length;
  return hopCount(pathFromSeed) - redirects;
}
