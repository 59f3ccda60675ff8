import { parseRobotsMeta } from '../../../protocols/robots/index.js';
import { UrlResolver } from '../../../protocols/urls/index.js';
import type { EssenceLink } from '../model.js';
import type { TagAttributes } from './reader.js';

/** G-60: what can be enumerated. The rest (javascript:, mailto:, data:, ...) is not a place to go. */
const ENUMERABLE = /^(?:https?|ftp|gopher|file|news|nntp):/;

/** Relations of LINK that lead to a page. */
const LINK_RELATIONS = new Set(['next', 'prev', 'alternate']);

/** A name up to the end of its path's first part. */
const PLAIN_NAME = /^\w[\w.-]*(?:[/?]|$)/;
/** Directories above the page's that have a resolver of their own. */
const MAX_UPS = 16;
const MAX_SHORT = 1000;

/** Collects a page's links for enumeration (G-60) and resolves its references (E-99), each distinct one once. */
export class LinkCollector {
  readonly #links = new Map<string, 'L' | 'E'>();
  readonly #resolved = new Map<string, string | undefined>();
  readonly #mayNameFiles: boolean;
  readonly #maxLinks: number;
  #resolver: UrlResolver;
  /** Resolvers of the directories above, by how far. */
  readonly #above: (UrlResolver | undefined)[] = [];
  #based = false;
  noindex = false;
  nofollow = false;
  /** Links left out because the page has too many (G-173). */
  dropped = 0;

  constructor(url: string, maxLinks: number) {
    this.#resolver = new UrlResolver(url);
    this.#maxLinks = maxLinks;
    // A page from the network must not send the Gatherer to the files of the machine it runs on.
    this.#mayNameFiles = url.startsWith('file:');
  }

  /** Every link found, in order of appearance; none when the page says nofollow (G-63). */
  get links(): readonly EssenceLink[] {
    return this.nofollow ? [] : Array.from(this.#links, ([url, hop]) => ({ url, hop }));
  }

  /** Looks at a tag for links and instructions to robots. */
  open(tag: string, attributes: TagAttributes): void {
    switch (tag) {
      case 'a':
      case 'area':
        this.#add(attributes.href, 'L');
        break;
      case 'frame':
      case 'iframe':
        this.#add(attributes.src, 'E');
        break;
      case 'link':
        if (
          attributes.rel
            ?.toLowerCase()
            .split(/\s+/)
            .some((relation) => LINK_RELATIONS.has(relation)) === true
        ) {
          this.#add(attributes.href, 'L');
        }
        break;
      case 'base':
        this.#base(attributes.href);
        break;
      case 'meta':
        this.#meta(attributes);
        break;
    }
  }

  /** Absolute canonical form; undefined for what is no URL of ours and for a bare fragment, which names this very page. */
  resolve(reference: string): string | undefined {
    // The place in the page says nothing: many references differ in it only.
    const hash = reference.indexOf('#');
    const document = hash < 0 ? reference : reference.slice(0, hash);
    if (document === '') return undefined;
    let url = this.#resolved.get(document);
    if (url === undefined && !this.#resolved.has(document)) {
      const trimmed = document.trim();
      url = trimmed === '' ? undefined : this.#resolveAny(trimmed);
      this.#resolved.set(document, url);
    }
    return url;
  }

  /** `../a/b.html` is `a/b.html` of the directory above, for which the resolver has a short cut. */
  #resolveAny(reference: string): string | undefined {
    let ups = 0;
    while (ups < MAX_UPS && reference.startsWith('../', ups * 3)) ups++;
    const name = ups === 0 ? '' : reference.slice(ups * 3);
    // Only a name that begins no scheme means the same there; what is long may be too long as it is written.
    if (!PLAIN_NAME.test(name) || name.length > MAX_SHORT) return this.#resolver.resolve(reference);
    let above = this.#above[ups];
    if (above === undefined) {
      const directory = this.#resolver.resolve('../'.repeat(ups));
      if (directory === undefined) return this.#resolver.resolve(reference);
      above = new UrlResolver(directory);
      this.#above[ups] = above;
    }
    return above.resolve(name);
  }

  #add(reference: string | undefined, hop: 'L' | 'E'): void {
    if (reference === undefined) return;
    const url = this.resolve(reference);
    if (url === undefined || this.#links.has(url) || !ENUMERABLE.test(url)) return;
    if (url.startsWith('file:') && !this.#mayNameFiles) return;
    if (this.#links.size >= this.#maxLinks) this.dropped++;
    else this.#links.set(url, hop);
  }

  /** The first BASE counts. */
  #base(reference: string | undefined): void {
    if (this.#based || reference === undefined) return;
    const url = this.#resolver.resolve(reference.trim());
    if (url === undefined || !ENUMERABLE.test(url)) return;
    this.#based = true;
    this.#resolver = new UrlResolver(url);
    this.#resolved.clear();
    this.#above.length = 0;
  }

  #meta(attributes: TagAttributes): void {
    const { content } = attributes;
    if (content === undefined) return;
    if (attributes.name?.trim().toLowerCase() === 'robots') {
      const robots = parseRobotsMeta(content);
      this.noindex ||= robots.noindex;
      this.nofollow ||= robots.nofollow;
    } else if (attributes['http-equiv']?.trim().toLowerCase() === 'refresh') {
      const found = /^[\s\d.]*[;,\s]\s*(?:url\s*=\s*)?(["']?)(.+)$/is.exec(content.slice(0, 4096));
      const target = found?.[1] ? found[2]!.split(found[1])[0] : found?.[2];
      this.#add(target, 'L');
    }
  }
}
